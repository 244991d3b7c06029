"""Every read model document of a replay, whatever protocol it is in.

A document is limited to a session, a thread, a turn, a run or an action; `ids` says to which. Those that are limited
to less than the widest thing their model can speak about are `narrow`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from validator.records import dataclass
from validator.replay.readmodels import MODELS, ReadModels, agent_threads, agenthub, runagents
from validator.replay.world import World


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a read model."""

    model: str
    ids: tuple[str, ...]
    """What it is about, from the outside in."""
    body: dict[str, Any]
    narrow: bool = False


def ledgers(protocol: str) -> tuple[type, ...]:
    """The ledgers that rebuild the read models of a protocol."""
    return _SOURCES[protocol][0]


def documents(world: World) -> Iterator[Document]:
    """All documents, by model in the order the protocol lists them, and by subject in order of appearance."""
    found = list(_SOURCES[world.protocol.name][1](world))
    names = list(world.protocol.snapshots)
    return iter(sorted(found, key=lambda document: names.index(document.model)))


def _core(world: World) -> Iterator[Document]:
    models = world.ledger(ReadModels)
    for session, thread, turn in models.places():
        limit = "turn" if turn else "thread" if thread else "session"
        for name, model in MODELS.items():
            body = models.build(name, thread, turn, session) if limit in model.limits else None
            if body is not None:
                ids = tuple(word for word in (session, thread, turn) if word)
                yield Document(name, ids, body, narrow=limit != model.limits[0])


def _agenthub(world: World) -> Iterator[Document]:
    views = world.ledger(agenthub.RunViews)
    for run in views.run_ids:
        yield Document(agenthub.MODEL, (run,), views.build(run))


def _runagents(world: World) -> Iterator[Document]:
    runs, actions = world.ledger(runagents.RunViews), world.ledger(runagents.ActionViews)
    for run in runs.runs():
        yield Document("run_view", (run,), runs.build(run))
    for action in actions.actions():
        yield Document("action_view", (action,), actions.build(action))


def _agent_threads(world: World) -> Iterator[Document]:
    threads = world.ledger(agent_threads.Threads)
    for run in threads.runs():
        yield Document("run_view", (run,), threads.run_view(run))
    for thread in threads.threads():
        yield Document("thread_tree", (thread,), threads.tree(thread))
        for branch in ("active", "all"):
            yield Document("transcript", (thread,), threads.transcript(thread, branch))


_SOURCES: dict[str, tuple[tuple[type, ...], Callable[[World], Iterator[Document]]]] = {
    "agent-runtime": ((ReadModels,), _core),
    "agenthub": ((agenthub.RunViews,), _agenthub),
    "runagents": ((runagents.RunViews, runagents.ActionViews), _runagents),
    "agent-threads": ((agent_threads.Threads,), _agent_threads),
}
