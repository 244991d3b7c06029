"""Hands events to subscribers, and never waits for one of them.

Every subscriber has a queue of bounded length. One that does not keep up loses its queue and is marked as behind; it
reads what it missed from the log, at its own pace and page by page, and joins the others again when it has caught up.
So what is kept in memory for a subscriber is a queue or a page, whatever it does.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

Event = dict[str, Any]


class Subscriber:
    """One reader of one session."""

    def __init__(self, session: str, limit: int):
        self.session, self._limit = session, limit
        self.waiting: deque[Event] = deque()
        self.behind = True
        """What comes next is to be read from the log; so it is at the beginning."""
        self.ended: str | None = None
        """Why the subscription is over."""
        self._news = asyncio.Event()

    def offer(self, event: Event) -> None:
        if self.behind:
            return
        if len(self.waiting) < self._limit:
            self.waiting.append(event)
        else:
            self.fall_behind()
        self._news.set()

    def fall_behind(self) -> None:
        self.waiting.clear()
        self.behind = True

    def catch_up(self) -> None:
        """Events count again; what was published until now is for the log to tell."""
        self.waiting.clear()
        self.behind = False

    def end(self, reason: str) -> None:
        self.ended = self.ended or reason
        self._news.set()

    async def news(self, patience: float) -> bool:
        """True as soon as there is something to do; False when nothing happened for so many seconds."""
        if not (self.waiting or self.behind or self.ended):
            self._news.clear()
            try:
                async with asyncio.timeout(patience):
                    await self._news.wait()
            except TimeoutError:
                return False
        return True


class Feed:
    """Everybody who listens."""

    def __init__(self, limit: int):
        self.limit = limit
        self.most = 0
        """The longest that a queue has been."""
        self._by_session: dict[str, set[Subscriber]] = {}
        self._closed: str | None = None

    def join(self, session: str) -> Subscriber:
        subscriber = Subscriber(session, self.limit)
        self._by_session.setdefault(session, set()).add(subscriber)
        if self._closed:
            subscriber.end(self._closed)
        return subscriber

    def leave(self, subscriber: Subscriber) -> None:
        others = self._by_session.get(subscriber.session, set())
        others.discard(subscriber)
        if not others:
            self._by_session.pop(subscriber.session, None)

    def publish(self, event: Event) -> None:
        for subscriber in self._by_session.get(event.get("session_id", ""), ()):
            subscriber.offer(event)
            self.most = max(self.most, len(subscriber.waiting))

    def close(self, reason: str) -> None:
        """Ends every subscription, those to come included."""
        self._closed = reason
        for subscriber in self.subscribers():
            subscriber.end(reason)

    def subscribers(self) -> list[Subscriber]:
        return [one for group in self._by_session.values() for one in group]
