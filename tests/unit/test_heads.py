"""A run record before its log is read where its time places it; any other record is read at its place."""

import io
import json

import pytest

from validator.capture.ndjson import Limits, Splitter
from validator.engine import Options, Validator, validate
from validator.protocol.protocol import load_protocol
from validator.replay import run as replaying
from validator.replay.heads import Heads
from validator.replay.world import World


def record(status, second, **more):
    times = {"created_at": "2026-07-01T10:00:01Z", "updated_at": f"2026-07-01T10:00:{second:02}Z"}
    return {"record": "run", "id": "r1", "agent_id": "a", "user_id": "u", "status": status, **times, **more}


def event(number, kind, run="r1"):
    stamp = f"2026-07-01T10:00:{number:02}Z"
    head = {"event_id": f"e{run}{number}", "run_id": run, "seq": number, "type": kind, "timestamp": stamp}
    return {**head, "actor": "a"}


LOG = [event(1, "RUN_CREATED"), event(2, "AGENT_MESSAGE"), event(3, "COMPLETED")]


def written(*documents):
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


def judged(*documents):
    report = validate(io.BytesIO(written(*documents)), "x", Options(protocol="runagents"))
    return [(finding.rule, finding.line) for finding in report.findings]


def order(*documents):
    """The lines in the order in which they are read, while the world follows."""
    world = World(load_protocol("runagents"))
    heads, found = Heads(world), []
    for line in Splitter(Limits()).feed(written(*documents)):
        for due in heads.due(line):
            world.apply(due.document, due.number)
            found.append(due.number)
    return found, [line.number for line in heads.rest()]


def test_a_final_record_before_its_log_is_read_at_the_end():
    assert order(record("COMPLETED", 3), *LOG) == ([2, 3, 4], [1])
    assert judged(record("COMPLETED", 3), *LOG) == []


def test_a_record_is_read_before_what_is_newer():
    assert order(record("FAILED", 2), *LOG) == ([2, 3, 1, 4], [])
    assert ("TRM001", 4) in judged(record("FAILED", 2), *LOG)


def test_a_record_older_than_the_whole_log_stands_where_it_is():
    assert order(record("PAUSED", 0), *LOG) == ([1, 2, 3, 4], [])


@pytest.mark.parametrize(
    "first",
    [
        record("RUNNING", 3),
        record("COMPLETED", 3, updated_at=None),
        record("COMPLETED", 3, id=7),
        {**record("COMPLETED", 3), "record": "reconnect"},
    ],
    ids=["running", "without-time", "without-name", "another-kind"],
)
def test_other_records_are_read_at_their_place(first):
    assert order(first, *LOG) == ([1, 2, 3, 4], [])


def test_a_record_of_a_run_that_was_heard_of_is_read_at_its_place():
    assert order(LOG[0], record("COMPLETED", 9), LOG[1]) == ([1, 2, 3], [])
    assert ("TRM001", 3) in judged(LOG[0], record("COMPLETED", 9), LOG[1])


def test_a_second_record_of_the_run_ends_the_waiting_of_the_first():
    assert order(record("COMPLETED", 5), record("RUNNING", 6)) == ([1, 2], [])
    assert ("TRM001", 2) in judged(record("COMPLETED", 5), record("RUNNING", 6))


def test_a_view_of_the_run_ends_it_too():
    view = {"record": "snapshot", "model": "run_view", "snapshot": {"run_id": "r1"}}
    assert order(record("COMPLETED", 5), view) == ([1, 2], [])


def test_an_event_without_a_time_ends_the_waiting():
    assert order(record("COMPLETED", 5), {**LOG[0], "timestamp": "soon"}) == ([1, 2], [])


def test_other_runs_and_other_records_leave_it_waiting():
    other, note = event(9, "RUN_CREATED", "r2"), {"record": "restart"}
    assert order(record("COMPLETED", 3), other, note, *LOG) == ([2, 3, 4, 5, 6], [1])


def test_events_in_an_envelope_count():
    wrapped = [{"event": entry} for entry in LOG]
    assert order(record("FAILED", 2), *wrapped) == ([2, 3, 1, 4], [])
    assert judged(record("COMPLETED", 3), *wrapped) == []


def test_what_cannot_be_read_passes():
    line = next(iter(Splitter(Limits()).feed(b"{\n")))
    assert list(Heads(World(load_protocol("runagents"))).due(line)) == [line]


def test_line_by_line_is_the_same_as_the_whole():
    documents = [record("FAILED", 3), *LOG]
    judge = Validator("x", Options(protocol="runagents"))
    for document in documents:
        judge.feed(json.dumps(document))
    assert [(finding.rule, finding.line) for finding in judge.close().findings] == judged(*documents) == [("TRM001", 1)]


@pytest.mark.parametrize(("at", "state"), [({}, "COMPLETED"), ({"line": 2}, "RUNNING"), ({"line": 1}, None)])
def test_a_replay_reads_it_there_too(at, state):
    told = written(record("COMPLETED", 3), *LOG[:2])
    found = replaying.replay(io.BytesIO(told), replaying.Options(protocol="runagents", **at))
    assert found.states.get("run", {}).get("r1") == state
