"""Finds mutators for a rule: what makes a near miss of it into one of its streams that trip.

The difference between the two is an edit script; it is cut down to the edits without which the rule stays silent.
For authors of rules: `python -m validator.testing.mutators propose GOV001`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from validator.errors import RuntimeValidateError
from validator.protocol.protocol import Protocol
from validator.rulestreams import options_of
from validator.testing.mutators.edits import Edit, run
from validator.testing.mutators.kill import judge
from validator.testing.mutators.lines import Capture, Line, at, leaves, parse, places, put
from validator.testing.mutators.slots import FIELDS

Script = dict[str, Any]
COSTS = {"change": 1.0, "drop": 1.0, "move": 1.5, "repeat": 1.5, "insert": 3.0}
NEARS = 3
CHEAP = 2.0
"""A script this cheap is good enough."""


def propose(protocol: Protocol, rule: str, expect: dict[str, Any], folder: Path) -> dict[str, Script]:
    """The cheapest script for every clause that the rule's streams trip, by name."""
    streams = {name: parse((folder / f"{name}.ndjson").read_bytes()) for name in expect["streams"]}
    wanted = dict.fromkeys(
        (name, found.get("clause"))
        for name, entry in expect["streams"].items()
        for found in entry.get("findings", ())
        if found.get("rule", rule) == rule
    )
    best: dict[str | None, tuple[float, str, Script]] = {}
    for trip, clause in wanted:
        for near in _closest(protocol, streams, trip):
            options = replace(options_of(protocol, expect["streams"][near]), select=(rule,))

            def trips(script: Script, near=near, clause=clause, options=options) -> bool:
                found = judge(run(script, streams[near], protocol), options)
                return any(clause in (None, entry.clause) for entry in found)

            for search in (smallest, single):
                if clause in best and (best[clause][0] <= CHEAP or search is single):
                    break
                script = search(protocol, near, streams[near], streams[trip], trips)
                if script and (clause not in best or cost(script) < best[clause][0]):
                    best[clause] = (cost(script), trip, script)
    return {
        trip.removeprefix("trips-"): {**script, **({"clause": clause} if clause else {})}
        for clause, (_, trip, script) in best.items()
    }


def _closest(protocol: Protocol, streams: dict[str, Capture], trip: str) -> list[str]:
    """The near misses that are most like a stream."""

    def distance(near: str) -> float:
        return cost({"edits": list(difference(streams[near], streams[trip], protocol, True))})

    return sorted((name for name in streams if name.startswith("near-")), key=distance)[:NEARS]


def smallest(
    protocol: Protocol, near: str, seed: Capture, goal: Capture, trips: Callable[[Script], bool]
) -> Script | None:
    """A script that trips and cannot do without any of its edits."""
    for slots in (True, False):
        edits = list(difference(seed, goal, protocol, slots))
        script: Script = {"from": near, "edits": edits} | ({} if slots else {"keep_slots": False})
        if edits and _works(trips, script):
            return _shrink(script, trips)
    return None


def single(
    protocol: Protocol, near: str, seed: Capture, goal: Capture, trips: Callable[[Script], bool]
) -> Script | None:
    """The first script of one edit that trips."""
    return next((script for script in singles(near, seed, protocol) if _works(trips, script)), None)


def singles(near: str, seed: Capture, protocol: Protocol) -> Iterator[Script]:
    """Every script of one edit: a line dropped, moved up or told again, a value taken out."""
    for index, line in enumerate(seed):
        if isinstance(line, dict):
            chosen = selector(seed, index, protocol)
            yield {"from": near, "edits": [{"drop": chosen}]}
            for pointer, _ in leaves(line):
                yield {"from": near, "edits": [{"change": chosen, "unset": [pointer]}]}
            if index:
                yield {"from": near, "edits": [{"move": chosen, "before": selector(seed, index - 1, protocol)}]}
            yield {"from": near, "edits": [{"repeat": chosen}]}


def _works(trips: Callable[[Script], bool], script: Script) -> bool:
    try:
        return trips(script)
    except RuntimeValidateError:
        return False


def _shrink(script: Script, trips: Callable[[Script], bool]) -> Script:
    changed = True
    while changed:
        changed = False
        for smaller in _smaller(script["edits"]):
            trial = {**script, "edits": smaller}
            if smaller and _works(trips, trial):
                script, changed = trial, True
                break
    return script


def _smaller(edits: list[Edit]) -> Iterator[list[Edit]]:
    for index, edit in enumerate(edits):
        yield [*edits[:index], *edits[index + 1 :]]
        for pointer in edit.get("set", {}) if len(edit.get("set", {})) + len(edit.get("unset", ())) > 1 else ():
            kept = {key: value for key, value in edit["set"].items() if key != pointer}
            yield [*edits[:index], _tidy({**edit, "set": kept}), *edits[index + 1 :]]
        for pointer in edit.get("unset", ()) if len(edit.get("set", {})) + len(edit.get("unset", ())) > 1 else ():
            kept_out = [entry for entry in edit["unset"] if entry != pointer]
            yield [*edits[:index], _tidy({**edit, "unset": kept_out}), *edits[index + 1 :]]


def _tidy(edit: Edit) -> Edit:
    return {key: value for key, value in edit.items() if value or key not in {"set", "unset"}}


def cost(script: Script) -> float:
    """What a reader has to take in: few edits, and changes rather than whole new lines."""
    total = 0.0
    for edit in script["edits"]:
        operation = next(name for name in COSTS if name in edit)
        total += COSTS[operation] + 0.5 * max(0, len(edit.get("set", {})) + len(edit.get("unset", ())) - 1)
    return total + (0 if script.get("keep_slots", True) else 0.5)


def difference(seed: Capture, goal: Capture, protocol: Protocol, slots: bool) -> Iterator[Edit]:
    """Edits that make the goal of the seed: changes first, then whole lines from the end to the beginning."""
    matcher = difflib.SequenceMatcher(None, *([key_of(line, protocol) for line in side] for side in (seed, goal)))
    current, blocks = list(seed), matcher.get_opcodes()
    for tag, one, end, other, _ in blocks:
        for offset in range(end - one) if tag == "equal" else ():
            line, new = seed[one + offset], goal[other + offset]
            edit = changes(line, new, protocol, slots)
            if edit:
                yield {"change": selector(current, one + offset, protocol), **edit}
                current[one + offset] = new
    for tag, one, end, other, stop in reversed(blocks):
        for index in reversed(range(one, end)) if tag in {"delete", "replace"} else ():
            yield {"drop": selector(current, index, protocol)}
            del current[index]
        for line in reversed(goal[other:stop]) if tag in {"insert", "replace"} else ():
            if isinstance(line, dict):
                new = _renamed(line, protocol)
                anchor = {"before": selector(current, one, protocol)} if one < len(current) else {}
                yield {"insert": new, **anchor}
                current.insert(one, new)


def _renamed(line: dict[str, Any], protocol: Protocol) -> dict[str, Any]:
    for pointer in places(protocol, "event_id"):
        if "record" not in line and isinstance(at(line, pointer), str):
            return put(line, pointer, f"{at(line, pointer)}-new")
    return line


def changes(line: Line, new: Line, protocol: Protocol, slots: bool) -> Edit:
    """The `set` and `unset` that make one line of another."""
    if not isinstance(line, dict) or not isinstance(new, dict) or line == new:
        return {}
    names = ("event_id", *FIELDS) if slots else ()
    free = {place for name in names for place in places(protocol, name)} if "record" not in line else set()
    old, now = dict(leaves(line)), dict(leaves(new))
    edit: Edit = {"set": {}, "unset": []}
    for pointer, value in now.items():
        if pointer not in free and (
            pointer not in old or old[pointer] != value or type(old[pointer]) is not type(value)
        ):
            edit["set"][pointer] = value
    gone = {_topmost(pointer, new) for pointer in old.keys() - now.keys() - free}
    edit["unset"] = sorted(gone - now.keys(), reverse=True)
    return _tidy(edit)


def _topmost(pointer: str, new: dict[str, Any]) -> str:
    """The highest place on the way to a pointer that is not there any more."""
    steps = pointer.split("/")
    heads = ("/".join(steps[:length]) for length in range(2, len(steps) + 1))
    return next((head for head in heads if at(new, head) is None), pointer)


def key_of(line: Line, protocol: Protocol) -> str:
    """What kind of line it is: an event's type, or a record with its command, model or status."""
    if not isinstance(line, dict):
        return "unreadable"
    return str(dict(_marks(line, protocol)))


def _marks(line: dict[str, Any], protocol: Protocol) -> Iterator[tuple[str, Any]]:
    names = ["/record", "/command", "/model", "/status"] if "record" in line else places(protocol, "type")
    yield from ((name, at(line, name)) for name in names if at(line, name) is not None)


def selector(capture: Capture, index: int, protocol: Protocol) -> dict[str, Any]:
    """Words that find one line: its kind, and which of its kind it is."""
    line = capture[index]
    marks = dict(_marks(line, protocol)) if isinstance(line, dict) else {}
    same = [
        number
        for number, entry in enumerate(capture)
        if isinstance(entry, dict) and all(at(entry, key) == value for key, value in marks.items())
    ]
    nth = same.index(index) + 1
    return {**marks, **({"nth": nth} if nth > 1 else {})}
