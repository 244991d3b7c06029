"""A replay as JSON or text; everything in it is masked. The shape of the JSON is published in `schemas/replay/1`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from validator import redact
from validator.protocol.protocol import Protocol
from validator.renderers.masking import masked
from validator.replay.run import Replayed


def as_data(replayed: Replayed) -> dict[str, Any]:
    """A replay as plain data, masked."""
    protocol, canaries = replayed.protocol, replayed.canaries

    def clean(value: Any) -> Any:
        return masked(value, protocol, canaries) if isinstance(protocol, Protocol) else value

    models: dict[str, list[Any]] = {}
    for document in replayed.documents:
        models.setdefault(document.model, []).append(clean(document.body))
    stream = replayed.stream
    return {
        "replay": "1",
        "file": replayed.file,
        "protocol": protocol.id if protocol else None,
        "at": {
            "line": replayed.line,
            "stream": redact.mask(stream, canaries) if stream is not None else None,
            "sequence": replayed.sequence,
        },
        "lines": replayed.lines,
        "events": replayed.events,
        "unreadable_lines": replayed.unreadable,
        "refused_moves": replayed.refused,
        "cut": replayed.cut,
        "states": {name: clean(subjects) for name, subjects in replayed.states.items()},
        "doubted": {name: clean(list(keys)) for name, keys in replayed.doubted.items()},
        "models": models,
    }


def render_json(replayed: Replayed) -> str:
    return json.dumps(as_data(replayed), indent=2, ensure_ascii=False) + "\n"


def render_text(replayed: Replayed) -> str:
    return "\n".join(_text(as_data(replayed))) + "\n"


def _text(data: dict[str, Any]) -> Iterator[str]:
    if data["protocol"] is None:
        yield f"{data['file']}: no line names or looks like a protocol we know ({data['lines']} lines)"
        return
    yield f"{data['file']} ({data['protocol']}) after line {data['at']['line']} of {data['lines']}{_sequence(data)}"
    yield f"{data['events']} events"
    yield from _losses(data)
    for machine, subjects in data["states"].items():
        yield f"\n{machine}"
        doubted = frozenset(data["doubted"].get(machine, ()))
        for key, state in subjects.items():
            yield f"  {_printable(key)}: {state}{' (not heard of since a line was lost)' if key in doubted else ''}"
    for model, documents in data["models"].items():
        for document in documents:
            yield f"\n{model}"
            yield from (f"  {line}" for line in _lines(document))


def _sequence(data: dict[str, Any]) -> str:
    return f", sequence {data['at']['sequence']}" if data["at"]["sequence"] is not None else ""


def _losses(data: dict[str, Any]) -> Iterator[str]:
    if data["unreadable_lines"]:
        yield f"lines that could not be read: {data['unreadable_lines']}"
    if data["cut"]:
        yield "the last line is cut, or what follows it cannot be read"
    if data["refused_moves"]:
        yield f"illegal moves, which moved nothing: {data['refused_moves']}; `runtime-validate check` names them"


def _lines(document: dict[str, Any]) -> list[str]:
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=110).splitlines()


def _printable(text: str) -> str:
    return text if text.isprintable() else json.dumps(text)


RENDERERS: dict[str, Callable[[Replayed], str]] = {"json": render_json, "text": render_text}
