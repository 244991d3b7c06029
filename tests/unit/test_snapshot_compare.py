"""What counts as a difference between a served document and the replay, and what is only to know less."""

import pytest

from validator.protocol.protocol import load_protocol
from validator.replay.readmodels.agent_runtime.records import UNWATCHED, shape_of
from validator.rules.snapshot._compare import compare

UNKNOWN = {"honest": "unknown", "reason": "not kept"}


def told(expected, served, restarted=False, model="thread_read_model"):
    found = compare(expected, served, shape_of(load_protocol("agent-runtime"), model), restarted)
    return [(entry.kind, entry.pointer, entry.expected, entry.actual) for entry in found]


def calls(*statuses):
    return {"tool_calls": [{"tool_call_id": f"x{at}", "status": status} for at, status in enumerate(statuses, 1)]}


@pytest.mark.parametrize(
    ("expected", "served"),
    [
        ({"title": "A"}, {"title": UNKNOWN}),
        ({"title": "A"}, {"title": "stale"}),
        ({"title": "A"}, {}),
        ({"title": UNWATCHED}, {"title": "B"}),
        ({"title": "A"}, {"title": "A", "vendor_note": "B"}),
        ({"updated_at": "2026-05-08T09:00:00Z"}, {"updated_at": "2026-05-08T11:00:00+02:00"}),
        (calls("running"), calls("blocked")),
        (calls("running"), {"tool_calls": [{"status": "failed"}]}),
        ({"job_ids": ["a", "b"]}, {"job_ids": ["a", "b"]}),
    ],
)
def test_to_know_less_is_no_difference(expected, served):
    assert told(expected, served) == []


@pytest.mark.parametrize(
    ("expected", "served", "found"),
    [
        ({"title": "A"}, {"title": "B"}, ("value", "/title", "another value", "another value")),
        ({"title": "A"}, {"title": "blocked"}, ("value", "/title", "another value", "another value")),
        ({"status": "idle"}, {"status": "blocked"}, ("value", "/status", "idle", "blocked")),
        ({"status": "idle"}, {"status": "lost"}, ("value", "/status", "idle", "lost")),
        ({"title": None}, {"title": "B"}, ("more", "/title", "nothing", "another value")),
        ({"title": UNKNOWN}, {"title": "B"}, ("more", "/title", "unknown", "another value")),
        ({"status": "stale"}, {"status": "idle"}, ("more", "/status", "stale", "idle")),
        ({"updated_at": "x"}, {"updated_at": "y"}, ("value", "/updated_at", "another value", "another value")),
        (calls("running"), calls("failed"), ("value", "/tool_calls/0/status", "running", "failed")),
        (calls("running"), {"tool_calls": []}, ("dropped", "/tool_calls", "every entry", "one is missing")),
        (calls("running"), calls("running", "failed"), ("more", "/tool_calls/1", "no such entry", "an entry")),
        ({"job_ids": ["a", "b"]}, {"job_ids": ["b"]}, ("dropped", "/job_ids", "every entry", "one is missing")),
        ({"job_ids": ["a", "a"]}, {"job_ids": ["a"]}, ("dropped", "/job_ids", "2 entries", "1")),
        ({"job_ids": ["a"]}, {"job_ids": ["a", "a"]}, ("more", "/job_ids", "1 entries", "2")),
        (
            {"job_ids": ["a", "b"]},
            {"job_ids": ["b", "a"]},
            ("order", "/job_ids", "the order of the stream", "another order"),
        ),
    ],
)
def test_another_word_is_a_difference(expected, served, found):
    assert told(expected, served) == [found]


def test_an_entry_without_its_id_leaves_open_which_one_is_missing():
    served = {"tool_calls": [{"status": "failed"}, {"tool_call_id": "x2", "status": "failed"}]}
    assert told(calls("running", "running"), served) == [("value", "/tool_calls/1/status", "running", "failed")]


@pytest.mark.parametrize(("status", "count"), [("running", 0), ("completed", 1), ("archived", 1)])
def test_a_restart_makes_room_for_lost_where_work_was_open(status, count):
    assert len(told({"status": status}, {"status": "lost"}, restarted=True)) == count


def test_true_is_not_one():
    assert told({"history_truncated": True}, {"history_truncated": 1}, model="session_snapshot") == [
        ("value", "/history_truncated", "true", "1")
    ]


def test_an_entry_is_named_by_its_id_and_a_word_by_its_list():
    shape = shape_of(load_protocol("agent-runtime"), "thread_read_model")
    dropped = compare(calls("failed"), {"tool_calls": []}, shape)[0]
    assert (dropped.entity, dropped.states) == (("tool_call_id", "x1"), ("failed", None))
    assert dropped.names == ("tool_calls",)
    word = compare({"job_ids": ["a"]}, {"job_ids": ["b"]}, shape)[0]
    assert (word.entity, word.states) == (("job_id", "a"), (None, None))
    more = compare({"tool_calls": []}, calls("failed"), shape)[0]
    assert (more.entity, more.states) == (("tool_call_id", "x1"), (None, "failed"))
