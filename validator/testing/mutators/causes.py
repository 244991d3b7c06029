"""Operators on causes and owners: what the state tables and identities of a protocol say cannot be.

Where an operator asks whether a change breaks the tables, it asks the tables alone, and no rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from validator.protocol.machine import Driver
from validator.protocol.protocol import Protocol
from validator.replay.fold import Fold
from validator.replay.order import Order
from validator.replay.step import Move, Step
from validator.replay.world import World
from validator.testing.mutators.lines import Capture, Line, events, leaves, pointer_to, put, without
from validator.testing.mutators.operator import Changed, named, operator
from validator.testing.mutators.order import replaced, says_prefix
from validator.testing.mutators.slots import fresh_id, renumber

DONE = frozenset({"completed", "committed"})
TABLES = ("ORD005", "STA001", "TRM001", "TRM030", "RAG023")


def replay(capture: Capture, protocol: Protocol) -> list[Step]:
    """What the tables make of every line; one that cannot be read, or comes again, moves nothing."""
    fold, order = Fold(protocol), Order(protocol)
    steps = []
    for number, line in enumerate(capture, start=1):
        again = isinstance(line, dict) and "record" not in line and order.meet(line, number)[0] is not None
        steps.append(fold.apply(line, number) if isinstance(line, dict) and not again else Step({}, number))
    return steps


def refused(capture: Capture, protocol: Protocol) -> bool:
    """True when a table refuses some line, and nothing outside the events can have introduced its subject."""
    told = {value for line in capture if _serves(line) for _, value in leaves(line) if isinstance(value, str)}
    return any(refusal.subject not in told for step in replay(capture, protocol) for refusal in step.refusals)


def _serves(line: Line) -> bool:
    return isinstance(line, dict) and line.get("record") in {"snapshot", "result"}


def whole(capture: Capture, protocol: Protocol) -> bool:
    """True for a capture that begins with its streams and has no gap: what it does not tell did not happen."""
    order = Order(protocol)
    places = [order.place(event, index) for index, event in events(capture) if order.meet(event, index)[0] is None]
    return not any(place.verdict == "gap" or (place.verdict == "first" and place.sequence > 1) for place in places)


def _dropped(capture: Capture, index: int, protocol: Protocol) -> Capture:
    return renumber(replaced(capture, index), capture, protocol)


def _appended(capture: Capture, event: dict[str, Any], protocol: Protocol) -> Capture:
    return renumber([*capture, fresh_id(event, protocol)], capture, protocol)


def _moved_up(capture: Capture, index: int, before: int, protocol: Protocol) -> Capture:
    rest = replaced(capture, index)
    return renumber([*rest[:before], capture[index], *rest[before:]], capture, protocol)


@operator("cut-a-cause", rules=TABLES)
def cut_cause(capture: Capture, protocol: Protocol) -> Changed:
    """An event is left out without a trace, and a later one has no row without it."""
    for index, _ in events(capture) if whole(capture, protocol) else ():
        lines = _dropped(capture, index, protocol)
        if refused(lines, protocol):
            yield named(index, capture, protocol), lines


def _work(capture: Capture, protocol: Protocol) -> Iterator[tuple[str, str, list[tuple[int, Move]]]]:
    """Every subject that counts as work, with its moves and where they were made."""
    found: dict[tuple[str, str], list[tuple[int, Move]]] = {}
    for index, step in enumerate(replay(capture, protocol)):
        for move in step.moves:
            if protocol.machines[move.machine].work and move.row.driver.kind == "event":
                found.setdefault((move.machine, move.subject), []).append((index, move))
    for (machine, subject), moves in found.items():
        yield machine, subject, moves


def _late(capture: Capture, protocol: Protocol, wanted: Iterable[str]) -> Changed:
    """Copies of some event of each subject that is over, at the end of the capture."""
    for name, _, moves in _work(capture, protocol):
        machine = protocol.machines[name]
        if not machine.is_terminal(moves[-1][1].target):
            continue
        chosen = {
            "first": moves[0],
            "last": moves[-1],
            "middle": next((entry for entry in reversed(moves) if not machine.is_terminal(entry[1].target)), moves[0]),
        }
        for word in wanted:
            event = capture[chosen[word][0]]
            assert isinstance(event, dict)
            lines = _appended(capture, event, protocol)
            if replay(lines, protocol)[-1].refusals:
                yield named(chosen[word][0], capture, protocol), lines


@operator("late-event", rules=("TRM001", "STA001"))
def late_event(capture: Capture, protocol: Protocol) -> Changed:
    """Work that is over tells of progress once more."""
    yield from _late(capture, protocol, ["middle"])


@operator("re-open", rules=("TRM001", "STA001"))
def reopen(capture: Capture, protocol: Protocol) -> Changed:
    """Work that is over begins again under the same id."""
    yield from _late(capture, protocol, ["first"])


@operator("end-twice", rules=("TRM001", "STA001"))
def end_twice(capture: Capture, protocol: Protocol) -> Changed:
    """Work that is over ends a second time."""
    yield from _late(capture, protocol, ["last"])


@operator("reorder-across-entities")
def reorder(capture: Capture, protocol: Protocol) -> Changed:
    """The first event of a child is told before the one that introduces its owner."""
    introduced: dict[tuple[str, str], int] = {}
    for index, step in enumerate(replay(capture, protocol)):
        for move in step.moves if "record" not in step.line else ():
            if move.source != "none" or move.row.driver.kind != "event":
                continue
            child = protocol.machines[move.machine].subject[0][0]
            names = [owner for name, owner in _owned(protocol, step.scope) if name == child]
            pairs = [(owner, step.scope[owner]) for owner in names if not _may_come_first(child, owner)]
            owners = [introduced[pair] for pair in pairs if pair in introduced]
            if owners:
                yield named(index, capture, protocol), _moved_up(capture, index, max(owners), protocol)
            introduced[child, move.subject] = index


def _may_come_first(child: str, owner: str) -> bool:
    """True for a question, which may be asked before its call, and for a hook, which may precede what it watches."""
    return child == "hook_run_id" or (child, owner) == ("action_id", "tool_call_id")


@operator("retarget-a-parent")
def retarget(capture: Capture, protocol: Protocol) -> Changed:
    """An event of a known subject names another owner than before."""
    seen: dict[str, list[str]] = {}
    pairs: set[tuple[str, str, str, str]] = set()
    for index, event in events(capture):
        scope = protocol.lens.scope(event)
        for child, parent in _owned(protocol, scope):
            if _may_differ(protocol, event, child, parent):
                continue
            pair = (child, scope[child], parent, scope[parent])
            pointer = pointer_to(protocol, parent, event)
            if pair in pairs and pointer:
                other = next((word for word in seen[parent] if word != scope[parent]), f"{scope[parent]}-other")
                lines = replaced(capture, index, put(event, pointer, other))
                yield f"{named(index, capture, protocol)} {parent}", lines
            pairs.add(pair)
        for name, key in scope.items():
            seen.setdefault(name, []).append(key)


def _may_differ(protocol: Protocol, event: dict[str, Any], child: str, owner: str) -> bool:
    """True for what is legal under another owner: a task goes on in other threads (ID-5), a later call may touch a
    process, and the id of a step counts within its owner (ID-7), which matters where an event moves nothing."""
    moves = Driver("event", protocol.type_of(event) or "") in protocol.listeners
    return (child, owner) in {("task_id", "thread_id"), ("process_id", "tool_call_id")} or (
        child == "step_id" and not moves
    )


def _owned(protocol: Protocol, scope: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The pairs of identities of a line of which one belongs to the other."""
    for child in scope:
        for parent in protocol.identities[child]["belongs_to"]:
            if parent in scope:
                yield child, parent


@operator("complete-with-an-open-child", rare=True)
def open_child(capture: Capture, protocol: Protocol) -> Changed:
    """Work is told as done before the end of what belongs to it."""
    ends: list[tuple[int, dict[str, str]]] = []
    for index, step in enumerate(replay(capture, protocol)):
        for move in step.moves if "record" not in step.line else ():
            machine = protocol.machines[move.machine]
            if not (machine.work and machine.is_open(move.source) and machine.is_terminal(move.target)):
                continue
            field = machine.subject[0][0]
            children = [at for at, scope in ends if scope.get(field) == move.subject and at < index]
            if children and move.target.lower() in DONE and move.row.driver.kind == "event":
                yield named(index, capture, protocol), _moved_up(capture, index, max(children), protocol)
            if DONE & {state.lower() for state in machine.states}:
                ends.append((index, step.scope))


def asks(protocol: Protocol, move: Move) -> bool:
    """True for a move that opens a question: its subject begins by waiting."""
    return move.source == "none" and protocol.machines[move.machine].states[move.target] == "waiting"


@operator("approve-without-request", rules=(*TABLES, "GOV006", "GOV016"), rare=True)
def unasked(capture: Capture, protocol: Protocol) -> Changed:
    """The event that asks a question is left out, and its answer stays."""
    for index, step in enumerate(replay(capture, protocol)):
        question = whole(capture, protocol) and any(asks(protocol, move) for move in step.moves)
        lines = _dropped(capture, index, protocol) if question and "record" not in step.line else capture
        if lines != capture and refused(lines, protocol):
            yield named(index, capture, protocol), lines


@operator("drop-a-queue-event", rare=True)
def drop_queue(capture: Capture, protocol: Protocol) -> Changed:
    """A change of the queue is left out without a trace."""
    for index, step in enumerate(replay(capture, protocol) if not says_prefix(capture) else ()):
        moved = any(move.machine == "queue" and move.source != move.target for move in step.moves)
        if moved and "record" not in step.line and protocol.type_of(step.line) == "queue.changed":
            yield named(index, capture, protocol), _dropped(capture, index, protocol)


@operator("guess-an-unknown", rules=("UNK002", "STA001", "TRM001"), rare=True)
def guess(capture: Capture, protocol: Protocol) -> Changed:
    """Work that cannot be proved after a restart is told as done instead of lost."""
    restarted = False
    for index, step in enumerate(replay(capture, protocol)):
        restarted |= step.line.get("record") == "restart"
        for move in step.moves if restarted and "record" not in step.line else ():
            word = _success(protocol, move)
            pointer = pointer_to(protocol, "type", step.line)
            if word and pointer:
                kept = {key: value for key, value in step.line.items() if key != "payload"}
                yield named(index, capture, protocol), replaced(capture, index, put(kept, pointer, word))


def _success(protocol: Protocol, move: Move) -> str | None:
    """The event that tells a subject as completed, for a move into a state that cannot be proved."""
    machine = protocol.machines[move.machine]
    if machine.states[move.target] != "uncertain" or move.row.driver.kind != "event":
        return None
    for row in machine.rows:
        if row.driver.kind == "event" and row.target == "completed" and machine.is_terminal(row.target):
            return row.driver.name
    return None


@operator("truncate-open-work", verdict="incomplete")
def truncate_work(capture: Capture, protocol: Protocol) -> Changed:
    """The capture ends while work is open, and does not say how it was meant to end."""
    world = World(protocol)
    for index, line in enumerate(capture[:-1]):
        if isinstance(line, dict):
            world.apply(line, index + 1)
        # What a gap has put in doubt is not known to be open.
        if any(not subject.doubted for subject in world.fold.open_work()):
            kept = [without(entry, "/completeness") if _is_header(entry) else entry for entry in capture[: index + 1]]
            yield named(index, capture, protocol), kept


def _is_header(line: Line) -> bool:
    return isinstance(line, dict) and line.get("record") == "header"
