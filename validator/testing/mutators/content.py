"""Operators on what lines say: leaks, what was redacted, shapes, answers and approved payloads."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

from validator.capture.lines import line_errors
from validator.protocol.protocol import Protocol
from validator.redact import load_patterns
from validator.testing.mutators.causes import asks, replay
from validator.testing.mutators.lines import Capture, Line, events, leaves, put, without
from validator.testing.mutators.operator import Changed, named, operator
from validator.testing.mutators.order import replaced, says_prefix

CANARY = "canary-7f3e9b52c1"
STREAMED = ("delta", "output", "progress", "input", "args")
"""Events that repeat a key with ever new content."""
DIGESTS = ("payload_hash", "payloadHash")
_HASH = re.compile(r"(sha256:)?[0-9a-f]{64}")


def prose(line: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The strings of a line that are sentences: they hold a space."""
    for pointer, value in leaves(line):
        if isinstance(value, str) and " " in value.strip():
            yield pointer, value


def _examples(protocol: Protocol, *kinds: str) -> list[str]:
    """An example of every pattern that weighs MUST in the free text of a protocol."""
    rows = (row for row in load_patterns().rows if row.kind in kinds and row.hit)
    return [row.hit[0] for row in rows if row.level(protocol.name, "text") == "MUST"]


def _leak(capture: Capture, protocol: Protocol, words: list[str]) -> Changed:
    """Each sentence of the capture with the next of the words behind it."""
    count = 0
    for index, event in events(capture):
        for pointer, text in prose(event) if words else ():
            changed = put(event, pointer, f"{text} {words[count % len(words)]}")
            count += 1
            if not line_errors(protocol, changed):
                yield f"{named(index, capture, protocol)} {pointer}", replaced(capture, index, changed)


@operator("leak-a-path", rules=("RED001", "RED002", "RED011"))
def leak_path(capture: Capture, protocol: Protocol) -> Changed:
    """A path of somebody's machine stands in a sentence."""
    yield from _leak(capture, protocol, _examples(protocol, "path"))


@operator("leak-a-key", rules=("RED003", "RED008", "RED009", "RED012", "RAG017"))
def leak_key(capture: Capture, protocol: Protocol) -> Changed:
    """A secret stands in a sentence."""
    yield from _leak(capture, protocol, _examples(protocol, "secret", "url"))


@operator("leak-a-canary", rules=("RED005",))
def leak_canary(capture: Capture, protocol: Protocol) -> Changed:
    """A value that the header declares as a canary stands in a sentence."""
    header = capture[0]
    if isinstance(header, dict) and header.get("record") == "header":
        declared = [{**header, "canaries": [*header.get("canaries", ()), CANARY]}, *capture[1:]]
        yield from _leak(declared, protocol, [CANARY])


@operator("un-redact", rules=("RED007", "RED012"), rare=True)
def unredact(capture: Capture, protocol: Protocol) -> Changed:
    """What one event of a subject hides stands in plain text in the next one of the same subject."""
    hiding: dict[str, tuple[int, str, Any]] = {}
    for index, event in events(capture):
        family = protocol.family_of.get(protocol.type_of(event) or "")
        owners = (machine.subject[0][0] for machine in protocol.machines.values() if family in machine.owns)
        subject = next((key for key in map(protocol.lens.scope(event).get, owners) if key), None)
        if subject is None or (protocol.type_of(event) or "").endswith(STREAMED):
            continue
        if subject in hiding:
            first, pointer, value = hiding.pop(subject)
            lines = replaced(capture, first, put(capture[first], pointer, "[redacted]"))
            where = f"{named(index, capture, protocol)} {pointer}"
            yield where, replaced(lines, index, put(event, pointer, value))
        hidden = ((p, v) for p, v in leaves(event) if p.startswith("/payload/safe_args/") and isinstance(v, str) and v)
        for pointer, value in itertools.islice(hidden, 1):
            hiding[subject] = (index, pointer, value)


@operator("break-a-shape", rules=("SCH001",))
def break_shape(capture: Capture, protocol: Protocol) -> Changed:
    """A value is of another type than its schema says."""
    for index, event in events(capture):
        for pointer, value in leaves(event):
            changed = put(event, pointer, {"not": "this"} if not isinstance(value, str) else 17)
            if line_errors(protocol, changed):
                yield f"{named(index, capture, protocol)} {pointer}", replaced(capture, index, changed)


@operator("leave-out-a-field", rules=("SCH001", "CMD020"))
def leave_out(capture: Capture, protocol: Protocol) -> Changed:
    """A field is left out that the schema of the line requires; in a request, the answer should have refused it."""
    for index, line in enumerate(capture):
        for pointer, _ in leaves(line) if isinstance(line, dict) else ():
            changed = without(line, pointer)
            if changed != line and "type" not in pointer and line_errors(protocol, changed):
                yield f"{named(index, capture, protocol)} {pointer}", replaced(capture, index, changed)


@operator("drop-an-answer", rules=("CMD001",), rare=True)
def drop_answer(capture: Capture, protocol: Protocol) -> Changed:
    """A command is never answered, although others are."""
    answers = [index for index, line in enumerate(capture) if _record(line) == "result"]
    for index in answers if len(answers) > 1 and not says_prefix(capture) else ():
        yield named(index, capture, protocol), replaced(capture, index)


def _record(line: Line) -> Any:
    return line.get("record") if isinstance(line, dict) else None


@operator("answer-by-nobody", rules=("GOV001",), rare=True)
def answer_by_nobody(capture: Capture, protocol: Protocol) -> Changed:
    """An action is answered, and the command that was sent at that time only asked for the session."""
    for index, line in enumerate(capture):
        if isinstance(line, dict) and line.get("record") == "command" and line.get("command") == "respond_action":
            session = next((word for _, e in events(capture) if (word := protocol.lens.get(e, "session_id"))), None)
            asked = {**line, "command": "get_session", "request": {"session_id": session}}
            kept = [entry for entry in replaced(capture, index, asked) if entry == asked or not _answers(entry, line)]
            yield named(index, capture, protocol), kept


def _answers(line: Line, command: dict[str, Any]) -> bool:
    return isinstance(line, dict) and line.get("command_id", "") == command.get("command_id")


@operator("change-the-payload-after-approval", rare=True)
def change_payload(capture: Capture, protocol: Protocol) -> Changed:
    """After somebody was asked, the digest of what is to run is another one."""
    seen: set[str] = set()
    asked = False
    for index, step in enumerate(replay(capture, protocol)):
        found = [(p, v) for p, v in leaves(step.line) if p.endswith(DIGESTS) and isinstance(v, str)]
        for pointer, value in found if asked else ():
            if value in seen and _HASH.fullmatch(value):
                other = value[:-4] + ("0000" if not value.endswith("0000") else "1111")
                changed = put(step.line, pointer, other)
                yield f"{named(index, capture, protocol)} {pointer}", replaced(capture, index, changed)
        seen |= {value for _, value in found}
        asked = asked or any(asks(protocol, move) for move in step.moves)
