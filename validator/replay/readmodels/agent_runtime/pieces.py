"""The pieces of the read models: what each shows, and which events touch it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from validator.replay.readmodels.agent_runtime import hooks, task_board
from validator.replay.readmodels.agent_runtime.artifacts import NAMED, Artifacts
from validator.replay.readmodels.agent_runtime.channels import Channels
from validator.replay.readmodels.agent_runtime.context import Context
from validator.replay.readmodels.agent_runtime.environment import Environment, Processes
from validator.replay.readmodels.agent_runtime.evidence import NAMED as TOLD
from validator.replay.readmodels.agent_runtime.evidence import REFS, Evidence, Outputs
from validator.replay.readmodels.agent_runtime.facts import Facts
from validator.replay.readmodels.agent_runtime.hooks import Hooks
from validator.replay.readmodels.agent_runtime.incidents import Incidents, hindrances
from validator.replay.readmodels.agent_runtime.permissions import Actions, Permissions
from validator.replay.readmodels.agent_runtime.queue import Queues
from validator.replay.readmodels.agent_runtime.records import as_record
from validator.replay.readmodels.agent_runtime.routing import Routing
from validator.replay.readmodels.agent_runtime.scope import NOWHERE, SESSION, Scope
from validator.replay.readmodels.agent_runtime.session import Session, Threads
from validator.replay.readmodels.agent_runtime.subagents import Jobs, Subagents
from validator.replay.readmodels.agent_runtime.tasks import Tasks
from validator.replay.readmodels.agent_runtime.tools import Calls, Catalogues
from validator.replay.readmodels.agent_runtime.touch import ROLLED_BACK, Touch
from validator.replay.readmodels.agent_runtime.turns import Turns
from validator.replay.readmodels.agent_runtime.watch import Look, Piece

SHELL, THREAD = ("session_snapshot",), ("thread_read_model",)
PERMISSION, ROUTING = ("permission_sandbox_summary",), ("routing_limit_summary",)
EVERYWHERE = frozenset({SESSION})
VALUED = ("runtime_id", "trace_id", "span_id", "telemetry")
QUEUED = ("queue.changed", "turn.submitted", "history.reconstructed", "snapshot.repaired")
HINDERING = ("run.status", "quota.blocked", "context.resolved", "task.lost", ROLLED_BACK)

Touched = Callable[[Touch], Iterable[Any]]
Show = Callable[[Facts, Any], Look]


def _scoped(models: tuple[str, ...], touched: Callable[[Touch], Any], content: Callable[[Facts, Scope], Any]) -> Piece:
    """Fields that hold what was told last in a scope."""

    def look(facts: Facts, scope: Scope) -> Look:
        shown = content(facts, scope)
        return shown, NOWHERE if shown is None else frozenset({scope})

    return Piece(models, lambda touch: touch.scopes if touch.fact.late or touched(touch) else (), look)


def _of_threads(
    models: tuple[str, ...], touched: Callable[[Touch], Any], content: Callable[[Facts, Scope], Any]
) -> Piece:
    """Fields of a thread."""

    def look(facts: Facts, thread: str) -> Look:
        shown = content(facts, Scope(thread))
        return shown, NOWHERE if shown is None else frozenset({Scope(thread)})

    return Piece(models, lambda touch: touch.threads if touch.fact.late or touched(touch) else (), look)


def _logged(models: tuple[str, ...], kind: type[Any], name: str) -> Piece:
    """A list with one entry for each event of a log; an event that tells nothing adds none."""

    def look(facts: Facts, index: int) -> Look:
        log = getattr(facts.of(kind), name)
        told = log.entries.get(index)
        return (told.value, log.scopes(index)) if told and told.value != [] else (None, NOWHERE)

    def touched(touch: Touch) -> Iterable[int]:
        return (touch.fact.index,) if touch.fact.index in getattr(touch.facts.of(kind), name).entries else ()

    return Piece(models, touched, look)


def _matches(*families: str) -> Callable[[Touch], bool]:
    """Says of an event that its type is one of some, or in one of some families."""
    return lambda touch: touch.family in families or touch.type in families


# The session and its threads


def _shell_touched(touch: Touch) -> Iterable[str]:
    words = ("session", "history", "context.compaction.completed", "turn.submitted")
    return ("",) if _matches(*words)(touch) or touch.has(*VALUED) or touch.fact.late else ()


def _summary(facts: Facts, thread: str) -> Look:
    known = thread in facts.introduced.get("thread", {})
    return (facts.of(Threads).summary(thread), EVERYWHERE) if known else (None, NOWHERE)


def _stirs_thread(touch: Touch) -> bool:
    return _matches("thread", "turn", ROLLED_BACK)(touch) or touch.moved("thread", "turn")


SESSIONS = (
    Piece(SHELL, _shell_touched, lambda facts, _: (facts.of(Session).shell(SESSION), EVERYWHERE)),
    Piece(SHELL, lambda touch: touch.threads, _summary),
    _of_threads(THREAD, _stirs_thread, lambda facts, scope: facts.of(Threads).standing(str(scope.thread))),
    _of_threads(
        THREAD,
        lambda touch: _matches(*HINDERING)(touch) or touch.moved("turn", "task", "attempt"),
        hindrances,
    ),
    _of_threads(
        THREAD,
        _matches("queue.changed", "turn.submitted"),
        lambda facts, scope: facts.of(Queues).items(scope.thread) or None,
    ),
    _of_threads(
        THREAD,
        lambda touch: touch.family == "context" or touch.moved("compaction"),
        lambda facts, scope: (facts.of(Context).entries(str(scope.thread)) or [None])[-1],
    ),
    _of_threads(
        ("context_boundary_snapshot",),
        lambda touch: touch.family == "context" or touch.moved("compaction"),
        lambda facts, scope: facts.of(Context).build(scope),
    ),
)


def _queues_touched(touch: Touch) -> Iterable[str]:
    if touch.type not in QUEUED and not touch.moved("thread"):
        return ()
    recovered = touch.type in QUEUED[2:] and not touch.threads
    return (key for key in touch.facts.of(Queues).queues if key) if recovered else touch.threads


def _queue(facts: Facts, thread: str) -> Look:
    shown = facts.of(Queues).build(Scope(thread))
    return shown, NOWHERE if shown is None else frozenset({Scope(thread)})


QUEUES = (Piece(("queue_snapshot",), _queues_touched, _queue),)

# Turns and steps


def _turns_touched(touch: Touch) -> Iterable[str]:
    return {**touch.subjects("turn", "turn_id"), **touch.arranged}


def _steps_touched(touch: Touch) -> Iterable[str]:
    turns = touch.facts.of(Turns)
    if touch.arranged:
        shifted = (turns.turns[turn].steps for turn in touch.arranged if turn in turns.turns)
        return turns.steps if touch.type.startswith("history") else {step for steps in shifted for step in steps}
    return (step for step in touch.carried("step_id") if step in turns.steps)


def _turn_steps_touched(touch: Touch) -> Iterable[tuple[str, str]]:
    turns = touch.facts.of(Turns)
    carried = (step for step in touch.carried("step_id") if step in turns.steps)
    yield from ((turn, step) for step in carried for turn in turns.steps[step].turns)
    yield from ((turn, step) for turn in touch.arranged if turn in turns.turns for step in turns.turns[turn].steps)


def _step(facts: Facts, key: str) -> Look:
    turns = facts.of(Turns)
    return turns.steps[key].record(key), turns.step_scopes(key)


def _turn_step(facts: Facts, key: tuple[str, str]) -> Look:
    turns = facts.of(Turns)
    return turns.steps[key[1]].record(key[1]), turns.loaded_scopes(key[0])


TURNS = (
    Piece(
        SHELL + THREAD,
        _turns_touched,
        lambda facts, key: (facts.of(Turns).head(key), facts.of(Turns).loaded_scopes(key)),
        "turn_id",
    ),
    Piece(SHELL + THREAD, _turn_steps_touched, _turn_step),
    Piece(SHELL, _steps_touched, _step),
)

# Calls, processes and actions


def _calls_touched(touch: Touch) -> Iterable[str]:
    calls, runs = touch.facts.of(Calls), touch.facts.of(Hooks)
    yield from touch.subjects("tool_call", "tool_call_id")
    yield from (call for turn in touch.arranged for call in calls.of_turn.get(turn, ()))
    yield from (call for run in touch.subjects("hook", "hook_run_id") for call in runs.calls_of.get(run, ()))


def _processes_touched(touch: Touch) -> Iterable[str]:
    yield from touch.subjects("process", "process_id")
    yield from (key for turn in touch.arranged for key in touch.facts.of(Processes).of_turn.get(turn, ()))


def _process(facts: Facts, key: str) -> Look:
    return facts.of(Processes).record(key), facts.of(Processes).scopes(key, facts.of(Turns))


def _failed_process(facts: Facts, key: str) -> Look:
    failed = facts.state("process", key) == "failed"
    return None, facts.scopes("process", "process_id", key) if failed else NOWHERE


def _action(questions: bool) -> Show:
    return lambda facts, key: (facts.of(Actions).pending(key), facts.of(Actions).scopes(key, questions))


def _actions_touched(touch: Touch) -> Iterable[str]:
    return touch.subjects("action", "action_id")


WORK = (
    Piece(
        THREAD,
        _calls_touched,
        lambda facts, key: (facts.of(Calls).record(key), facts.of(Calls).scopes(key, facts.of(Turns))),
        "tool_call_id",
    ),
    Piece(THREAD, _processes_touched, _process, "process_id"),
    Piece(THREAD, _processes_touched, _failed_process, "process_id"),
    Piece(
        ("execution_environment_snapshot",),
        lambda touch: touch.subjects("process", "process_id"),
        lambda facts, key: (facts.of(Processes).record(key), facts.of(Processes).active_scopes(key)),
        "process_id",
    ),
    Piece(THREAD, _actions_touched, _action(questions=True), "action_id"),
    Piece(PERMISSION, _actions_touched, _action(questions=False), "action_id"),
)

# Governance, environment, routing


def _environments_touched(touch: Touch) -> Iterable[Scope]:
    told = touch.type in {"sandbox.applied", "process.started"} or touch.has("execution_environment") or touch.fact.late
    return touch.facts.of(Environment).scopes() if touch.family == "session" else touch.scopes if told else ()


def _environment(facts: Facts, scope: Scope) -> Look:
    shown = facts.of(Environment).shown(scope)
    return shown, NOWHERE if shown is None else frozenset({scope})


def _runs_touched(touch: Touch) -> Iterable[str]:
    runs = touch.facts.of(Hooks).runs
    return (key for key in touch.subjects("hook", "hook_run_id") if key in runs)


def _run(facts: Facts, key: str) -> Look:
    known = facts.state("hook", key)
    return facts.of(Hooks).record(key), facts.mentions.scopes(hooks.RUN, key) if known else NOWHERE


GOVERNANCE = (
    _scoped(
        PERMISSION,
        _matches("permission", "sandbox", "hook", "policy", "tool.catalog.resolved", "action"),
        lambda facts, scope: facts.of(Permissions).shown(scope),
    ),
    _logged(PERMISSION, Permissions, "decisions"),
    _logged(PERMISSION, Permissions, "violations"),
    Piece(PERMISSION, _runs_touched, _run, hooks.RUN),
    Piece(("execution_environment_snapshot",), _environments_touched, _environment),
    _scoped(
        ROUTING,
        lambda touch: (
            _matches("task.profile.resolved", "routing", "cost", "limit", "rate_limit", "quota")(touch)
            or touch.has("cost_state")
        ),
        lambda facts, scope: facts.of(Routing).shown(scope),
    ),
    _logged(ROUTING, Routing, "fallbacks"),
    _logged(ROUTING, Routing, "events"),
    _scoped(
        ("tool_inventory_snapshot",),
        _matches("tool.catalog.resolved"),
        lambda facts, scope: facts.of(Catalogues).build(scope),
    ),
)

# Tasks, children and jobs


def _tasks_touched(touch: Touch) -> Iterable[str]:
    tasks = touch.facts.of(Tasks)
    found = touch.subjects("task", "task_id")
    found |= dict.fromkeys(tasks.task_of.get(run, "") for run in touch.subjects("attempt", "run_id"))
    held = (touch.facts.of(Artifacts).tasks_of(key) for key in touch.carried("artifact_id"))
    found |= dict.fromkeys(task for keys in held for task in keys)
    return (key for key in found if key in tasks.tasks and touch.facts.state("task", key))


def _counted(facts: Facts, key: str) -> Look:
    status = str(facts.state("task", key))
    told = SESSION in facts.scopes("task", "task_id", key)
    return (task_board.LIST_OF[status], status in task_board.OVER), EVERYWHERE if told else NOWHERE


def _children_touched(touch: Touch) -> Iterable[str]:
    return touch.subjects("subagent", "subagent_id")


def _jobs_touched(touch: Touch) -> Iterable[str]:
    return (key for key in touch.subjects("job", "job_id") if key in touch.facts.of(Jobs).jobs)


def _items_touched(touch: Touch) -> Iterable[tuple[str, str]]:
    jobs = touch.facts.of(Jobs)
    moved = touch.subjects("job_item", "job_item_id")
    yield from ((job, item) for item in moved for job in jobs.jobs_of.get(item, ()))
    if touch.type == "job.created":
        yield from ((job, item) for job in _jobs_touched(touch) for item in jobs.jobs[job].items)


CHILDREN = (
    Piece(
        (*THREAD, "task_snapshot"),
        _tasks_touched,
        lambda facts, key: (facts.of(Tasks).body(key), facts.scopes("task", "task_id", key)),
        "task_id",
        changed=lambda facts, key, time: facts.of(Tasks).note_change(key, time),
    ),
    Piece(SHELL, _tasks_touched, _counted, counted=True),
    Piece(
        ("subagent_job_summary",),
        _children_touched,
        lambda facts, key: (facts.of(Subagents).record(key), facts.of(Subagents).scopes(key)),
        "subagent_id",
    ),
    Piece(
        SHELL + THREAD,
        _children_touched,
        lambda facts, key: (None, facts.of(Subagents).scopes(key)),
        "subagent_id",
    ),
    Piece(
        ("subagent_job_summary",),
        _jobs_touched,
        lambda facts, key: ((facts.of(Jobs).head(key), facts.of(Jobs).told_threads(key)), facts.of(Jobs).scopes(key)),
        "job_id",
    ),
    Piece(
        ("subagent_job_summary",),
        _items_touched,
        lambda facts, key: (facts.of(Jobs).item(*key), facts.of(Jobs).scopes(key[0])),
    ),
    Piece(THREAD, _jobs_touched, lambda facts, key: (None, facts.of(Jobs).scopes(key)), "job_id"),
)

# What the work leads to


def _artifacts_touched(touch: Touch) -> Iterable[str]:
    changed = touch.type == "artifact.changed"
    return (key for key in touch.carried("artifact_id") if changed and key in touch.facts.of(Artifacts).told)


def _evidence_touched(touch: Touch) -> Iterable[str]:
    changed = touch.type == "evidence.changed"
    return (key for key in touch.carried("evidence_id") if changed and key in touch.facts.of(Evidence).told)


def _evidence(facts: Facts, key: str) -> Look:
    evidence = facts.of(Evidence)
    return (dict(evidence.told[key]), evidence.gaps.get(key)), facts.mentions.scopes(TOLD, key)


def _refs_touched(touch: Touch) -> Iterable[str]:
    told = (touch.fact.payload.get(name) for name in REFS) if touch.type == "evidence.changed" else ()
    return (ref for ref in told if isinstance(ref, str) and ref in touch.facts.of(Evidence).given)


def _ref(facts: Facts, ref: str) -> Look:
    evidence = facts.of(Evidence)
    return None, NOWHERE.union(*(evidence.refs.scopes(index) for index in evidence.given[ref]))


def _outputs_touched(touch: Touch) -> Iterable[str]:
    told = touch.facts.protocol.lens.get(touch.fact.line, "output_ref") or touch.fact.side("output").get("output_ref")
    return (told,) if touch.family == "output" and told in touch.facts.of(Outputs).told else ()


RESULTS = (
    Piece(
        ("artifact_checkpoint_summary",),
        _artifacts_touched,
        lambda facts, key: (dict(facts.of(Artifacts).told[key]), facts.of(Artifacts).scopes(key)),
        "artifact_id",
    ),
    Piece(
        SHELL + THREAD,
        _artifacts_touched,
        lambda facts, key: (None, facts.of(Artifacts).scopes(key)),
        "artifact_id",
    ),
    _scoped(
        ("artifact_checkpoint_summary",),
        _matches("artifact.changed"),
        lambda facts, scope: bool(facts.mentions.ids(NAMED, scope)) or None,
    ),
    Piece(("evidence_summary",), _evidence_touched, _evidence, "evidence_id"),
    _logged(("evidence_summary",), Evidence, "notes"),
    Piece(
        ("evidence_summary",),
        lambda touch: touch.carried("trace_id") if "trace_id" in touch.fact.anew else (),
        lambda facts, key: (None, facts.mentions.scopes("trace_id", key)),
        "trace_id",
    ),
    Piece(SHELL + THREAD, _refs_touched, _ref),
    Piece(SHELL, _outputs_touched, lambda facts, ref: (dict(facts.of(Outputs).told[ref]), EVERYWHERE)),
)

# Peers and troubles


def _channels_touched(touch: Touch) -> Iterable[str]:
    return (key for key in touch.subjects("channel", "channel_id") if key in touch.facts.of(Channels).channels)


def _listed_channels(touch: Touch) -> Iterable[str]:
    source = touch.fact.payload.get("source_channel_id") if touch.type == "turn.submitted" else None
    return {*_channels_touched(touch), *({source} & touch.facts.of(Channels).channels.keys())}


def _channel(facts: Facts, key: str) -> Look:
    known = key in facts.introduced.get("channel", {})
    return (facts.of(Channels).head(key), EVERYWHERE) if known else (None, NOWHERE)


def _bridges_touched(touch: Touch) -> Iterable[str]:
    return {touch.fact.payload.get("bridge_id")} & touch.facts.of(Channels).bridges.keys()


def _peers_touched(touch: Touch) -> Iterable[str]:
    told = as_record(touch.fact.payload.get("peer_task")).get("peer_task_id")
    return {told} & touch.facts.of(Channels).peer_tasks.keys()


def _crossing(kind: str) -> Show:
    def look(facts: Facts, key: str) -> Look:
        channels = facts.of(Channels)
        return (dict(getattr(channels, kind)[key]), channels.crossing(kind, key)), EVERYWHERE

    return look


def _incidents_touched(touch: Touch) -> Iterable[str]:
    return {touch.fact.payload.get("incident_id")} & touch.facts.of(Incidents).incidents.keys()


PEERS = (
    Piece(("channel_summary",), _channels_touched, _channel),
    Piece(("channel_summary",), _bridges_touched, _crossing("bridges")),
    Piece(("channel_summary",), _peers_touched, _crossing("peer_tasks")),
    Piece(THREAD, _listed_channels, lambda facts, key: (None, facts.of(Channels).threads(key)), "channel_id"),
    Piece(
        THREAD,
        lambda touch: _incidents_touched(touch) if touch.family == "runtime" else (),
        lambda facts, key: (dict(facts.of(Incidents).incidents[key].said), facts.of(Incidents).scopes(key)),
    ),
    _logged(THREAD, Incidents, "warnings"),
)

PIECES = (*SESSIONS, *QUEUES, *TURNS, *WORK, *GOVERNANCE, *CHILDREN, *RESULTS, *PEERS)
