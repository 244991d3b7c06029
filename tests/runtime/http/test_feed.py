"""The feed alone: a bounded queue each, and nobody waits for anybody."""

import asyncio

from reference_runtime.transports.http.feed import Feed


def event(sequence, session="s"):
    return {"session_id": session, "sequence": sequence}


def test_a_subscriber_that_does_not_read_keeps_no_more_than_its_queue():
    feed = Feed(limit=3)
    slow, quick = feed.join("s"), feed.join("s")
    for one in (slow, quick):
        one.catch_up()
    got = []
    for sequence in range(1, 1001):
        feed.publish(event(sequence))
        got.append(quick.waiting.popleft()["sequence"])
    assert got == list(range(1, 1001))
    assert (slow.behind, len(slow.waiting), feed.most) == (True, 0, 3)


def test_nothing_is_queued_for_one_that_reads_from_the_log():
    feed = Feed(limit=3)
    behind = feed.join("s")
    feed.publish(event(1))
    assert not behind.waiting
    behind.catch_up()
    feed.publish(event(2))
    feed.publish(event(3, "other"))
    assert [one["sequence"] for one in behind.waiting] == [2]


def test_one_that_left_gets_nothing_more_and_leaves_no_trace():
    feed = Feed(limit=3)
    gone = feed.join("s")
    gone.catch_up()
    feed.leave(gone)
    feed.leave(gone)
    feed.publish(event(1))
    assert (list(gone.waiting), feed.subscribers()) == ([], [])


def test_who_waits_is_woken_by_an_event_by_the_end_and_by_patience():
    async def wait():
        feed = Feed(limit=1)
        one = feed.join("s")
        one.catch_up()
        assert await one.news(0.001) is False
        asyncio.get_running_loop().call_soon(feed.publish, event(1))
        assert await one.news(20) is True
        one.waiting.clear()
        asyncio.get_running_loop().call_soon(feed.close, "shutdown")
        assert await one.news(20) is True
        assert (one.ended, feed.join("s").ended) == ("shutdown", "shutdown")
        one.end("gone")
        assert one.ended == "shutdown", "the first reason stands"

    asyncio.run(wait())
