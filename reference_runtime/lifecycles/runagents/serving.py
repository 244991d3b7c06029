"""The platform behind HTTP: one desk at which everything is decided, a worker, and a forwarder per destination."""

from __future__ import annotations

import asyncio
import contextlib
import traceback
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from reference_runtime.booting import resumed
from reference_runtime.errors import StoreError
from reference_runtime.lifecycles.runagents import stage
from reference_runtime.lifecycles.runagents.collector import RefusedError, UnconfirmedError
from reference_runtime.lifecycles.runagents.configuring import configured
from reference_runtime.lifecycles.runagents.forward import Backoff, Forwarder
from reference_runtime.lifecycles.runagents.history import CONTRACT
from reference_runtime.lifecycles.runagents.service import RunAgents
from reference_runtime.lifecycles.runagents.settings import Settings
from reference_runtime.lifecycles.runagents.worker import Worker
from reference_runtime.log.memory import MemoryStore
from reference_runtime.log.sqlite import SqliteStore
from reference_runtime.stamping import SystemClock
from reference_runtime.transports.http.desk import Desk, Labour
from reference_runtime.transports.http.protocols import Options
from reference_runtime.transports.http.stream import Pace

Found = TypeVar("Found")
_TICK = 1.0
"""How often, in seconds, the worker looks for what ran out."""


class PlatformService:
    """What the routes ask; everything that touches the platform is done at its desk."""

    def __init__(
        self, open_platform: Callable[[], RunAgents], pace: Pace | None = None, backoff: Backoff | None = None
    ):
        self._open, self.pace, self._backoff = open_platform, pace or Pace(), backoff or Backoff()
        self._desk, self._tasks = Desk(), list[asyncio.Task[None]]()
        self._bells: list[asyncio.Event] = []

    async def start(self) -> None:
        self.platform = await self._desk.do(self._open)
        worker = Worker(self.platform)
        self._labour = Labour(self._desk, worker.step)
        self._labour.call()
        self._begin(self._watch(worker))
        for name in self.platform.settings.destinations:
            self._bells.append(asyncio.Event())
            self._begin(self._forward(Forwarder(self.platform, name, backoff=self._backoff), self._bells[-1]))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.create_task(work))

    def end_streams(self) -> None:
        """No answer of this protocol goes on without end."""

    async def stop(self) -> None:
        """Lets what was asked for be done, and closes the store; what is unconfirmed is sent after the next start."""
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await self._labour.stop(self.pace.grace_seconds)
        await self._desk.do(self.platform.close)
        self._desk.close()

    async def do(self, act: Callable[[RunAgents], Found]) -> Found:
        """Does something at the desk; whatever it made possible goes on by itself (RA-79)."""
        found = await self._desk.do(act, self.platform)
        self._ring()
        return found

    def _ring(self) -> None:
        """Says that there may be something to do, and something to send."""
        self._labour.call()
        for bell in self._bells:
            bell.set()

    async def _watch(self, worker: Worker) -> None:
        """Looks for what ran out; a store that does not answer is asked again with the next tick."""
        while True:
            await asyncio.sleep(_TICK)
            with contextlib.suppress(StoreError):
                await self._desk.do(worker.sweep)
            self._ring()

    async def _forward(self, forwarder: Forwarder, bell: asyncio.Event) -> None:
        """Sends away from the desk, for as long as the server runs; what is not confirmed is sent again."""
        failures = 0
        while True:
            bell.clear()
            try:
                sent = await self._send(forwarder)
                failures = 0
                if not sent:
                    await bell.wait()
            except UnconfirmedError as fault:
                failures = min(failures + 1, forwarder.backoff.tries - 1)
                await asyncio.sleep(forwarder.wait(failures, fault))
            except (RefusedError, StoreError):
                traceback.print_exc()
                await asyncio.sleep(forwarder.backoff.limit_seconds)

    async def _send(self, forwarder: Forwarder) -> bool:
        batch = await self._desk.do(forwarder.next)
        if batch is None:
            return False
        await asyncio.to_thread(forwarder.send, batch)
        await self._desk.do(forwarder.confirm, batch)
        return True


def boot(options: Options) -> RunAgents:
    """A platform on a file, or in memory; one that was there before says first what it left behind."""
    store = SqliteStore(options.store) if options.store else MemoryStore()
    settings = configured(options.scripts) if options.scripts else Settings(policy=stage.POLICY, agents=stage.AGENTS)
    platform = RunAgents(store, settings, SystemClock(), resumed(options.capture, store, CONTRACT))
    if store.position():
        platform.recover()
    return platform
