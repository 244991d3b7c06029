"""The core protocol behind HTTP: one runtime at one desk, and everybody who listens to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from reference_runtime.errors import CommandRejected
from reference_runtime.projections import THREAD_MODELS, exists
from reference_runtime.service import Answer, Runtime
from reference_runtime.transports.http import watching
from reference_runtime.transports.http.desk import Desk, Labour
from reference_runtime.transports.http.feed import Feed, Subscriber
from reference_runtime.transports.http.stream import EventStream, Pace
from reference_runtime.transports.http.watching import Watch
from reference_runtime.work.engine import Worker
from reference_runtime.work.real.bench import Bench

_GONE = {
    "gone": "The connection was lost.",
    "stalled": "The peer stopped reading.",
    "shutdown": "The server stops.",
    "renew": "The stream was as long as it may be.",
    "caught_up": "The peer has what it asked for.",
}


class CoreService:
    """What the routes ask; everything that touches the runtime is done at its desk."""

    def __init__(self, open_runtime: Callable[[], Runtime], pace: Pace | None = None, bench: Bench | None = None):
        self._open, self.pace, self._bench = open_runtime, pace or Pace(), bench
        self._desk, self.feed = Desk(), Feed(self.pace.queue)
        self._channels: dict[str, Subscriber] = {}

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self.runtime = await self._desk.do(self._open)
        self.runtime.subscribers.append(lambda event: loop.call_soon_threadsafe(self.feed.publish, event))
        worker = Worker(self.runtime, self._bench)
        self.labour = Labour(self._desk, lambda: worker.step(0), lambda: bool(self._bench and self._bench.live))
        self.labour.call()

    def end_streams(self) -> None:
        """Tells every subscriber that the server stops."""
        self.feed.close("shutdown")

    async def stop(self) -> None:
        """Lets what was asked for be done, and closes the store."""
        await self.labour.stop(self.pace.grace_seconds)
        await self._desk.do(self.runtime.store.close)
        await self._desk.do(self.runtime.capture.close)
        self._desk.close()

    async def handle(self, command: str, request: Any) -> Answer:
        answer = await self._desk.do(self.runtime.handle, command, request)
        self.labour.call()
        return answer

    async def content(self, reference: str) -> Any:
        return await self._desk.do(self.runtime.content, reference)

    async def snapshot(self, model: str, session: str, thread: str | None) -> dict[str, Any]:
        return await self._desk.do(_snapshot, self.runtime, model, session, thread)

    async def watch(self, session: str, cursor: int | None, channel: str | None, *, follow: bool) -> EventStream:
        """A stream that is about to begin; raises CommandRejected when it cannot."""
        subscriber = self.feed.join(session)
        try:
            watch = await self._desk.do(watching.begin, self.runtime, session, cursor, channel)
        except BaseException:
            self.feed.leave(subscriber)
            raise
        if channel is not None:
            self._take_over(channel, subscriber)

        async def leave() -> None:
            await self._leave(subscriber, watch)

        return EventStream(subscriber, watch, self.pace, self._page, leave, follow=follow)

    def _take_over(self, channel: str, subscriber: Subscriber) -> None:
        if earlier := self._channels.get(channel):
            earlier.end("replaced")
        self._channels[channel] = subscriber
        self.labour.call()

    async def _page(self, watch: Watch) -> list[dict[str, Any]]:
        return await self._desk.do(watching.page, self.runtime, watch, self.pace.page)

    async def _leave(self, subscriber: Subscriber, watch: Watch) -> None:
        self.feed.leave(subscriber)
        if watch.channel is not None and self._channels.get(watch.channel) is subscriber:
            del self._channels[watch.channel]
            await self._desk.do(watching.finish, self.runtime, watch, _GONE[subscriber.ended or "gone"])


def _snapshot(runtime: Runtime, model: str, session: str, thread: str | None) -> dict[str, Any]:
    state = runtime.state()
    state.need("session", session)
    if thread is not None:
        state.need("thread", thread, session_id=session)
    if not exists(state, model, thread if model in THREAD_MODELS else session):
        raise CommandRejected("no_snapshot", "No event has fed that read model yet.", category="not_found")
    return runtime.snapshot(model, session, thread)
