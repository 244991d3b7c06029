"""Streamed text of agent-threads takes the short way too, and the report is the one of the long way."""

import json
import re
from pathlib import Path

import pytest

import validator
from tests.properties.shortened import judged
from tests.properties.stretched import STORED, StretchingThreads
from validator import echo, engine, resources
from validator.engine import Options
from validator.protocol.protocol import load_protocol
from validator.protocol.view import view
from validator.replay import world
from validator.varying import _declared

OPTIONS = Options(protocol="agent-threads")
PATHS = [
    *sorted(resources.fixtures().glob("agent-threads/*/golden/*.ndjson")),
    *sorted(resources.fixtures().glob("agent-threads/*/rules/*/*.ndjson")),
]


def both(monkeypatch, data, options=OPTIONS):
    """The report with the short way, which has to be the one without."""
    report = judged(monkeypatch, data, "auto", options)
    assert report == judged(monkeypatch, data, "off", options)
    return report


@pytest.mark.parametrize("turn", range(6))
def test_the_short_way_leads_to_the_same_report(turn, monkeypatch, taken):
    monkeypatch.setattr(echo, "SEVERAL", 1 + turn % 3)
    for path in PATHS[turn % 3 :: 3]:
        data = b"\n".join(StretchingThreads(f"{path.name} {turn}").lines(path.read_bytes().splitlines())) + b"\n"
        assert judged(monkeypatch, data, "auto", OPTIONS) == judged(monkeypatch, data, "off", OPTIONS), path
    assert len(taken) > 150


@pytest.mark.parametrize("few", [1, 2, 7, 20])
def test_the_short_way_may_begin_at_any_line(few, monkeypatch, taken):
    monkeypatch.setattr(engine, "FEW", few)
    for path in PATHS[few % 4 :: 4]:
        data = b"\n".join(StretchingThreads(path.name).lines(path.read_bytes().splitlines())) + b"\n"
        assert judged(monkeypatch, data, "auto", OPTIONS) == judged(monkeypatch, data, "off", OPTIONS), path
    assert taken


@pytest.mark.parametrize("recent", [3, 5, 12, 40])
def test_what_is_over_is_forgotten_at_the_same_line(recent, monkeypatch, taken):
    monkeypatch.setattr(world, "RECENT", recent)
    for path in PATHS[recent % 4 :: 4]:
        lines = path.read_bytes().splitlines()
        data = b"\n".join(StretchingThreads(path.name, longest=60).lines(lines)) + b"\n"
        assert judged(monkeypatch, data, "auto", OPTIONS) == judged(monkeypatch, data, "off", OPTIONS), path
    assert taken


RUN = "01KJQ6PSQTWYV60MVF9JVA2A0W"
HEAD = {"runId": RUN, "threadId": "t1", "streamId": f"run:{RUN}", "forkFromMessageId": None, "messageCount": 0}
BEGUN = {"record": "run", **HEAD, "status": "streaming", "createdAt": "2026-03-02T12:00:00.250Z", "finishedAt": None}


def piece(sequence, text, kind="text-delta", stream=f"run:{RUN}"):
    (name,) = STORED[kind]
    stamp = f"2026-03-02T12:{sequence // 60 % 60:02d}:{sequence % 60:02d}.000Z"
    return {"seq": sequence, "timestamp": stamp, "streamId": stream, "event": {"kind": kind, "payload": {name: text}}}


def written(*lines):
    """A run at work, and some lines."""
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in (BEGUN, *lines))


def talk(count, odd=None, place=0):
    """Pieces of text, of which one is replaced by another line."""
    return [odd if odd and number == place else piece(number, "few words ") for number in range(1, count + 1)]


@pytest.mark.parametrize("kind", sorted(STORED))
def test_text_takes_the_short_way_from_its_third_piece_on(kind, monkeypatch, taken):
    report = both(monkeypatch, written(*[piece(number, "few words ", kind) for number in range(1, 41)]))
    assert len(taken) == 38
    assert (report.lines, report.events) == (41, 40)
    assert "ATH012" in report.looks


ODD = {
    "a leak": piece(20, "see /home/alice/notes"),
    "an escape that leaks": piece(20, "see \\u002fhome\\u002falice/notes"),
    "a mark": piece(20, "[redacted]"),
    "nothing": piece(20, ""),
    "a gap": piece(25, "few words "),
    "the same place again": piece(19, "few words "),
    "another text at the same place": piece(19, "other words "),
    "an earlier time": {**piece(20, "few words "), "timestamp": "2026-03-02T11:00:00.000Z"},
    "an id of its own": {**piece(20, "few words "), "event_id": "e1"},
    "a key beside the text": {**piece(20, ""), "event": {"kind": "text-delta", "payload": {"delta": "a", "acme": 1}}},
    "a text that is none": {**piece(20, ""), "event": {"kind": "text-delta", "payload": {"delta": 7}}},
    "another kind": {**piece(20, ""), "event": {"kind": "acme-note", "payload": {"delta": "a"}}},
    "an end": {**BEGUN, "status": "failed", "finishedAt": "2026-03-02T12:00:21.000Z"},
}


@pytest.mark.parametrize("odd", sorted(ODD))
def test_an_odd_line_goes_the_long_way(odd, monkeypatch, taken):
    lines = written(*talk(60, ODD[odd], 20)).splitlines()
    both(monkeypatch, b"\n".join(lines) + b"\n")
    assert taken[:17] == lines[3:20]
    assert taken[17:18] != lines[20:21]


def test_an_id_that_only_a_vendor_gives_tells_events_apart(monkeypatch, taken):
    """Two events with one id are one event told twice, or a fault; so they have to be looked at."""
    lines = [{**line, "event_id": "e1"} for line in talk(20)]
    report = both(monkeypatch, written(*lines))
    assert not taken
    assert report.findings


def test_streams_may_be_interleaved(monkeypatch, taken):
    other = [piece(number, "other words ", stream="run:01KJQ6PSQTWYV60MVF9JVA2A0X") for number in range(1, 41)]
    lines = [line for pair in zip(talk(40), other, strict=True) for line in pair]
    assert not both(monkeypatch, written(*lines)).findings
    assert len(taken) == 2 * 38


def test_a_view_and_a_transcript_hold_all_of_the_text(monkeypatch, taken):
    """Every piece is kept: one that is left out of a transcript is missed, wherever it stood."""
    lines = [*talk(30), piece(31, "and so on ", "reasoning"), *(piece(number, "more ") for number in range(32, 52))]
    record = {**BEGUN, "status": "committed", "finishedAt": "2026-03-02T12:02:00.000Z", "messageCount": 1}
    parts = [
        {"type": "text", "text": "few words " * 30},
        {"type": "reasoning", "text": "and so on "},
        {"type": "text", "text": "more " * 20},
    ]
    view = {name: record[name] for name in ("runId", "threadId", "streamId", "forkFromMessageId", "status")}
    view |= {"createdAt": record["createdAt"], "finishedAt": record["finishedAt"], "messageCount": 1}
    for missing, found in ((0, set()), (1, {"ATH017", "SNP024"})):
        told = [*parts[:2], {"type": "text", "text": "more " * (20 - missing)}]
        message = {"id": "01KJQ6PSQTWYV60MVF9JVA2A1A", "parentMessageId": None, "role": "assistant", "parts": told}
        message |= {"createdAt": record["finishedAt"], "metadata": {"schemaVersion": 1}}
        served = {"threadId": "t1", "branch": "all", "messages": [message]}
        seen = {**view, "supersededBy": None, "lastSeq": 51, "pendingToolCallIds": ["c1"] * missing}
        shown = [("transcript", served), ("run_view", seen)]
        snapshots = [{"record": "snapshot", "model": model, "snapshot": document} for model, document in shown]
        assert both(monkeypatch, written(*lines, record, *snapshots)).counts.keys() == found
        assert len(taken) > 40
        taken.clear()


@pytest.mark.parametrize("kind", sorted(STORED))
def test_what_fills_a_hole_is_bound_by_no_schema(kind):
    protocol = load_protocol("agent-threads")
    payload = view(protocol.store, protocol.events[kind]).at("event.payload")
    for name in STORED[kind]:
        parts = payload.properties()[name].parts
        assert {keyword for part in parts for keyword in part.schema} <= {"type", "description"}


def test_what_rules_read_of_a_line_is_declared():
    """What no schema declares may differ from piece to piece, so no rule may read it."""
    protocol, read = load_protocol("agent-threads"), set()
    for path in sorted(Path(validator.__file__).parent.rglob("*.py")):
        if "agent_threads" in {*path.parts, path.stem}:
            text = path.read_text(encoding="utf-8")
            read |= set(re.findall(r'(?:line|event|document)(?:\.get\(|, )"(\w+)"', text))
    assert {"streamId", "runId", "event"} <= read
    assert not {name for name in read if name not in _declared(protocol.store)}
