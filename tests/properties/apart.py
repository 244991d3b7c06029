"""Captures of several sessions made of fixtures, and judges that take their sessions apart, all in one process."""

from __future__ import annotations

import functools
import json
import random
import re
from typing import Any

from validator import resources
from validator.apart import Reader
from validator.engine import Options, Validator
from validator.joining import InseparableError, agree
from validator.protocol.protocol import load_protocol
from validator.report import Report

CHUNK = 1 << 14
FIXTURES = sorted((resources.fixtures() / "agent-runtime" / "0.3").glob("**/*.ndjson"))
HEADER = {"record": "header", "capture": "1", "protocol": "agent-runtime", "version": "0.3"}
_ID = re.compile(r"_(?:id|ref)s?$")
_VALUES: tuple[Any, ...] = (
    *("x", None, 0, True, "/home/ann/x", "completed", "failed", "[REDACTED]"),
    *({"honest": "unknown", "reason": "r"}, [1]),
)


def together(raw: bytes, options: Options | None = None) -> Report:
    """The report of one judge."""
    validator = Validator("x", options)
    _feed(validator, raw)
    return validator.close()


def apart(raw: bytes, count: int, options: Options | None = None) -> Report | None:
    """The report of several judges of sessions; None when they say that they cannot be judged apart."""
    readers = [Reader("x", options or Options(), index, count) for index in range(count)]
    try:
        for reader in readers:
            _feed(reader, raw)
        seals = [reader.seal() for reader in readers]
        if not agree(seals, load_protocol("agent-runtime")):
            return None
        return readers[0].report_of([reader.finish(seals) for reader in readers])
    except InseparableError:
        return None


def _feed(validator: Validator, raw: bytes) -> None:
    for start in range(0, len(raw), CHUNK):
        validator.feed(raw[start : start + CHUNK])


def written(events: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode() + b"\n" for event in events)


@functools.cache
def events_of(path: Any) -> list[dict[str, Any]]:
    """The events of a fixture that name a session."""
    found = []
    for line in path.read_bytes().split(b"\n"):
        try:
            event = json.loads(line)
            json.dumps(event, ensure_ascii=False).encode()
        except ValueError:
            continue
        if isinstance(event, dict) and "record" not in event and isinstance(event.get("session_id"), str):
            found.append(event)
    return found


def ids(value: Any, key: str = "") -> set[str]:
    """Every text that stands where ids and references stand."""
    if isinstance(value, dict):
        return set().union(*(ids(entry, name) for name, entry in value.items()))
    if isinstance(value, list):
        return set().union(*(ids(entry, key) for entry in value))
    return {value} if isinstance(value, str) and _ID.search(key) else set()


def renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: renamed(entry, names) for key, entry in value.items()}
    if isinstance(value, list):
        return [renamed(entry, names) for entry in value]
    return names.get(value, value) if isinstance(value, str) else value


def told_again(events: list[dict[str, Any]], mark: str, shared: set[str] = frozenset()) -> list[dict[str, Any]]:
    """A story under other ids, except those that are shared."""
    names = {name: name + mark for event in events for name in ids(event) if name not in shared}
    return [renamed(event, names) for event in events]


def interleaved(stories: list[list[dict[str, Any]]], choose: random.Random) -> list[dict[str, Any]]:
    waiting, found = [list(story) for story in stories if story], []
    while waiting:
        story = choose.choice(waiting)
        for _ in range(min(len(story), choose.randint(1, 4))):
            found.append(story.pop(0))
        if not story:
            waiting.remove(story)
    return found


def mixed(choose: random.Random, stories: int, share: float) -> list[dict[str, Any]]:
    """Some stories of the fixtures side by side, a part of whose ids they have in common."""
    told = []
    for number in range(stories):
        events = events_of(choose.choice(FIXTURES))
        common = {name for name in sorted(set().union(*map(ids, events))) if choose.random() < share}
        told.append(told_again(events, f"~{number}", common))
    return interleaved(told, choose)


def damaged(events: list[dict[str, Any]], choose: random.Random, times: int) -> list[dict[str, Any]]:
    """The same with lines left out, told twice, out of place, or with other values in them."""
    events = list(events)
    for _ in range(times if events else 0):
        place, kind = choose.randrange(len(events)), choose.randrange(6)
        event = json.loads(json.dumps(events[place]))
        body = event.get("payload")
        body = body if isinstance(body, dict) and body else event
        if kind == 0 and len(events) > 1:
            del events[place]
        elif kind == 1:
            events.insert(choose.randrange(place, len(events) + 1), event)
        elif kind == 2:
            other = choose.randrange(len(events))
            events[place], events[other] = events[other], events[place]
        elif kind == 3:
            body[choose.choice(sorted(body))] = choose.choice(_VALUES)
            events[place] = event
        elif kind == 4:
            del body[choose.choice(sorted(body))]
            events[place] = event
        else:
            events.insert(choose.randrange(len(events)), {**event, "event_id": f"{event.get('event_id')}x"})
    return events
