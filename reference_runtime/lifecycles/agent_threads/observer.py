"""An observer: somebody who reads a ledger now and then, and writes down what is there.

Its captures differ from the ledger's own. A run may be over when its first record is read, a record that did not change
stands there again, and of a commit and the run that it superseded the older run comes first (AT-7, AT-9). Of a run that
it knows it misses nothing: a record that says superseded is legal only after one that says committed. What it reads
goes through the state tables once more, so a history that no ledger may show is refused here as well.
"""

from __future__ import annotations

from typing import Any

from reference_runtime.capture import Capture
from reference_runtime.lifecycles.agent_threads import views
from reference_runtime.lifecycles.agent_threads.ledger import Ledger
from reference_runtime.lifecycles.agent_threads.stream import stream_of
from reference_runtime.lifecycles.book import Line, Page
from reference_runtime.log.memory import MemoryStore
from reference_runtime.stamping import written

_UNTOLD = {"honest": "unknown", "reason": "No record of the run was read."}


class Observer:
    """Follows the streams of a ledger, each from where it stopped, and reads the records of its threads."""

    def __init__(self, ledger: Ledger, capture: Capture):
        self._ledger, self._capture = ledger, capture
        self._confirmed: dict[str, int] = {}
        self._records: dict[str, int] = {}
        self._page = Page(MemoryStore(), ledger.book.contract, ledger.book.clock)
        self.rows: set[str] = set()
        """Rows of the state tables that what was read takes."""

    def follow(self, run: str) -> None:
        """The events of a stream that are new, or that come again after a reconnect."""
        self._read(run, [line for line in self._ledger.book.read(stream=stream_of(run)) if "record" not in line])

    def look(self, thread: str) -> None:
        """What is new in each run of a thread, events and records in their order; at least its last record (AT-8)."""
        for run in self._runs(thread):
            lines = list(self._ledger.book.read(stream=stream_of(run)))
            told = [line for line in lines if "record" in line]
            # The first record that is read is the last one there is; nobody keeps the others for a newcomer.
            skipped = min(self._records.get(run, len(told) - 1), len(told) - 1)
            self._read(run, [line for line in lines if "record" not in line or line not in told[:skipped]])
            self._records[run] = len(told)

    def _runs(self, thread: str) -> list[str]:
        """The runs of a thread, committed ones in the order of their commits: each supersedes what stands before it."""
        committed = [line["runId"] for line in self._ledger.book.read() if line.get("status") == "committed"]
        places = {run: place for place, run in enumerate(committed)}
        return sorted((record["runId"] for record in self._ledger.runs(thread)), key=lambda run: places.get(run, -1))

    def unread(self, run: str) -> dict[str, Any]:
        """A run whose record was not read: its stream is known, its status is not (AT-2, AT-108)."""
        facts = ("threadId", "forkFromMessageId", "createdAt", "finishedAt", "messageCount", "supersededBy")
        last = self._confirmed.get(run, 0)
        events = [event["event"] for event in self._ledger.events(run) if event["seq"] <= last]
        called, answered = (
            [event["payload"]["toolCallId"] for event in events if event["kind"] == kind]
            for kind in ("tool-call", "tool-result")
        )
        view = {"runId": run, "streamId": stream_of(run), "status": "unknown", **dict.fromkeys(facts, _UNTOLD)}
        pending = [call for call in called if call not in answered]
        return self._show("run_view", view | {"lastSeq": last, "pendingToolCallIds": pending})

    def read(self, thread: str) -> None:
        """The tree of a thread and its active transcript, after everything that they rest on."""
        tree, transcript = self._ledger.seen(self._settled, thread)
        self._show("thread_tree", tree)
        self._show("transcript", transcript)

    def reconnect(self, run: str, confirmed: int) -> None:
        """The connection was lost, and the observer resumes from what it is sure of; what overlaps comes again."""
        self._confirmed[run] = min(confirmed, self._confirmed.get(run, 0))
        self._capture.reconnect(stream_of(run), self._confirmed[run], self._now(), name="stream")

    def _settled(self, page: Page, thread: str) -> tuple[dict[str, Any], dict[str, Any]]:
        self.look(thread)
        return views.thread_tree(page, thread), views.transcript(page, thread)

    def _read(self, run: str, lines: list[Line]) -> None:
        for line in lines:
            if "record" in line or line["seq"] > self._confirmed.get(run, 0):
                self._take(line)
                self._confirmed[run] = line.get("seq", self._confirmed.get(run, 0))

    def _take(self, line: Line) -> None:
        """Writes a line down; an event that comes again takes no row (AT-25)."""
        if "record" in line or line["seq"] > self._page.sequence(line["streamId"]):
            self.rows |= {move.row.id for move in self._page.write(line)}
        self._capture.event(line)

    def _show(self, model: str, document: dict[str, Any]) -> dict[str, Any]:
        self._ledger.book.contract.check_snapshot(model, document)
        self._capture.snapshot(model, document, self._now())
        return document

    def _now(self) -> str:
        return written(self._ledger.book.clock.now())
