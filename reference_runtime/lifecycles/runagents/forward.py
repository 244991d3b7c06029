"""Forwards the audit log to a collector: in order, with retry, and without loss.

The place up to which a destination has confirmed everything is kept in the store. It moves only after a confirmation,
so a batch whose confirmation was lost is sent again: an event arrives at least once, always with the same `event_id`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from reference_runtime.lifecycles.runagents import export
from reference_runtime.lifecycles.runagents.collector import Collector, UnconfirmedError
from reference_runtime.lifecycles.runagents.desk import Deciding, Desk
from reference_runtime.lifecycles.runagents.service import RunAgents


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to wait before the next try: twice as long each time, up to a limit."""

    first_seconds: float = 0.5
    limit_seconds: float = 60.0
    tries: int = 10

    def wait(self, failures: int) -> float:
        return min(self.first_seconds * 2.0 ** (failures - 1), self.limit_seconds)


@dataclass(frozen=True, slots=True)
class Batch:
    """Events that go together, and the place in the log that their confirmation reaches."""

    events: list[dict[str, Any]]
    position: int


class Forwarder:
    """One destination's way through the log."""

    def __init__(
        self,
        platform: RunAgents,
        destination: str,
        collector: Collector | None = None,
        *,
        size: int = 100,
        backoff: Backoff | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ):
        self.platform, self.destination = platform, destination
        self._collector = collector or platform.settings.destinations[destination]
        self._size, self._backoff, self._sleep = size, backoff or Backoff(), sleep

    @property
    def position(self) -> int:
        """The place in the log up to which everything is confirmed."""
        cursor = self.platform.book.store.load("cursor", self.destination)
        return cursor.data["position"] if cursor else 0

    def run(self) -> int:
        """Sends everything that is not confirmed; says how many events were. Raises when it has to give up."""
        sent = 0
        for batch in self._batches():
            self._insist(batch)
            self._confirm(batch.position)
            sent += len(batch.events)
        return sent

    def _batches(self) -> Iterator[Batch]:
        events: list[dict[str, Any]] = []
        start = place = self.position
        for place, line in enumerate(self.platform.book.read(after=start), start + 1):
            if "record" not in line:
                events.append(line)
            if len(events) == self._size:
                yield Batch(events, place)
                events, start = [], place
        if place > start:
            yield Batch(events, place)

    def _insist(self, batch: Batch) -> None:
        """Sends a batch until it is confirmed; a collector that stays away ends it, and nothing is lost by that."""
        failures = 0
        while batch.events:
            try:
                self._collector.send(export.hec(event, self.platform.settings.host) for event in batch.events)
                return
            except UnconfirmedError as fault:
                failures += 1
                if failures == self._backoff.tries:
                    raise
                self._sleep(max(self._backoff.wait(failures), min(fault.wait_seconds, self._backoff.limit_seconds)))

    def _confirm(self, position: int) -> None:
        def decision(desk: Desk) -> Deciding:
            desk.page.edit("cursor", self.destination).data["position"] = position
            return {"position": position}
            yield  # a decision is a generator, also one that writes nothing

        self.platform.decide(decision)
