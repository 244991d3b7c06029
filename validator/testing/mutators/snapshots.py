"""Operators on snapshots: a read model that says something else than the stream before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validator.capture.lines import line_errors
from validator.protocol.honest import is_honest
from validator.protocol.protocol import Protocol
from validator.testing.mutators.free import ELSEWHERE, PARTLY, settled
from validator.testing.mutators.lines import Capture, leaves, put, without
from validator.testing.mutators.operator import Changed, named, operator
from validator.testing.mutators.order import replaced


def with_snapshots(capture: Capture, models: dict[str, list[dict[str, Any]]]) -> Capture:
    """A capture that ends with the read models it amounts to."""
    added = [
        {"record": "snapshot", "model": model, "snapshot": document}
        for model, documents in models.items()
        for document in documents
    ]
    return [*capture, *added]


def _served(capture: Capture, protocol: Protocol) -> Iterator[tuple[int, dict[str, Any], dict[str, Any]]]:
    """Position, line, and what of its document the stream settles."""
    for index, line in enumerate(capture):
        document = line.get("snapshot") if isinstance(line, dict) and line.get("record") == "snapshot" else None
        if isinstance(document, dict) and (protocol.name, line["model"]) not in ELSEWHERE:
            yield index, line, settled(protocol.name, line["model"], document)


def _other(value: Any) -> Any:
    """A value of the same kind that says something else; the value itself where there is none to make up."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    return f"{value}-other" if isinstance(value, str) and "_" in value and " " not in value else value


@operator("skew-a-snapshot", served=True)
def skew(capture: Capture, protocol: Protocol) -> Changed:
    """A field of a snapshot has another value than the stream gives it."""
    for index, line, told in _served(capture, protocol):
        for pointer, value in leaves(told, "/snapshot"):
            changed = put(line, pointer, _other(value))
            if changed != line and not line_errors(protocol, changed):
                yield f"{named(index, capture, protocol)} {pointer}", replaced(capture, index, changed)


@operator("drop-from-a-snapshot", served=True)
def forget(capture: Capture, protocol: Protocol) -> Changed:
    """An entry that the stream knows is missing from a list of a snapshot: an unresolved action, a queued turn."""
    for index, line, told in _served(capture, protocol):
        listed = PARTLY.get((protocol.name, line["model"]), ("",))[0]
        for pointer, entries in _lists(told, "/snapshot"):
            if pointer == f"/snapshot/{listed}":
                continue
            changed = without(line, f"{pointer}/{len(entries) - 1}")
            if not line_errors(protocol, changed):
                yield f"{named(index, capture, protocol)} {pointer}", replaced(capture, index, changed)


@operator("guess-in-a-snapshot", rules=("SNP001", "SNP002", "ATH021"), rare=True, served=True)
def guess(capture: Capture, protocol: Protocol) -> Changed:
    """A value that the stream does not give is made up in a snapshot instead of being called unknown."""
    for index, line, told in _served(capture, protocol):
        for pointer in _honest(told, "/snapshot"):
            for made_up in ("completed", "made up", 0, True):
                changed = put(line, pointer, made_up)
                if not line_errors(protocol, changed):
                    yield f"{named(index, capture, protocol)} {pointer}", replaced(capture, index, changed)
                    break


def _lists(value: Any, pointer: str) -> Iterator[tuple[str, list[Any]]]:
    if isinstance(value, list):
        if value:
            yield pointer, value
        for index, entry in enumerate(value):
            yield from _lists(entry, f"{pointer}/{index}")
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from _lists(entry, f"{pointer}/{key}")


def _honest(value: Any, pointer: str) -> Iterator[str]:
    if is_honest(value):
        yield pointer
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from _honest(entry, f"{pointer}/{key}")
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _honest(entry, f"{pointer}/{index}")
