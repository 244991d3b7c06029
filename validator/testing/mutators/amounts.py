"""What a capture amounts to: every subject's state and every read model, for telling whether two captures differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from validator.protocol.honest import is_honest
from validator.protocol.protocol import Protocol
from validator.replay.readmodels import MODELS, ReadModels, agent_threads, agenthub, runagents
from validator.replay.world import World
from validator.testing.mutators.lines import Capture

_FREE = ("freshness_reason",)
"""Free text that no clause derives."""
Built = dict[tuple[Any, ...], Any]


def amounts(capture: Capture, protocol: Protocol) -> Built:
    """States by machine and subject, and read models by name and scope; honest values count by their word."""
    ledgers, build = _VIEWS[protocol.name]
    world = World(protocol, ledgers)
    for number, line in enumerate(capture, start=1):
        if isinstance(line, dict):
            world.apply(line, number)
        else:
            world.doubt(number)
    states = {
        ("state", machine, key): subject.state
        for machine in protocol.machines
        for key, subject in world.subjects(machine).items()
    }
    return states | {key: by_word(document) for key, document in build(world, capture).items()}


def by_word(value: Any) -> Any:
    """A document with honest values reduced to their words, and without free text."""
    if is_honest(value):
        return f"<{value['honest']}>"
    if isinstance(value, dict):
        return {key: by_word(entry) for key, entry in value.items() if key not in _FREE}
    return [by_word(entry) for entry in value] if isinstance(value, list) else value


def _core(world: World, capture: Capture) -> Built:
    scopes = [world.protocol.lens.scope(line) for line in capture if isinstance(line, dict)]
    threads = dict.fromkeys(scope["thread_id"] for scope in scopes if "thread_id" in scope)
    turns = {scope["turn_id"]: scope.get("thread_id") for scope in scopes if "turn_id" in scope}
    models, built = world.ledger(ReadModels), {}
    for session in models.sessions:
        for name, entry in MODELS.items():
            asked = [(None, None)] if "session" in entry.limits else []
            asked += [(thread, None) for thread in threads] if "thread" in entry.limits else []
            asked += [(thread, turn) for turn, thread in turns.items()] if "turn" in entry.limits else []
            for scope in asked:
                built[name, session, *scope] = models.build(name, *scope, session_id=session)
    return {key: document for key, document in built.items() if document is not None}


def _agenthub(world: World, capture: Capture) -> Built:
    views = world.ledger(agenthub.RunViews)
    return {("run_view", run): views.build(run) for run in views.run_ids}


def _runagents(world: World, capture: Capture) -> Built:
    runs, actions = world.ledger(runagents.RunViews), world.ledger(runagents.ActionViews)
    built = {("run_view", run): runs.build(run) for run in runs.runs()}
    return built | {("action_view", action): actions.build(action) for action in actions.actions()}


def _agent_threads(world: World, capture: Capture) -> Built:
    threads = world.ledger(agent_threads.Threads)
    built: Built = {("run_view", run): threads.run_view(run) for run in threads.runs()}
    for thread in threads.threads():
        built["thread_tree", thread] = threads.tree(thread)
        built |= {("transcript", thread, branch): threads.transcript(thread, branch) for branch in ("active", "all")}
    return built


_VIEWS: dict[str, tuple[tuple[type, ...], Callable[[World, Capture], Built]]] = {
    "agent-runtime": ((ReadModels,), _core),
    "agenthub": ((agenthub.RunViews,), _agenthub),
    "runagents": ((runagents.RunViews, runagents.ActionViews), _runagents),
    "agent-threads": ((agent_threads.Threads,), _agent_threads),
}
