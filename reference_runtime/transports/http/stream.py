"""An answer that goes on: read models first, then events, as Server-Sent Events.

An event is a message whose id is its sequence, so that a browser's own `Last-Event-ID` resumes where it stopped. A
read model is a message named `snapshot`, and the last message is named `end` and says why. Nothing here is kept: what
was not sent is in the log.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from reference_runtime.transports.http.feed import Event, Subscriber
from reference_runtime.transports.http.guard import Receive, Scope, Send
from reference_runtime.transports.http.watching import Watch

HEADERS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store", "x-accel-buffering": "no"}


@dataclass(frozen=True, slots=True)
class Pace:
    """How much a subscriber may be behind, and how long it may be silent."""

    queue: int = 256
    page: int = 128
    keepalive_seconds: float = 15.0
    stall_seconds: float = 30.0
    """How long a peer may leave what was sent to it unread."""
    stream_seconds: float | None = None
    """After so long a stream ends, and the peer comes back for the rest."""
    grace_seconds: float = 5.0
    """How long a server that stops waits for work and for peers."""


class EventStream:
    """Tells one subscriber everything, at the pace at which it reads."""

    def __init__(
        self,
        subscriber: Subscriber,
        watch: Watch,
        pace: Pace,
        page: Callable[[Watch], Awaitable[list[Event]]],
        leave: Callable[[], Awaitable[None]],  # may be called twice
        *,
        follow: bool = True,
    ):
        self._subscriber, self._watch, self._pace = subscriber, watch, pace
        self._page, self._leave, self._follow = page, leave, follow

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        listening = asyncio.create_task(self._listen(receive))
        try:
            raw = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            await send({"type": "http.response.start", "status": 200, "headers": raw})
            await self._tell(send)
        except TimeoutError:
            self._subscriber.end("stalled")
        finally:
            listening.cancel()
            await self._leave()

    async def _listen(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._subscriber.end("gone")

    async def _tell(self, send: Send) -> None:
        loop, subscriber = asyncio.get_running_loop(), self._subscriber
        if self._pace.stream_seconds is not None:
            loop.call_later(self._pace.stream_seconds, subscriber.end, "renew")
        await self._say(send, "retry: 1000\n\n")
        while subscriber.ended is None:
            await self._openings(send)
            if subscriber.behind:
                await self._catch_up(send)
            elif subscriber.waiting:
                await self._next(send, subscriber.waiting.popleft())
            elif not await subscriber.news(self._pace.keepalive_seconds):
                await self._say(send, ": still here\n\n")
        await self._leave()
        if subscriber.ended != "gone":
            said = {"reason": subscriber.ended, "last_sequence": self._watch.cursor}
            await self._say(send, message(said, name="end"), last=True)

    async def _openings(self, send: Send) -> None:
        while self._watch.opening:
            model, document = self._watch.opening.pop(0)
            await self._say(send, message({"model": model, "snapshot": document}, name="snapshot"))

    async def _catch_up(self, send: Send) -> None:
        self._subscriber.catch_up()
        events = await self._page(self._watch)
        await self._openings(send)
        for event in events:
            if self._subscriber.ended == "gone":
                return
            await self._event(send, event)
        if len(events) == self._pace.page:
            self._subscriber.fall_behind()
        elif not self._follow:
            self._subscriber.end("caught_up")

    async def _next(self, send: Send, event: Event) -> None:
        """Sends what comes next; a hole in what was published is filled from the log."""
        if event["sequence"] == self._watch.cursor + 1:
            await self._event(send, event)
        elif event["sequence"] > self._watch.cursor:
            self._subscriber.fall_behind()

    async def _event(self, send: Send, event: Event) -> None:
        await self._say(send, message(event, identity=event["sequence"]))
        self._watch.cursor = event["sequence"]

    async def _say(self, send: Send, text: str, *, last: bool = False) -> None:
        async with asyncio.timeout(self._pace.stall_seconds):
            await send({"type": "http.response.body", "body": text.encode(), "more_body": not last})


def message(data: Any, *, name: str | None = None, identity: int | None = None) -> str:
    """One message; JSON has no line breaks, so its data is one line."""
    lines = [f"id: {identity}"] if identity is not None else []
    lines += [f"event: {name}"] if name else []
    return "\n".join([*lines, f"data: {json.dumps(data, separators=(',', ':'))}", "", ""])
