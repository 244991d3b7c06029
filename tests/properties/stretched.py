"""Captures in which streamed text goes on for longer: each piece is followed by more, most of them harmless.

Text comes in at any place of a story, about whatever the line before is about; some of it leaks, hides, repeats an id,
jumps, runs back in time or is written with other spaces. So reports are full of findings, which is the point. Some
captures tell the time of another zone, escape whatever is not ASCII, count their pieces or add fields of a vendor.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

from validator.streamed import STREAMED

FIELDS, STORED = (STREAMED[name].types for name in ("agent-runtime", "agent-threads"))
COUNTED = STREAMED["agent-runtime"].counted
_PLAIN = ("more words ", "a line\n", "ünï ", 'they said "yes" ', "docs\\guide ", "see https://x.example/a/b?c=1 ")
_ODD = (
    "/home/alice/notes.txt",
    "C:\\Users\\bob\\x",
    "removed 3 files",
    "***",
    "[redacted]",
    "",
    "unknown",
    "\u2028",
    "x" * 300,
    "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8",
)
_ADDED = (
    *("0123abcd", "span 7", "ünï", "unknown", "docs/guide.md"),
    *(7, 12, -3, 2**60, 0, 0.25, 1715158200.125, 1e-9, True, None),
)
_ODDLY_ADDED = (*_ODD, "a\\b", {"honest": "unknown", "reason": "Nobody counts."}, ["a"], {"span": "s"})
_START = {"text": "some words", "grows": 0, "size": 10}


class _Drawing:
    """What is drawn; the same name always gives the same."""

    def __init__(self, name: str, longest: int):
        self._random, self._longest = random.Random(name), longest
        self._shift: dict[str, int] = {}
        """By stream, how many lines were put in."""

    def _happens(self, share: float) -> bool:
        return self._random.random() < share


class Stretching(_Drawing):
    """One capture on its way; the same name always gives the same bytes."""

    def __init__(self, name: str, longest: int = 20):
        super().__init__(name, longest)
        self._zone = self._random.choice(("Z", "Z", "+00:00", "-03:30"))
        self._escapes = self._random.choice((False, False, True))
        self._counts = self._random.choice((False, True))
        self._adds = self._random.choice((0, 0, 1, 3))
        self._ids: list[dict[str, str]] = []

    def lines(self, lines: list[bytes]) -> Iterator[bytes]:
        """The lines of a capture, with more text in between."""
        for line in lines:
            event = _event(line)
            if event is None:
                yield line
                continue
            event["sequence"] += self._shift.get(event["session_id"], 0)
            yield self._written(event)
            if event.get("type") not in FIELDS and self._happens(0.3):
                event = self._begun(event)
                yield self._written(event)
            if event.get("type") in FIELDS and isinstance(event.get("payload"), dict):
                yield from self._more(event, lines)

    def _begun(self, event: dict[str, Any]) -> dict[str, Any]:
        """A first piece of text about what an event is about, or about something else."""
        named = {name: value for name, value in event.items() if name.endswith("_id") and isinstance(value, str)}
        ids = {name: value for name, value in named.items() if name != "event_id"}
        if self._ids and self._happens(0.5):
            ids = {**self._random.choice(self._ids), **ids}
        self._ids.append(ids)
        kind = self._random.choice((*sorted(FIELDS), "reasoning.delta"))
        text = self._random.choice([name for name, what in FIELDS[kind].items() if what == "text"])
        beside = {name: what for name, what in FIELDS[kind].items() if what != "text" and self._happens(0.7)}
        payload = {name: _START[what] for name, what in {text: "text", **beside}.items()}
        return self._following(event, 0) | {"type": kind, **ids, "payload": payload}

    def _more(self, event: dict[str, Any], lines: list[bytes]) -> Iterator[bytes]:
        for count in range(self._random.randint(0, self._longest)):
            piece = self._following(copy.deepcopy(event), count)
            self._fill(piece, event["payload"], count)
            yield self._written(piece)
            if self._happens(0.03):
                yield self._random.choice([*lines, b'{"cut', self._written(piece)])

    def _following(self, event: dict[str, Any], count: int) -> dict[str, Any]:
        """An event that comes after another, usually as it should."""
        self._shift[event["session_id"]] = self._shift.get(event["session_id"], 0) + 1
        kept = {name: event[name] for name in ("timestamp", "session_id")}
        if self._happens(0.01):
            kept["timestamp"] = "2020-01-01T00:00:00.000Z"
        own = event.get("event_id") if self._happens(0.01) else f"{event.get('event_id')}.{count}"
        step = self._random.choice((0, 3)) if self._happens(0.01) else 1
        return {**event, **kept, "event_id": own, "sequence": event["sequence"] + count + step}

    def _fill(self, piece: dict[str, Any], before: dict[str, Any], count: int) -> None:
        text = self._random.choice(_ODD if self._happens(0.08) else _PLAIN)
        sizes = {"text": text, "size": len(text.encode()), "grows": 10 * count + 10}
        for name, what in FIELDS[piece["type"]].items():
            if isinstance(before.get(name), type(sizes[what])) and not self._happens(0.03):
                piece["payload"][name] = sizes[what] + before[name] if what == "grows" else sizes[what]

        for name in COUNTED.get(piece["type"], ()) if self._counts else ():
            odd = self._random.choice((-1, "one", 1.5, True))
            piece["payload"][name] = odd if self._happens(0.03) else count
        self._add(piece)

    def _add(self, piece: dict[str, Any]) -> None:
        """Adds what a vendor tells with each piece: usually the same kinds of things."""
        for number in range(self._adds):
            kind = _ADDED[number * 5] if not self._happens(0.02) else self._random.choice(_ADDED)
            told = self._random.choice([one for one in _ADDED if type(one) is type(kind)])
            told = self._random.choice(_ODDLY_ADDED) if self._happens(0.03) else told
            piece["acme"] = {**piece.get("acme", {}), f"told{number}": told}
        if self._adds and self._happens(0.02):
            piece[self._random.choice(("acme_job_id", "status", "x_more", "title"))] = self._random.choice(_PLAIN)

    def _written(self, event: dict[str, Any]) -> bytes:
        spaces = (", ", ": ") if self._happens(0.01) else (",", ":")
        stamp = event["timestamp"]
        if isinstance(stamp, str) and stamp.endswith("Z"):
            event = {**event, "timestamp": stamp[:-1] + self._zone}
        written = json.dumps(event, ensure_ascii=self._escapes, separators=spaces)
        return (written.replace("/", "\\/") if self._escapes else written).encode("utf-8", "surrogatepass")


class StretchingThreads(_Drawing):
    """The same of a capture of agent-threads, whose events have no ids, and keep text and type one level deeper."""

    def __init__(self, name: str, longest: int = 20):
        super().__init__(name, longest)
        self._escapes = self._random.choice((False, False, True))
        self._adds = self._random.choice((0, 0, 1, 2))

    def lines(self, lines: list[bytes]) -> Iterator[bytes]:
        """The lines of a capture, with more text in between."""
        for line in lines:
            event = _stored(line)
            if event is None:
                yield line
                continue
            event["seq"] += self._shift.get(event["streamId"], 0)
            yield self._written(event)
            kind = event["event"].get("kind")
            if kind in STORED or self._happens(0.4):
                yield from self._more(event, kind if kind in STORED else self._random.choice(sorted(STORED)), lines)

    def _more(self, event: dict[str, Any], kind: str, lines: list[bytes]) -> Iterator[bytes]:
        (name,), stream, last = STORED[kind], event["streamId"], event["seq"]
        for count in range(self._random.randint(0, self._longest)):
            self._shift[stream] = self._shift.get(stream, 0) + 1
            text = self._random.choice(_ODD if self._happens(0.06) else _PLAIN)
            step = self._random.choice((0, 3)) if self._happens(0.01) else 1
            told = {"kind": kind, "payload": {name: text}}
            piece = {**event, "seq": last + count + step, "event": told}
            if self._happens(0.01):
                piece["timestamp"] = "2020-01-01T00:00:00.000Z"
            self._add(piece)
            yield self._written(piece)
            if self._happens(0.03):
                yield self._random.choice([*lines, b'{"cut', self._written(piece)])

    def _add(self, piece: dict[str, Any]) -> None:
        """Adds what a vendor tells with each piece, and now and then what may be something else."""
        for number in range(self._adds):
            told = self._random.choice(_ODDLY_ADDED if self._happens(0.03) else ("0123abcd", "span 7", "ünï"))
            piece["acme"] = {**piece.get("acme", {}), f"told{number}": told}
        if self._happens(0.02):
            piece[self._random.choice(("event_id", "threadId", "runId", "type", "acmeMore"))] = "e1"
        if self._happens(0.01):
            inside = self._random.choice((piece["event"], piece["event"]["payload"]))
            inside["acme"] = self._random.choice(_PLAIN)

    def _written(self, event: dict[str, Any]) -> bytes:
        spaces = (", ", ": ") if self._happens(0.01) else (",", ":")
        written = json.dumps(event, ensure_ascii=self._escapes, separators=spaces)
        return written.encode("utf-8", "surrogatepass")


def _stored(line: bytes) -> dict[str, Any] | None:
    """A line as a stored event that is counted; None for any other."""
    try:
        event = json.loads(line)
    except ValueError:
        return None
    known = isinstance(event, dict) and "record" not in event and isinstance(event.get("streamId"), str)
    return event if known and type(event.get("seq")) is int and isinstance(event.get("event"), dict) else None


def _event(line: bytes) -> dict[str, Any] | None:
    """A line as an event of a session that is counted; None for any other."""
    try:
        event = json.loads(line)
    except ValueError:
        return None
    known = isinstance(event, dict) and "record" not in event and isinstance(event.get("session_id"), str)
    return event if known and type(event.get("sequence")) is int and "timestamp" in event else None
