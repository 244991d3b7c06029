"""Pieces of a conversation: the session, its threads, turns, steps and queues."""

from __future__ import annotations

from collections.abc import Iterable

from validator.replay.readmodels.agent_runtime.context import Context
from validator.replay.readmodels.agent_runtime.facts import Facts
from validator.replay.readmodels.agent_runtime.incidents import Incidents, hindrances
from validator.replay.readmodels.agent_runtime.queue import Queues
from validator.replay.readmodels.agent_runtime.scope import NOWHERE, SESSION, Scope
from validator.replay.readmodels.agent_runtime.session import Session, Threads
from validator.replay.readmodels.agent_runtime.turns import Turns
from validator.replay.readmodels.agent_runtime.watch.piece import (
    IN_SESSION,
    NOTHING,
    SHELL,
    THREAD,
    Feed,
    Look,
    Piece,
    logged,
    of_thread,
    on,
)
from validator.replay.readmodels.agent_runtime.watch.touch import ROLLED_BACK, WINDOW, Touch

RECOVERED = ("history.reconstructed", "snapshot.repaired")
SHELLS = on(
    *("session", "history", "context.compaction.completed", "turn.submitted"),
    carries=("runtime_id", "trace_id", "span_id", "telemetry"),
)
HINDERED = on(
    *("run.status", "quota.blocked", "context.resolved", "task.lost", ROLLED_BACK),
    moves=("thread", "turn", "task", "attempt"),
)
STANDING = on("thread", "turn", ROLLED_BACK, moves=("thread", "turn"))
TURNS = on(ROLLED_BACK, WINDOW, moves=("turn",), carries=("turn_id",))
STEPS = on(ROLLED_BACK, WINDOW, moves=("turn",), carries=("step_id",))
COMPACTED = on("context", moves=("compaction",))


def _summary(facts: Facts, thread: str) -> Look:
    known = thread in facts.introduced.get("thread", {})
    return (facts.of(Threads).summary(thread), IN_SESSION) if known else NOTHING


def _queues_touched(touch: Touch) -> Iterable[str]:
    everywhere = touch.type in RECOVERED and not touch.threads
    return [key for key in touch.facts.of(Queues).queues if key] if everywhere else touch.threads


def _queue(facts: Facts, thread: str) -> Look:
    shown = facts.of(Queues).build(Scope(thread))
    return shown, NOWHERE if shown is None else frozenset({Scope(thread)})


def _turns_touched(touch: Touch) -> Iterable[str]:
    return {**touch.subjects("turn", "turn_id"), **touch.arranged}


def _steps_touched(touch: Touch) -> Iterable[str]:
    steps = touch.facts.of(Turns).steps
    return steps if touch.type in {ROLLED_BACK, WINDOW} else [key for key in touch.carried("step_id") if key in steps]


def _step(facts: Facts, key: str) -> Look:
    turns = facts.of(Turns)
    return turns.steps[key].record(key), turns.step_scopes(key)


def _turn_steps_touched(touch: Touch) -> Iterable[tuple[str, str]]:
    turns = touch.facts.of(Turns)
    carried = (step for step in touch.carried("step_id") if step in turns.steps)
    yield from ((turn, step) for step in carried for turn in turns.steps[step].turns)
    yield from ((turn, step) for turn in touch.arranged if turn in turns.turns for step in turns.turns[turn].steps)


def _turn_step(facts: Facts, key: tuple[str, str]) -> Look:
    turns = facts.of(Turns)
    return turns.steps[key[1]].record(key[1]), turns.loaded_scopes(key[0])


def _incidents_touched(touch: Touch) -> Iterable[str]:
    told = touch.fact.payload.get("incident_id")
    return (told,) if isinstance(told, str) and told in touch.facts.of(Incidents).incidents else ()


CONVERSATION = (
    Piece(SHELL, SHELLS, lambda _: ("",), lambda facts, _: (facts.of(Session).shell(SESSION), IN_SESSION)),
    Piece(SHELL, Feed(always=True), lambda touch: touch.threads, _summary),
    of_thread(THREAD, STANDING, lambda facts, scope: facts.of(Threads).standing(str(scope.thread))),
    of_thread(THREAD, HINDERED, hindrances),
    of_thread(THREAD, on("queue", "turn.submitted"), lambda facts, scope: facts.of(Queues).items(scope.thread) or None),
    of_thread(THREAD, COMPACTED, lambda facts, scope: (facts.of(Context).entries(str(scope.thread)) or [None])[-1]),
    of_thread(("context_boundary_snapshot",), COMPACTED, lambda facts, scope: facts.of(Context).build(scope)),
    Piece(("queue_snapshot",), on("queue", "turn.submitted", *RECOVERED, moves=("thread",)), _queues_touched, _queue),
    Piece(
        SHELL + THREAD,
        TURNS,
        _turns_touched,
        lambda facts, key: (facts.of(Turns).head(key), facts.of(Turns).loaded_scopes(key)),
        "turn_id",
    ),
    Piece(SHELL + THREAD, STEPS, _turn_steps_touched, _turn_step),
    Piece(SHELL, STEPS, _steps_touched, _step),
    Piece(
        THREAD,
        on("runtime"),
        _incidents_touched,
        lambda facts, key: (dict(facts.of(Incidents).incidents[key].said), facts.of(Incidents).scopes(key)),
    ),
    logged(THREAD, on("runtime.warning"), Incidents, "warnings"),
)
