"""Edit scripts: how one capture becomes another, as data that any language can follow.

A script is a list of edits, done in order. Each names the lines it is about by what stands in them:
`{/type: task.started}` is the first line with that value at that pointer, `nth` asks for a later one.

* `drop` takes the line out.
* `repeat` adds a copy behind it (or `before` or `after` another line), with a fresh event id, changed by `set` and
  `unset`.
* `move` puts the line `before` or `after` another.
* `change` alters the line by `set` and `unset`.
* `insert` adds a new line `before` or `after` another, or at the end.
* `text` replaces the first `find` in the line's bytes (an empty one is its beginning) by `replace`; the characters of
  both stand for bytes, as in Latin-1.

Sequence and time stay with the place in the stream (see `slots`), unless the script says `keep_slots: false` or sets
them itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from validator.errors import DefinitionError
from validator.protocol.protocol import Protocol
from validator.testing.mutators.lines import Capture, Line, at, put, render, without
from validator.testing.mutators.slots import fresh_id, renumber

Edit = dict[str, Any]
STRUCTURAL = {"drop", "repeat", "move", "insert"}


def run(script: dict[str, Any], capture: Capture, protocol: Protocol) -> Capture:
    """The capture after a script; a script that changes nothing, or finds no line, is wrong."""
    out = list(capture)
    for edit in script["edits"]:
        operation = next(name for name in OPERATIONS if name in edit)
        out = OPERATIONS[operation](out, edit, protocol)
    moved = any(STRUCTURAL & edit.keys() for edit in script["edits"])
    if moved and script.get("keep_slots", True):
        out = renumber(out, capture, protocol)
    if out == capture:
        raise DefinitionError("the edits change nothing")
    return out


def find(capture: Capture, wanted: dict[str, Any]) -> int:
    """The position of the line that a selector names."""
    nth = wanted.get("nth", 1)
    for index, line in enumerate(capture):
        if matches(line, wanted):
            nth -= 1
            if nth == 0:
                return index
    raise DefinitionError(f"no line has {wanted}")


def matches(line: Line, wanted: dict[str, Any]) -> bool:
    pointers = {pointer: value for pointer, value in wanted.items() if pointer != "nth"}
    return isinstance(line, dict) and all(at(line, pointer) == value for pointer, value in pointers.items())


def _changed(line: dict[str, Any], edit: Edit) -> dict[str, Any]:
    for pointer, value in edit.get("set", {}).items():
        line = put(line, pointer, value)
    for pointer in edit.get("unset", ()):
        line = without(line, pointer)
    return line


def _place(capture: Capture, edit: Edit, usual: int) -> int:
    """The position at which a new line is to stand."""
    if "before" in edit:
        return find(capture, edit["before"])
    return find(capture, edit["after"]) + 1 if "after" in edit else usual


def _drop(capture: Capture, edit: Edit, protocol: Protocol) -> Capture:
    index = find(capture, edit["drop"])
    return [*capture[:index], *capture[index + 1 :]]


def _repeat(capture: Capture, edit: Edit, protocol: Protocol) -> Capture:
    index = find(capture, edit["repeat"])
    line = capture[index]
    assert isinstance(line, dict)
    copy = _changed(fresh_id(line, protocol), edit)
    place = _place(capture, edit, index + 1)
    return [*capture[:place], copy, *capture[place:]]


def _move(capture: Capture, edit: Edit, protocol: Protocol) -> Capture:
    index = find(capture, edit["move"])
    place = _place(capture, edit, len(capture))
    rest = [*capture[:index], *capture[index + 1 :]]
    place -= place > index
    return [*rest[:place], capture[index], *rest[place:]]


def _change(capture: Capture, edit: Edit, protocol: Protocol) -> Capture:
    index = find(capture, edit["change"])
    line = capture[index]
    assert isinstance(line, dict)
    return [*capture[:index], _changed(line, edit), *capture[index + 1 :]]


def _insert(capture: Capture, edit: Edit, protocol: Protocol) -> Capture:
    place = _place(capture, edit, len(capture))
    return [*capture[:place], edit["insert"], *capture[place:]]


def _text(capture: Capture, edit: Edit, protocol: Protocol) -> Capture:
    index = find(capture, edit["text"])
    old, new = (edit[name].encode("latin-1") for name in ("find", "replace"))
    raw = render([capture[index]]).removesuffix(b"\n")
    return [*capture[:index], raw.replace(old, new, 1), *capture[index + 1 :]]


OPERATIONS: dict[str, Callable[[Capture, Edit, Protocol], Capture]] = {
    "drop": _drop,
    "repeat": _repeat,
    "move": _move,
    "change": _change,
    "insert": _insert,
    "text": _text,
}
