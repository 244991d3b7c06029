"""One thread that does everything a runtime does, in the order in which it was asked.

SQLite belongs to the thread that opened it, and a decision is taken alone. So the store is opened, read and written on
one thread, and the loop that talks to peers never waits for a disk: it asks, and goes on with others meanwhile.
Work is asked for step by step, so that a command never waits for more than the step at hand, and never for a process.
"""

from __future__ import annotations

import asyncio
import contextlib
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Found = TypeVar("Found")
_QUIET = 0.02
"""Seconds until a quiet process is looked at again."""


class Desk:
    """Runs functions one after the other, away from the loop."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="runtime")

    async def do(self, act: Callable[..., Found], *given: Any) -> Found:
        """What a function returns; once begun it is never broken off, whoever stops waiting for it."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, act, *given)

    def close(self) -> None:
        self._thread.shutdown()


class Labour:
    """Goes on with work whenever there may be some."""

    def __init__(self, desk: Desk, step: Callable[[], bool], busy: Callable[[], bool] = lambda: False):
        self._desk, self._step, self._busy = desk, step, busy
        self._called, self._idle = asyncio.Event(), asyncio.Event()
        self._task = asyncio.create_task(self._go_on())

    def call(self) -> None:
        """Says that there may be something to do."""
        self._idle.clear()
        self._called.set()

    async def idle(self) -> None:
        """Returns when there is nothing left to do."""
        await self._idle.wait()

    async def stop(self, grace_seconds: float) -> None:
        """Lets what can still be done be done, within reason; the rest is told as lost by the next start."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace_seconds):
                await self.idle()
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def _go_on(self) -> None:
        while True:
            self._called.clear()
            await self._work()
            if not self._called.is_set():
                self._idle.set()
            await self._called.wait()

    async def _work(self) -> None:
        try:
            while (went_on := await self._desk.do(self._step)) or self._busy():
                if not went_on:
                    # Processes run; the desk is free for others until they have something to tell.
                    await asyncio.sleep(_QUIET)
        except Exception:  # a step that fails stops the work, not the server; the next command calls it again
            traceback.print_exc()
