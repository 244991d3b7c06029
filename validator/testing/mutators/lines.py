"""Captures as lists of lines that a mutator can change, and JSON pointers into them.

A line is a dict where it could be read as an object, else the bytes that stood there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from validator.protocol.protocol import Protocol

Line = dict[str, Any] | bytes
Capture = list[Line]


def parse(data: bytes) -> Capture:
    """The lines of a capture; what is no plain JSON object stays as it is."""
    return [_line(raw) for raw in data.removesuffix(b"\n").split(b"\n")]


def _line(raw: bytes) -> Line:
    try:
        document = json.loads(raw)
    except ValueError:
        return raw
    return document if isinstance(document, dict) and render([document]) == raw + b"\n" else raw


def render(lines: Iterable[Line]) -> bytes:
    """The bytes of a capture; a last line that could not be read is one that was cut, so no line feed ends it."""
    held = list(lines)
    raw = [line if isinstance(line, bytes) else text_of(line).encode() for line in held]
    return b"\n".join(raw) + (b"\n" if held and isinstance(held[-1], dict) else b"")


def text_of(document: dict[str, Any]) -> str:
    """One line of a capture, without its line feed."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def events(capture: Capture) -> Iterator[tuple[int, dict[str, Any]]]:
    """The events of a capture with their positions."""
    for index, line in enumerate(capture):
        if isinstance(line, dict) and "record" not in line:
            yield index, line


def parts(pointer: str) -> list[str]:
    """The steps of an RFC 6901 pointer."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def at(value: Any, pointer: str) -> Any:
    """The value at a pointer, or None."""
    for step in parts(pointer):
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def put(value: Any, pointer: str, new: Any) -> Any:
    """A copy of a document with another value at a pointer; objects on the way are made, `-` appends to a list."""
    steps = parts(pointer)
    if not steps:
        return new
    step, rest = steps[0], "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in steps[1:])
    if isinstance(value, list):
        index = len(value) if step == "-" else int(step)
        old = value[index] if index < len(value) else {}
        return [*value[:index], put(old, rest, new), *value[index + 1 :]]
    base = value if isinstance(value, dict) else {}
    return {**base, step: put(base.get(step), rest, new)}


def without(value: Any, pointer: str) -> Any:
    """A copy of a document without what stands at a pointer."""
    head, _, last = pointer.rpartition("/")
    parent = at(value, head)
    step = parts("/" + last)[0]
    if isinstance(parent, dict):
        kept: Any = {key: entry for key, entry in parent.items() if key != step}
    elif isinstance(parent, list) and step.isdigit():
        kept = [entry for index, entry in enumerate(parent) if index != int(step)]
    else:
        return value
    return put(value, head, kept)


def pointer_to(protocol: Protocol, name: str, line: dict[str, Any]) -> str | None:
    """Where a line keeps a field that the protocol's lens names, as a pointer."""
    for place in places(protocol, name):
        if at(line, place) is not None:
            return place
    return None


def places(protocol: Protocol, name: str) -> list[str]:
    """Every place at which a protocol keeps a field, as pointers; those with a prefix are left out."""
    entries = protocol.data["fields"].get(name, name)
    listed = entries if isinstance(entries, list) else [entries]
    return ["/" + entry.replace(".", "/") for entry in listed if isinstance(entry, str)]


def leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Every scalar of a document with its pointer; an empty list or object counts as one."""
    if isinstance(value, dict) and value:
        for key, entry in value.items():
            yield from leaves(entry, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list) and value:
        for index, entry in enumerate(value):
            yield from leaves(entry, f"{pointer}/{index}")
    else:
        yield pointer, value
