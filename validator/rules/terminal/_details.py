"""Asks an event for the details that a clause wants: each want is met by one of several places."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from validator.replay.step import Step
from validator.rules import Finding, Seen, finding, seen


def carries(step: Step, *places: str) -> bool:
    """True when the event states something in one of the places, an honest value included."""
    payload = step.line.get("payload")
    for place in places:
        # Most places are fields of the payload, and told.
        if type(payload) is dict and payload.get(place) is not None:
            return True
        if _at(step, place) is not None:
            return True
    return False


def _at(step: Step, place: str) -> object:
    top, _, rest = place.partition("/")
    if top == "^":
        return step.line.get(rest)
    value: object = step.line.get("payload")
    for name in place.split("/"):
        if not isinstance(value, dict):
            return None
        if value.keys() == {"honest", "reason"}:
            return value
        value = value.get(name)
    return value


def wanting(
    step: Step, clause: str, wants: dict[str, tuple[str, ...]], witness: Callable[[], tuple[int, ...]] = tuple
) -> Iterator[Finding | Seen]:
    """One look, and one finding that names every detail that is nowhere told."""
    yield seen(clause)
    missing = [name for name, places in wants.items() if not carries(step, *places)]
    if missing:
        yield finding(
            step,
            ", ".join(wants),
            f"no {', '.join(missing)}",
            pointer="/payload" if isinstance(step.line.get("payload"), dict) else "",
            clause=clause,
            witness=witness(),
            key=" ".join(missing),
        )
