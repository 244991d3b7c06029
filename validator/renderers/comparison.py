"""A comparison of two captures as text or JSON (`schemas/diff/1`)."""

from __future__ import annotations

import json
from typing import Any

from validator.diff import Comparison, Difference
from validator.diffsides import Side
from validator.renderers.printable import printable

FORMATS = ("text", "json")


def render(form: str, comparison: Comparison) -> str:
    """A comparison in one of the formats."""
    return _json(comparison) if form == "json" else _text(comparison)


def headline(comparison: Comparison) -> str:
    """Whether they are the same, and whose fault it is if not."""
    a, b = comparison.a, comparison.b
    for side in (a, b):
        if side.lines and not side.readable:
            return f"unreadable: no line of {side.file} is a JSON object"
    found = [difference for difference in comparison.differences if difference.fails]
    if not found:
        same = f"{comparison.shared} events in common"
        return f"same: {same}" if comparison.comparable else f"incomplete: {comparison.notes[0]}"
    blame = {"A": a.file, "B": b.file, "unknown": "nobody can be named"}
    counts = {name: sum(difference.culprit == name for difference in found) for name in blame}
    told = ", ".join(f"{blame[name]}: {count}" for name, count in counts.items() if count)
    return f"differs: {len(found)} differences, {comparison.shared} events in common; at fault: {told}"


def _text(comparison: Comparison) -> str:
    lines = [headline(comparison), f"A is {comparison.a.file}, B is {comparison.b.file}, as {comparison.mode}"]
    lines += [f"note: {note}" for note in comparison.notes]
    lines += [_line(difference) for difference in comparison.differences]
    return "\n".join(printable(line) for line in lines) + "\n"


def _line(difference: Difference) -> str:
    who = "not known whose fault" if difference.culprit == "unknown" else f"by {difference.culprit}"
    number = f", number {difference.sequence}" if difference.sequence is not None and difference.event else ""
    event = f" {difference.event_type or 'event'} {difference.event}{number}" if difference.event else ""
    places = [f"{name} line {line}" for name, line in (("A", difference.line_a), ("B", difference.line_b)) if line]
    where = f" ({', '.join(places)})" if places else ""
    pointers = f" at {', '.join(difference.pointers)}" if difference.pointers else ""
    return f"{difference.kind} {who}:{event}{where}{pointers}: {difference.why}"


def _json(comparison: Comparison) -> str:
    document = {
        "diff": "1",
        "mode": comparison.mode,
        "exit_code": comparison.exit_code,
        "a": _side(comparison.a),
        "b": _side(comparison.b),
        "shared": comparison.shared,
        "notes": list(comparison.notes),
        "differences": [_difference(difference) for difference in comparison.differences],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _side(side: Side) -> dict[str, Any]:
    protocol = side.protocol.id if side.protocol else None
    return {"file": side.file, "protocol": protocol, "lines": side.lines, "events": len(side.events)}


def _difference(difference: Difference) -> dict[str, Any]:
    names = ("kind", "culprit", "why", "event", "event_type", "sequence", "line_a", "line_b")
    data = {name: getattr(difference, name) for name in names}
    return {**data, "pointers": list(difference.pointers), "fails": difference.fails}
