"""A book: how a lifecycle writes what it decides.

Theory of operation
-------------------
A lifecycle of a dialect gives a book two functions and takes every decision through it:

* `stamp(page, draft)` makes a line of the protocol out of a draft: ids, time, sequence, and no path or secret;
* `learn(page, line, moves)` keeps in records what later decisions and views need beyond the states.

`take` runs a decision as the core does: it opens a page at the position that the log has now; every draft that the
decision yields is stamped, checked against its schema and driven through the protocol's state tables before the
decision goes on; lines, records and the answer are committed in one transaction; only then are subscribers and the
capture told. Whatever fails before the commit leaves no trace, and a decision that was overtaken is taken again, so it
must read everything from its page.

A line is an event, a record line (`record: run`) or a snapshot line that holds a stored record.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any, ClassVar

from reference_runtime.capture import Capture, NoCapture
from reference_runtime.contract import Contract
from reference_runtime.errors import CommandRejected, IllegalMove, PositionConflict
from reference_runtime.facts.record import Record
from reference_runtime.facts.scope import attend
from reference_runtime.facts.tables import Drive, Move
from reference_runtime.facts.unit import Unit
from reference_runtime.log.base import Store
from reference_runtime.stamping import Clock, VirtualClock, read, written

Line = dict[str, Any]
Answer = dict[str, Any]
PATIENCE = 5
"""How often a decision is taken again when another writer was faster."""


class Page(Unit):
    """A unit of work of a dialect: the records as they would be if what was decided so far were kept."""

    words: ClassVar[dict[str, str]] = {}

    def __init__(self, store: Store, contract: Contract, clock: Clock):
        super().__init__(store, contract.protocol)
        self._clock = clock

    def now(self) -> str:
        """The present moment as lines carry it; it never runs backwards."""
        return written(self._clock.now())

    def number(self) -> int:
        """The place that the next line takes in the whole log, counted from one."""
        return self.position + len(self.events) + 1

    def sequence(self, stream: str) -> int:
        """The last sequence in a stream, 0 before its first line."""
        record = self.get("stream", stream)
        return record.data.get("sequence", 0) if record else 0

    def need(self, kind: str, identity: str | None) -> Record:
        """A subject that is known; a command about any other is refused."""
        record = self.get(kind, identity)
        if record is None:
            raise CommandRejected(f"unknown_{kind}", f"There is no such {_spoken(kind)}.", category="not_found")
        return record

    def log(self, stream: str) -> Iterator[Line]:
        """The lines of a stream that are kept, in order."""
        return self._store.read(session=stream)

    def stream(self, event: Line) -> str | None:
        """The stream of a line: the first key of the protocol's order that it carries."""
        found = (self.protocol.lens.get(event, name) for name in self.protocol.order["key"])
        return next((value for value in found if isinstance(value, str)), None)

    def write(self, line: Line) -> list[Move]:
        """Takes a line in; raises IllegalMove when a table refuses it."""
        attend(self, line)
        moves = Drive(self, line).run()
        if (stream := self.stream(line)) is not None:
            self._place(line, self.edit("stream", stream).data)
        self.events.append(line)
        return moves

    def _place(self, line: Line, place: dict[str, Any]) -> None:
        for name, field in (("sequence", "sequence"), ("at", "timestamp")):
            if (value := self.protocol.lens.get(line, field)) is not None:
                place[name] = value


Decision = Callable[[Page], Generator[Any, None, Answer | None]]
"""Reads a page, yields drafts (the line that each became is the last of `page.events`), and returns the answer."""
Stamp = Callable[[Page, Any], Line]
Learn = Callable[[Page, Line, list[Move]], None]


def learn_nothing(page: Page, line: Line, moves: list[Move]) -> None:
    """For a lifecycle whose states say all."""


class Book:
    """One lifecycle on one store."""

    def __init__(
        self,
        store: Store,
        protocol: str,
        stamp: Stamp,
        learn: Learn = learn_nothing,
        clock: Clock | None = None,
        capture: Capture | None = None,
    ):
        self.store, self.contract = store, Contract(protocol)
        self.clock, self.capture = clock or VirtualClock(), capture or NoCapture()
        self.subscribers: list[Callable[[Line], None]] = []
        self.rows: set[str] = set()
        """Rows of the state tables that were taken, for coverage."""
        self._stamp, self._learn = stamp, learn
        for stream in store.find("stream", {}, None):
            # Time goes on where the log ended, also with a clock that begins anew.
            if "at" in stream.data:
                self.clock.not_before(read(stream.data["at"]))

    def page(self) -> Page:
        """The records as they are now."""
        return Page(self.store, self.contract, self.clock)

    def read(self, after: int = 0, stream: str | None = None) -> Iterator[Line]:
        """The lines behind a position, in order; those of one stream where one is named."""
        return self.store.read(after, stream)

    def take(self, decision: Decision, key: str | None = None, digest: str = "") -> Answer:
        """Carries out a decision once; under a key, the answer that was given before is given again."""
        for attempt in range(PATIENCE):
            if (kept := self.kept(key, digest)) is not None:
                return kept
            page = self.page()
            try:
                answer, rows = self._run(page, decision)
                self._commit(page, key, digest, answer)
            except (PositionConflict, CommandRejected, IllegalMove):
                # What was read before another writer's change and what was read after it do not fit together.
                if attempt + 1 == PATIENCE or self.store.position() == page.position:
                    raise
                continue
            self.rows |= rows
            self._publish(page.events)
            return answer
        raise AssertionError("unreachable")

    def kept(self, key: str | None, digest: str) -> Answer | None:
        """The answer that was given under a key, or None; raises CommandRejected when it was another request."""
        kept = self.store.reply(key) if key is not None else None
        if kept is None:
            return None
        if kept[0] != digest:
            raise CommandRejected("key_reused", "The key belongs to another request.", category="conflict")
        return kept[1]

    def snapshot(self, model: str, document: dict[str, Any], stream: str | None = None) -> dict[str, Any]:
        """Serves a read model: checked, and written into the capture with its place in a stream, where it has one."""
        self.contract.check_snapshot(model, document)
        place = (stream, self.page().sequence(stream)) if stream else None
        self.capture.snapshot(model, document, written(self.clock.now()), place)
        return document

    def _run(self, page: Page, decision: Decision) -> tuple[Answer, set[str]]:
        """Drives a decision to its end: every draft becomes a line, and every line a fact, before it goes on."""
        drafts, rows = decision(page), set()
        while True:
            try:
                draft = next(drafts)
            except StopIteration as end:
                return end.value or {}, rows
            line = self._stamp(page, draft)
            self.contract.check_line(line)
            moves = page.write(line)
            self._learn(page, line, moves)
            rows |= {move.row.id for move in moves}

    def _commit(self, page: Page, key: str | None, digest: str, answer: Answer) -> None:
        change = page.change()
        if key is not None:
            change.reply = (key, digest, answer)
        if change.events or change.records or change.reply:
            self.store.commit(change)

    def _publish(self, lines: list[Line]) -> None:
        for line in lines:
            self.capture.event(line)
            for subscriber in self.subscribers:
                subscriber(line)


def _spoken(kind: str) -> str:
    return kind.replace("_", " ")
