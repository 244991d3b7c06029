"""Fifty clients that come and go at random, one that never reads: nobody misses anything without being told."""

import asyncio

from reference_runtime.transports.http.stream import Pace
from tests.runtime.http.crowd import Crowd, hear, holes, marked, same
from tests.runtime.http.serving import Running, runtime, submit
from tests.runtime.http.view import View
from tests.runtime.judging import findings

QUEUE, CLIENTS, CHANNELS, TURNS = 6, 49, 6, 8


def is_held_up(subscriber):
    return subscriber.behind or len(subscriber.waiting) == QUEUE


def fill(running, client):
    """Tells as much as the buffers of a connection hold, so that whoever does not read holds something up."""
    for _ in range(400):
        submit(client)
        running.settle()
        if any(map(is_held_up, running.service.feed.subscribers())):
            return
    raise AssertionError("nobody was held up")


def test_every_view_is_the_log_or_says_what_it_lacks(tmp_path):
    with Running(lambda: runtime(tmp_path, replay_limit=30), Pace(queue=QUEUE, page=10)) as running:
        running.shrink()
        with running.client() as client:
            submit(client)
            with running.deaf("/sessions/s/events?after=0") as deaf:
                fill(running, client)
                crowd = Crowd(running.address, CLIENTS, CHANNELS, seed=7)
                asyncio.run(crowd.play(TURNS))
                held_up = running.remaining(1)
                log, late = running.log(), View()
                assert [is_held_up(one) for one in held_up] == [True], "one, and it alone"
                assert running.service.feed.most <= QUEUE, "what is queued is bounded, whoever does not read"
                hear(deaf, late, len(log))
    observers = [view for view in crowd.views if view.channel is None]
    for view in (*observers, late):
        assert view.events == log
    peers = [view for view in crowd.views if view.channel]
    for view in peers:
        assert same(view, log)
        assert all(marked(view, hole) for hole in holes(view))
    assert any(holes(view) for view in peers), "somebody was away for longer than is kept"
    assert min(view.connections for view in crowd.views) > 1
    for view in (late, observers[0], *peers):
        assert findings(view.text()) == []
    assert findings((tmp_path / "capture.ndjson").read_text()) == []
