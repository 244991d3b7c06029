"""What a verdict takes grows with the events of a capture, and no faster, whatever they have in common.

Counted are the lines of our own code that are run, so that no clock is asked.
"""

import pytest

from tests.bench.work import work

FEW, TIMES = 300, 4
MOST = 4.2
"""How much more lines of code four times the events may take; what is found out once makes it less than four."""


def event(number, kind, payload, **ids):
    """One event of a session."""
    stamp = "2026-05-08T09:00:00Z"
    head = {"type": kind, "event_id": f"e{number}", "timestamp": stamp, "sequence": number, "session_id": "s"}
    return {**head, **ids, "payload": payload}


def changed_queues(events):
    """Queues of which one is told that another turn waits."""
    for number in range(1, events):
        payload = {"operation": "added", "queued_turn_id": f"q{number}", "queue": []}
        yield event(number, "queue.changed", payload, queue_id=f"k{number}")


def asked_about_one_call(events):
    """A call that is evaluated again and again."""
    payload = {"decision": "ask", "decision_source": "rule", "decision_reason": "So.", "mode": "on_request"}
    for number in range(1, events):
        yield event(number, "permission.evaluated", payload, tool_call_id="c")


def answered_for_one_call(events):
    """A call whose permission is resolved again and again by an action that was never required."""
    for number in range(1, events):
        action = {"approval_action_id": "a"} if number == 1 else {}
        yield event(number, "permission.resolved", {"decision": "allowed", **action}, tool_call_id="c")


def gaps_without_a_marker(events):
    """A stream that has lost every fifth event."""
    for number in range(1, events):
        yield event(number * 5 // 4, "runtime.warning", {"code": "slow", "message": "It is slow."})


def gaps_of_two_streams(events):
    """A stream that has lost every other event, and one that has lost none."""
    for number in range(1, events):
        yield event(number, "runtime.warning", {"code": "slow", "message": "So."}, session_id=f"s{number % 4 % 3}")


def late_events(events):
    """A stream that has lost every other event, all of which come in the end."""
    for number in [*range(1, events, 2), *range(2, events, 2)]:
        yield event(number, "runtime.warning", {"code": "slow", "message": "It is slow."})


STORIES = [
    changed_queues,
    asked_about_one_call,
    answered_for_one_call,
    gaps_without_a_marker,
    gaps_of_two_streams,
    late_events,
]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_four_times_the_events_take_four_times_the_work(story):
    assert work(story(FEW * TIMES)) < MOST * work(story(FEW))
