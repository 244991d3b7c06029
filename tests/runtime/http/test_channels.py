"""A peer that names a channel: told as connected and gone, confirmed, taken over, and told what it missed."""

import pytest

from reference_runtime.transports.http.stream import Pace
from tests.runtime.http.serving import Running, runtime, submit
from tests.runtime.http.view import View, messages
from tests.runtime.judging import findings

ABOUT = {"channel.connected", "channel.disconnected", "channel.resumed", "snapshot.repaired"}


@pytest.fixture
def folder(tmp_path):
    """Where a server writes; what it wrote is in order in the end."""
    yield tmp_path
    assert findings((tmp_path / "capture.ndjson").read_text()) == []


def told(running, kinds=ABOUT):
    return [event for event in running.log() if event["type"] in kinds]


def acknowledge(client, view):
    answer = client.post("/commands/ack_events", json={"channel_id": view.channel, "sequence": view.last}).json()
    view.acknowledged = answer["last_acknowledged_sequence"]


def test_a_peer_is_told_as_connected_and_as_gone_and_goes_on_where_it_confirmed(folder):
    with Running(lambda: runtime(folder)) as running, running.client() as client:
        submit(client)
        view = View(channel="c")
        view.read(client)
        acknowledge(client, view)
        submit(client)
        running.settle()
        view.read(client)
        types = [event["type"] for event in told(running)]
        assert types == ["channel.connected", "channel.disconnected", "channel.resumed", "channel.disconnected"]
        assert told(running)[3]["payload"]["last_acknowledged_sequence"] >= view.acknowledged > 0
        assert view.events == running.log()[:-1], "all but that it left"
        assert findings(view.text()) == []


def test_the_channel_of_another_session_is_not_to_be_had(folder):
    with Running(lambda: runtime(folder)) as running, running.client() as client:
        submit(client)
        submit(client, session_id="other", thread_id="other")
        View(channel="c").read(client)
        running.settle()
        before = running.position()
        answer = client.get("/sessions/other/events?channel_id=c")
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "wrong_owner")
        assert running.position() == before


def test_a_peer_that_comes_twice_is_served_once(folder):
    with Running(lambda: runtime(folder)) as running, running.client() as first, running.client() as second:
        submit(first)
        with first.stream("GET", View(channel="c").path()) as one:
            early = messages(one.iter_lines())
            assert next(early).name == "snapshot"
            with second.stream("GET", View(channel="c").path()) as two:
                late = messages(two.iter_lines())  # a reader that is let go of hangs up
                assert next(late).name == "snapshot"
                assert [message.data["reason"] for message in early if message.name == "end"] == ["replaced"]
                assert [event["type"] for event in told(running)] == ["channel.connected", "channel.resumed"]


def test_a_peer_that_missed_more_than_is_kept_for_it_is_told_so(folder):
    with Running(lambda: runtime(folder, replay_limit=20)) as running, running.client() as client:
        submit(client)
        view = View(channel="c")
        view.read(client)
        acknowledge(client, view)
        for _ in range(3):
            submit(client)
            View().read(client)
        seen = len(view.events)
        view.read(client)
        marker = next(event for event in view.events if event["type"] == "snapshot.repaired")
        missed = range(view.events[seen - 1]["sequence"] + 1, view.events[seen]["sequence"])
        assert len(missed) > 20
        assert marker["payload"]["gap_from"] <= missed[0] <= missed[-1] <= marker["payload"]["gap_to"]
        assert findings(view.text()) == []


def keep_going(client, event):
    """Lets a turn follow every turn; true when a peer is gone."""
    if event["type"] == "turn.completed":
        submit(client)
    return event["type"] == "channel.disconnected"


def test_a_peer_that_stops_reading_is_told_as_gone(folder):
    """Its buffers are full, and an observer sees it given up while everybody else is served."""
    with Running(lambda: runtime(folder), Pace(stall_seconds=0.2, queue=8, page=8)) as running:
        running.shrink()
        with running.client() as client, running.client() as other:
            submit(client)
            with running.deaf(View(channel="deaf").path()), client.stream("GET", View().path()) as answer:
                events = (message.data for message in messages(answer.iter_lines()) if message.name == "message")
                gone = next(event for event in events if keep_going(other, event))
        assert gone["payload"]["reason"] == "The peer stopped reading."
        assert running.service.feed.most <= 8
