"""The measured stream as other writers would write it, or with longer answers, and streams of other protocols."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from tests.bench import threads
from tests.bench.retold import retellings
from tests.bench.talk import lines, one_by_one
from validator.protocol.casing import to_camel
from validator.protocol.protocol import load_protocol

Event = dict[str, Any]
PIECES, ARGUMENTS = 300, 30
"""Pieces of a long answer, and of the arguments of a call."""
_WORDS = ("Prüfung", "läuft", "weiter", "größer", "你好", "мир", "café")


def writings(events: int) -> dict[str, Iterator[bytes]]:
    """The stream by how it is written."""
    return {
        "in camelCase": _told(events, _camel()),
        "with spaces": _told(events, lambda event, _: event, spaces=True),
        "times as +00:00": _told(events, lambda event, _: event | {"timestamp": event["timestamp"][:-1] + "+00:00"}),
        "text beyond ASCII, escaped": _told(events, _escaped, ascii_only=True),
        "pieces that are counted": _told(events, _counted),
        "a span and a duration on every line": _told(events, _traced),
        f"arguments in {ARGUMENTS} pieces": lines(events, ARGUMENTS),
        f"one session at a time, {PIECES} pieces an answer": one_by_one(events, PIECES),
    }


def lifecycles(events: int) -> dict[str, Iterator[bytes]]:
    """Streams of the other protocols: text of one, and whole stories of the others with their records."""
    told = {"agent-threads, streamed text": threads.lines(events)}
    return told | {f"{name}, stories": islice(retellings(name), events) for name in ("agenthub/1", "runagents/1")}


def _told(
    events: int, change: Callable[[Event, int], Event], *, spaces: bool = False, ascii_only: bool = False
) -> Iterator[bytes]:
    separators = (", ", ": ") if spaces else (",", ":")
    for number, line in enumerate(lines(events)):
        event = change(json.loads(line), number)
        yield json.dumps(event, separators=separators, ensure_ascii=ascii_only).encode() + b"\n"


def _camel() -> Callable[[Event, int], Event]:
    protocol = load_protocol("agent-runtime")
    return lambda event, _: to_camel(protocol.store, protocol.schema_for(event["type"]), event).document


def _escaped(event: Event, number: int) -> Event:
    if event["type"] == "model.delta":
        event["payload"]["delta"] = " ".join(_WORDS[(number + place) % len(_WORDS)] for place in range(4))
    return event


def _counted(event: Event, number: int) -> Event:
    if event["type"] == "model.delta":
        event["payload"]["index"] = number
    return event


def _traced(event: Event, number: int) -> Event:
    return {**event, "acme_span": f"{number * 2_654_435_761 % 2**32:08x}", "acme_ms": number * 37 % 1000}
