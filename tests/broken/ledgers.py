"""Ledgers of agent-threads with exactly one fault each.

A fault is a small class: what it does wrong, the story that brings it out, and the rule that catches it. A broken
ledger asks no state table and no schema; everything else it does right.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

from reference_runtime.capture import Capture, LineCapture
from reference_runtime.errors import CommandRejected, IllegalMove
from reference_runtime.lifecycles.agent_threads import ledger as ledgers
from reference_runtime.lifecycles.agent_threads.decisions import Draft
from reference_runtime.lifecycles.agent_threads.host import Host
from reference_runtime.lifecycles.agent_threads.ledger import Ledger
from reference_runtime.lifecycles.agent_threads.observer import Observer
from reference_runtime.lifecycles.book import Book, Line, Page
from reference_runtime.log.base import Change
from reference_runtime.log.memory import MemoryStore


class LedgerFault:
    """What a ledger does wrong; by itself it does nothing wrong."""

    rule = ""
    also: frozenset[str] = frozenset()
    """Rules that find the same fault from another side."""

    def story(self, host: Host) -> None:
        """An answer that is asked for twice more."""
        question, _ = host.exchange("q", "a")
        host.regenerate(question, "b")
        host.shows()
        host.regenerate(question, "c")
        host.shows()

    def tamper(self, page: Page, draft: Draft) -> Iterable[Draft]:
        """What is written instead of a draft."""
        return [draft]

    def line(self, line: Line) -> Line:
        """What a line becomes after it was stamped."""
        return line

    def keeps(self, change: Change) -> bool:
        """Whether a change arrives whole; one that does not is cut, and the process is gone."""
        return True

    def patch(self, patcher: Any) -> None:
        """What else is broken."""


class DiedError(Exception):
    """The process is gone."""


class Cutting(MemoryStore):
    """A store that keeps of a change what its fault leaves of it."""

    fault: LedgerFault

    def commit(self, change: Change) -> None:
        whole = self.fault.keeps(change)
        super().commit(change)
        if not whole:
            raise DiedError


class BrokenBook(Book):
    """A book with a fault, which keeps what its tables and schemas would refuse."""

    fault: LedgerFault

    def _run(self, page: Page, decision: Any) -> tuple[dict[str, Any], set[str]]:
        drafts = decision(page)
        while True:
            try:
                draft = next(drafts)
            except StopIteration as end:
                return end.value, set()
            for written in self.fault.tamper(page, draft):
                self._write(page, self.fault.line(ledgers.stamp(page, written)))

    def _write(self, page: Page, line: Line) -> None:
        try:
            moves = page.write(line)
        except IllegalMove:
            page.events.append(line)
            moves = []
            if "status" in line:
                page.edit("run", line["runId"]).state = line["status"]
        if "seq" in line:
            page.edit("stream", line["streamId"]).data |= {"sequence": line["seq"], "at": line["timestamp"]}
        try:
            ledgers.learn(page, line, moves)
        except CommandRejected:
            return


class Told(Host):
    """A host that can also lose its ledger and find it again."""

    def __init__(self, ledger: Ledger, capture: Capture):
        super().__init__(ledger, "t")
        self.capture = capture

    def restart(self) -> None:
        book = self.ledger.book
        self.capture.restart("kill", "rt_threads", book.page().now())
        self.ledger = Ledger(book.store, book.clock, self.capture)

    def looks(self) -> None:
        """Reads everything that is there."""
        eye = Observer(self.ledger, self.capture)
        eye.look("t")
        eye.read("t")


def capture_of(fault: LedgerFault, patcher: Any) -> str:
    """What a broken ledger leaves behind after its story."""
    text, store = io.StringIO(), Cutting()
    store.fault = fault
    patcher.setattr(ledgers, "Book", type("Broken", (BrokenBook,), {"fault": fault}))
    fault.patch(patcher)
    contract = Ledger(MemoryStore()).book.contract
    capture = LineCapture(text, contract)
    fault.story(Told(Ledger(store, capture=capture), capture))
    return text.getvalue()
