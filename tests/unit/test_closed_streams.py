"""What stays of a stream of agent-threads that is over."""

import pytest

from validator.protocol.protocol import load_protocol
from validator.replay import world as worlds
from validator.replay.readmodels.agent_threads import Closed, Reducer, Runs, Threads, content_of, digest_of
from validator.replay.world import World


def record(run, status, **more):
    base = {"record": "run", "runId": run, "threadId": "t", "streamId": f"run:{run}", "status": status}
    return {**base, "forkFromMessageId": None, "createdAt": "c", "finishedAt": None, "messageCount": 0, **more}


def said(run, sequence, text):
    event = {"kind": "user-message", "payload": {"content": text}}
    return {"seq": sequence, "timestamp": "t", "streamId": f"run:{run}", "event": event}


LINES = [
    record("r1", "streaming"),
    said("r1", 1, "one"),
    {"seq": 2, "timestamp": "t", "streamId": "run:r1", "event": {"kind": "tool-call", "payload": {"toolCallId": "c"}}},
    record("r1", "committed", messageCount=2),
    record("r2", "streaming"),
    *(said("r2", sequence, "two") for sequence in range(1, 5)),
]


@pytest.fixture
def told(monkeypatch):
    monkeypatch.setattr(worlds, "RECENT", 2)

    def make(kind, lines=LINES):
        world = World(load_protocol("agent-threads"), (kind,))
        for number, line in enumerate(lines, start=1):
            world.apply(line, number)
        return world.ledger(kind)

    return make


def test_a_stream_that_is_over_is_kept_by_digests_and_one_that_is_open_whole(told):
    runs = told(Runs)
    closed, open_stream = runs.reducer("r1"), runs.reducer("r2")
    assert (type(closed), type(open_stream)) == (Closed, Reducer)
    whole = told(Threads).reducer("r1")
    said, unfinished = whole.said_since(0)
    assert closed.said_since(0) == ([*said, unfinished], None)
    assert closed.count == whole.count == len(said) + 1
    assert (closed.last, list(closed.pending)) == (whole.last, list(whole.pending)) == (2, ["c"])
    assert runs.run_view("r1") == told(Threads).run_view("r1")


def test_an_event_after_the_end_makes_a_stream_unknown(told):
    runs = told(Runs, [*LINES, said("r1", 3, "late")])
    assert (runs.reducer("r1").whole, runs.reducer("r1").last) == (False, 3)
    assert list(runs.lines["run:r1"]) == [2, 3, len(LINES) + 1]


def test_equal_values_have_equal_digests():
    assert digest_of({"tokens": 3.0, "list": [1.5, 2.0]}) == digest_of({"list": [1.5, 2], "tokens": 3})
    assert digest_of(None) == 0
    assert content_of({"role": "user", "parts": []}) != content_of({"role": "tool", "parts": []})


def test_a_record_says_what_it_said(told):
    runs = told(Runs, [*LINES, {**record("r3", "failed", messageCount=True), "forkFromMessageId": 7}])
    kept = runs.record("r3")
    assert (kept.word("forkFromMessageId"), kept.number("messageCount"), kept["status"]) == (None, None, "failed")
    assert ("streamId" in kept, runs.places.of("r3")) == (True, ("t", 7))
    assert runs.places.at(runs.places.of("r1")) == ["r1", "r2"]
