"""The thirteen read models: who builds each."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from validator.records import dataclass
from validator.replay.readmodels.agent_runtime import subagents, task_board
from validator.replay.readmodels.agent_runtime.artifacts import Artifacts
from validator.replay.readmodels.agent_runtime.channels import Channels
from validator.replay.readmodels.agent_runtime.context import Context, History
from validator.replay.readmodels.agent_runtime.environment import Environment, Processes
from validator.replay.readmodels.agent_runtime.evidence import Evidence, Outputs
from validator.replay.readmodels.agent_runtime.facts import Collector, Facts
from validator.replay.readmodels.agent_runtime.hooks import Hooks
from validator.replay.readmodels.agent_runtime.incidents import Incidents
from validator.replay.readmodels.agent_runtime.names import LIMITS
from validator.replay.readmodels.agent_runtime.permissions import Actions, Permissions
from validator.replay.readmodels.agent_runtime.queue import Queues
from validator.replay.readmodels.agent_runtime.records import Later
from validator.replay.readmodels.agent_runtime.routing import Routing
from validator.replay.readmodels.agent_runtime.scope import Scope
from validator.replay.readmodels.agent_runtime.session import Session, Threads
from validator.replay.readmodels.agent_runtime.subagents import Jobs, Subagents
from validator.replay.readmodels.agent_runtime.tasks import Tasks
from validator.replay.readmodels.agent_runtime.tools import Calls, Catalogues
from validator.replay.readmodels.agent_runtime.turns import Turns

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


@dataclass(frozen=True, slots=True)
class Model:
    """One read model: its parts, and whether it can speak of a session, a thread or a turn."""

    limits: tuple[str, ...]
    parts: tuple[Build, ...]
    exists: Callable[[Facts, Scope], bool]

    def build(self, facts: Facts, scope: Scope) -> dict[str, Any] | None:
        """The document without its head; None when no event fed it."""
        told = self.told(facts, scope)
        return told and {name: value.make() if type(value) is Later else value for name, value in told.items()}

    def told(self, facts: Facts, scope: Scope) -> dict[str, Any] | None:
        """The same, with what takes longer as `Later`."""
        if not self.exists(facts, scope):
            return None
        parts = [part(facts, scope) for part in self.parts]
        return None if None in parts else {name: value for part in parts for name, value in (part or {}).items()}


def _always(facts: Facts, scope: Scope) -> bool:
    return True


def _by(kind: type[Any], *methods: str) -> tuple[Build, ...]:
    return tuple(functools.partial(_ask, kind, method) for method in methods or ("build",))


def _ask(kind: type[Any], method: str, facts: Facts, scope: Scope) -> dict[str, Any] | None:
    return getattr(facts.of(kind), method)(scope)


THREAD_PARTS = ("head", "turns", "waiting", "worries", "tool_calls", "processes", "tasks", "results")
_PARTS: dict[str, tuple[Build, ...]] = {
    "session_snapshot": _by(Session, "shell", "threads", "recent", "work", "results"),
    "thread_read_model": _by(Threads, *THREAD_PARTS),
    "tool_inventory_snapshot": _by(Catalogues),
    "queue_snapshot": _by(Queues),
    "task_snapshot": (task_board.build,),
    "context_boundary_snapshot": _by(Context),
    "artifact_checkpoint_summary": _by(Artifacts),
    "evidence_summary": _by(Evidence),
    "permission_sandbox_summary": _by(Permissions),
    "execution_environment_snapshot": _by(Environment),
    "routing_limit_summary": _by(Routing),
    "subagent_job_summary": (subagents.build,),
    "channel_summary": _by(Channels),
}
_EXISTS = {"thread_read_model": lambda facts, scope: facts.of(Threads).exists(scope)}
MODELS: dict[str, Model] = {
    name: Model(limits, _PARTS[name], _EXISTS.get(name, _always)) for name, limits in LIMITS.items()
}


def limited(model: str, thread: str | None, turn: str | None) -> Scope | None:
    """The scope a model is asked for; None when the model cannot have it."""
    limits = MODELS[model].limits
    if turn is not None and "turn" in limits:
        return Scope(thread, turn)
    if thread is not None and "thread" in limits:
        return Scope(thread)
    return Scope() if "session" in limits else None
