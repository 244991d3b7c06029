"""Forwards the audit log to a collector: in order, with retry, and without loss.

The place up to which a destination has confirmed everything is kept in the store. It moves only after a confirmation,
so a batch whose confirmation was lost is sent again: an event arrives at least once, always with the same `event_id`.
"""

from __future__ import annotations

import time
from collections import deque
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
        self._size, self.backoff, self._sleep = size, backoff or Backoff(), sleep
        self._ahead: deque[Batch] = deque()

    @property
    def position(self) -> int:
        """The place in the log up to which everything is confirmed."""
        cursor = self.platform.book.store.load("cursor", self.destination)
        return cursor.data["position"] if cursor else 0

    def run(self) -> int:
        """Sends everything that is not confirmed; says how many events were. Raises when it has to give up."""
        sent, failures = 0, 0
        while (batch := self.next()) is not None:
            try:
                self.send(batch)
            except UnconfirmedError as fault:
                failures += 1
                self._sleep(self.wait(failures, fault))
                continue
            self.confirm(batch)
            sent, failures = sent + len(batch.events), 0
        return sent

    def next(self) -> Batch | None:
        """The oldest events that are not confirmed, or None."""
        if not self._ahead:
            self._ahead.extend(self._batches())
        return self._ahead[0] if self._ahead else None

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

    def send(self, batch: Batch) -> None:
        """Hands a batch to the collector; touches no store, so it may wait wherever it likes."""
        if batch.events:
            self._collector.send(export.hec(event, self.platform.settings.host) for event in batch.events)

    def wait(self, failures: int, fault: UnconfirmedError) -> float:
        """How long to wait before the next try; raises the fault when there have been enough."""
        if failures == self.backoff.tries:
            raise fault
        return max(self.backoff.wait(failures), min(fault.wait_seconds, self.backoff.limit_seconds))

    def confirm(self, batch: Batch) -> None:
        """Moves on behind a batch that the collector has."""
        self._confirm(batch.position)
        self._ahead.popleft()

    def _confirm(self, position: int) -> None:
        def decision(desk: Desk) -> Deciding:
            desk.page.edit("cursor", self.destination).data["position"] = position
            return {"position": position}
            yield  # a decision is a generator, also one that writes nothing

        self.platform.decide(decision)
