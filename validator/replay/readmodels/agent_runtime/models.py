"""The thirteen read models by name: who builds each, and what it may be limited to."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from validator.replay.readmodels.agent_runtime import subagents, task_board
from validator.replay.readmodels.agent_runtime.artifacts import Artifacts
from validator.replay.readmodels.agent_runtime.channels import Channels
from validator.replay.readmodels.agent_runtime.context import Context, History
from validator.replay.readmodels.agent_runtime.environment import Environment, Processes
from validator.replay.readmodels.agent_runtime.evidence import Evidence, Outputs
from validator.replay.readmodels.agent_runtime.facts import Collector, Fact, Facts
from validator.replay.readmodels.agent_runtime.hooks import Hooks
from validator.replay.readmodels.agent_runtime.incidents import Incidents
from validator.replay.readmodels.agent_runtime.permissions import Actions, Permissions
from validator.replay.readmodels.agent_runtime.queue import Queues
from validator.replay.readmodels.agent_runtime.routing import Routing
from validator.replay.readmodels.agent_runtime.scope import Scope
from validator.replay.readmodels.agent_runtime.session import Session, Threads
from validator.replay.readmodels.agent_runtime.subagents import Jobs, Subagents
from validator.replay.readmodels.agent_runtime.tasks import Tasks
from validator.replay.readmodels.agent_runtime.tools import Calls, Catalogues
from validator.replay.readmodels.agent_runtime.turns import Turns

BOTH = ("session", "thread")
ANYWHERE = (*BOTH, "turn")
ROLLED_BACK = "history.rollback.completed"
VALUED = ("runtime_id", "trace_id", "span_id", "telemetry")
COLLECTORS: tuple[type[Collector], ...] = (
    Turns,
    Calls,
    Catalogues,
    Hooks,
    Actions,
    Permissions,
    Processes,
    Environment,
    Queues,
    Context,
    History,
    Artifacts,
    Evidence,
    Outputs,
    Routing,
    Subagents,
    Jobs,
    Channels,
    Tasks,
    Incidents,
    Session,
    Threads,
)


Build = Callable[[Facts, Scope], dict[str, Any] | None]
ANY = "*"


@dataclass(frozen=True, slots=True)
class Part:
    """Fields of a read model, and everything that can change them."""

    build: Build
    on: tuple[str, ...] = ()
    """Event types, or patterns of them."""
    moves: tuple[str, ...] = ()
    """Tables whose moves change it."""
    carries: tuple[str, ...] = ()
    """Ids and side objects that change it, whatever event carries them."""

    def fed_by(self, facts: Facts, fact: Fact) -> bool:
        """True when an event can have changed the fields."""
        return (
            any(move.machine in self.moves for move in fact.step.moves)
            or any(facts.has(fact, name) for name in self.carries)
            or _matches(fact.type, self.on)
        )


@functools.cache
def _matches(event: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(event, pattern) for pattern in patterns)


@dataclass(frozen=True, slots=True)
class Model:
    """One read model: its parts, and whether it can speak of a session, a thread or a turn."""

    limits: tuple[str, ...]
    parts: tuple[Part, ...]
    exists: Callable[[Facts, Scope], bool] = lambda facts, scope: True

    def build(self, facts: Facts, scope: Scope) -> dict[str, Any] | None:
        """The document without its head; None when no event fed it."""
        if not self.exists(facts, scope):
            return None
        parts = [part.build(facts, scope) for part in self.parts]
        return None if None in parts else {name: value for part in parts for name, value in (part or {}).items()}


def _by(kind: type[Any], method: str = "build") -> Build:
    return lambda facts, scope: getattr(facts.of(kind), method)(scope)


SESSION_PARTS = (
    Part(
        _by(Session, "shell"), ("session.*", "history.*", "context.compaction.completed", "turn.submitted"), (), VALUED
    ),
    Part(_by(Session, "threads"), (ANY,)),
    Part(_by(Session, "recent"), ("turn.*", "history.*"), ("turn",), ("step_id",)),
    Part(_by(Session, "work"), (), ("task", "subagent")),
    Part(_by(Session, "results"), ("evidence.changed", "artifact.changed", "output.*")),
)
THREAD_PARTS = (
    Part(_by(Threads, "head"), ("thread.*", "turn.*", ROLLED_BACK), ("thread", "turn")),
    Part(_by(Threads, "turns"), ("turn.*", ROLLED_BACK), ("turn",), ("step_id",)),
    Part(_by(Threads, "waiting"), ("action.*", "queue.changed", "turn.submitted"), ("action",)),
    Part(
        _by(Threads, "worries"),
        ("runtime.*", "run.status", "quota.blocked", "context.resolved", "task.lost", ROLLED_BACK),
        ("turn", "task", "attempt", "tool_call", "process"),
    ),
    Part(_by(Threads, "tool_calls"), (ROLLED_BACK,), ("tool_call", "turn"), ("tool_call_id",)),
    Part(_by(Threads, "processes"), (ROLLED_BACK,), ("process", "turn"), ("process_id",)),
    Part(_by(Threads, "tasks"), ("artifact.changed",), ("task", "attempt"), ("task_id",)),
    Part(
        _by(Threads, "results"),
        ("context.compaction.*", "artifact.changed", "evidence.changed", "turn.submitted"),
        ("subagent", "job", "compaction"),
        ("job_id", "channel_id"),
    ),
)
TASK_PART = Part(task_board.build, ("artifact.changed",), ("task", "attempt"), ("task_id",))
QUEUE_PART = Part(
    _by(Queues), ("queue.changed", "turn.submitted", "history.reconstructed", "snapshot.repaired"), ("thread",)
)
PERMISSION_PART = Part(
    _by(Permissions),
    ("permission.*", "sandbox.*", "hook.*", "policy.changed", "tool.catalog.resolved", "action.*"),
    ("action", "hook"),
)
ENVIRONMENT_PART = Part(
    _by(Environment), ("sandbox.applied", "session.*"), ("process",), ("execution_environment", "process_id")
)
ROUTING_PART = Part(
    _by(Routing),
    ("task.profile.resolved", "routing.*", "cost.*", "limit.changed", "rate_limit.hit", "quota.*"),
    (),
    ("cost_state",),
)

MODELS: dict[str, Model] = {
    "session_snapshot": Model(("session",), SESSION_PARTS),
    "thread_read_model": Model(("thread",), THREAD_PARTS, lambda facts, scope: facts.of(Threads).exists(scope)),
    "tool_inventory_snapshot": Model(ANYWHERE, (Part(_by(Catalogues), ("tool.catalog.resolved",)),)),
    "queue_snapshot": Model(("thread",), (QUEUE_PART,)),
    "task_snapshot": Model(BOTH, (TASK_PART,)),
    "context_boundary_snapshot": Model(("thread",), (Part(_by(Context), ("context.*",), ("compaction",)),)),
    "artifact_checkpoint_summary": Model(BOTH, (Part(_by(Artifacts), ("artifact.changed",)),)),
    "evidence_summary": Model(BOTH, (Part(_by(Evidence), ("evidence.changed",), (), ("trace_id",)),)),
    "permission_sandbox_summary": Model(BOTH, (PERMISSION_PART,)),
    "execution_environment_snapshot": Model(ANYWHERE, (ENVIRONMENT_PART,)),
    "routing_limit_summary": Model(ANYWHERE, (ROUTING_PART,)),
    "subagent_job_summary": Model(
        BOTH, (Part(subagents.build, (), ("subagent", "job", "job_item"), ("subagent_id", "job_id")),)
    ),
    "channel_summary": Model(("session",), (Part(_by(Channels), (), ("channel",), ("channel_id",)),)),
}


def limited(model: str, thread: str | None, turn: str | None) -> Scope | None:
    """The scope a model is asked for; None when the model cannot have it."""
    limits = MODELS[model].limits
    if turn is not None and "turn" in limits:
        return Scope(thread, turn)
    if thread is not None and "thread" in limits:
        return Scope(thread)
    return Scope() if "session" in limits else None
