"""The ledger of agent-threads: runs, their streams, and the messages they commit.

Every act is one decision taken through a book, so it is kept whole or not at all, and nothing is told before it is
kept. The ledger takes no lock on a thread: runs stream side by side, and of those at one fork the last to commit stays
(AT-88, AT-89).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any

from reference_runtime.capture import Capture
from reference_runtime.errors import CommandRejected, ContractBroken, ReferenceRuntimeError
from reference_runtime.facts.tables import Move
from reference_runtime.lifecycles.agent_threads import decisions, views
from reference_runtime.lifecycles.agent_threads.branches import Branch
from reference_runtime.lifecycles.agent_threads.decisions import Draft, Said
from reference_runtime.lifecycles.agent_threads.pieces import cleaned
from reference_runtime.lifecycles.agent_threads.stream import follow, stream_of
from reference_runtime.lifecycles.book import Book, Line, Page
from reference_runtime.log.base import Store
from reference_runtime.stamping import Clock, read, written

PROTOCOL = "agent-threads/1"
STALE_AFTER = timedelta(minutes=5)
Answer = dict[str, Any]


class Ledger:
    """One ledger on one store."""

    def __init__(self, store: Store, clock: Clock | None = None, capture: Capture | None = None):
        self.book = Book(store, PROTOCOL, stamp, learn, clock, capture)

    def begin(self, thread: str, fork: str | None = None, key: str | None = None) -> Answer:
        """Begins a run, at a message when one is named; its record."""
        with _asked("invalid_run"):
            return self._take("begin", key, decisions.begin, thread, fork or None)

    def activate(self, run: str) -> Answer:
        """Makes a created run writable; its record."""
        return self._take("activate", None, decisions.activate, run)

    def start(self, thread: str, fork: str | None = None, prepare: Callable[[str], None] | None = None) -> Answer:
        """Begins a run, prepares its work and activates it; what cannot be prepared is closed as failed (AT-59)."""
        run = self.begin(thread, fork)["runId"]
        try:
            if prepare:
                prepare(run)
            return self.activate(run)
        except Exception:  # whatever a host's preparation raises, its run must not stay open
            with contextlib.suppress(ReferenceRuntimeError):
                self.recover(run, "fail")
            raise

    def append(self, run: str, events: Sequence[dict[str, Any]], key: str | None = None) -> Answer:
        """Puts events on a run's stream, all of them or none; the last sequence."""
        with _asked("invalid_event"):
            return self._take("append", key, decisions.append, run, events)

    def finalize(self, run: str, status: str) -> Answer:
        """Ends a run; the answer says whether that end holds, and whom it superseded."""
        return self._told("finalize_result", self._take("finalize", None, decisions.finalize, run, status))

    def recover(self, run: str, action: str) -> Answer:
        """Closes an active run that nobody seems to work on."""
        return self._told("recover_result", self._take("recover", None, decisions.recover, run, action))

    def recover_stale(self, action: str = "fail", older_than: timedelta = STALE_AFTER) -> Answer:
        """Closes every stale run, and tells of each once: closed, or why not (AT-86)."""
        closed, kept = [], []
        for run in self.stale(older_than):
            try:
                closed.append(self._take("recover", None, decisions.recover, run, action))
            except ReferenceRuntimeError as error:
                kept.append({"runId": run, "error": str(error)})
        return self._told("recover_all_result", {"succeeded": closed, "failed": kept})

    def stale(self, older_than: timedelta = STALE_AFTER) -> list[str]:
        """Active runs that began longer ago than that, whatever they have done since."""
        page = self.book.page()
        limit = self.book.clock.now() - older_than
        return [run.id for run in page.find("run", is_open=True) if read(run.data["createdAt"]) < limit]

    def run(self, run: str) -> Answer:
        """The record of a run."""
        return self.seen(views.run_record, run)

    def runs(self, thread: str) -> list[Answer]:
        """The records of a thread's runs, in the order in which they began."""
        return self.seen(views.run_records, thread)

    def events(self, run: str, after: int = 0, limit: int | None = None) -> Iterator[Line]:
        """The events of a run's stream behind a sequence; a stream that nobody wrote to is empty (AT-27)."""
        lines = (line for line in self.book.read(stream=stream_of(run)) if line.get("seq", 0) > after)
        return (line for _, line in zip(range(limit), lines, strict=False)) if limit is not None else lines

    def head(self, run: str) -> int:
        """The last sequence of a run's stream, 0 when nobody wrote to it."""
        return self.book.page().sequence(stream_of(run))

    def view(self, run: str) -> Answer:
        """A run as both planes show it."""
        return self.book.snapshot("run_view", self.seen(views.run_view, run))

    def transcript(self, thread: str, branch: Branch = "active") -> Answer:
        """The messages of a thread along a branch."""
        return self.book.snapshot("transcript", self.seen(views.transcript, thread, branch))

    def tree(self, thread: str) -> Answer:
        """Every message of a thread with its place."""
        return self.book.snapshot("thread_tree", self.seen(views.thread_tree, thread))

    def seen(self, view: Callable[..., Any], *asked: Any) -> Any:
        """A view of one moment: what another process commits while it is read makes it be read again."""
        while True:
            page = self.book.page()
            document = view(page, *asked)
            if self.book.store.position() == page.position:
                return document

    def _take(self, name: str, key: str | None, decision: Callable[..., decisions.Decide], *asked: Any) -> Answer:
        """A key counts for one kind of act, and for the very same request."""
        digest = hashlib.sha256(json.dumps([name, *asked], sort_keys=True).encode()).hexdigest() if key else ""
        return self.book.take(decision(*asked), f"{name}|{key}" if key else None, digest)

    def _told(self, model: str, answer: Answer) -> Answer:
        self.book.contract.check_record(model, answer)
        self.book.capture.snapshot(model, answer, written(self.book.clock.now()))
        return answer


@contextlib.contextmanager
def _asked(code: str) -> Iterator[None]:
    """What does not fit its schema because of what a caller gave is a refusal, and not our own fault."""
    try:
        yield
    except ContractBroken as fault:
        raise CommandRejected(code, str(fault), category="invalid_request") from fault


def stamp(page: Page, draft: Draft) -> Line:
    """A stored event with the next sequence of its stream, cleaned of paths and secrets; or a run record."""
    if not isinstance(draft, Said):
        return {"record": "run", **draft.record}
    stream = stream_of(draft.run)
    place = {"seq": page.sequence(stream) + 1, "timestamp": draft.at, "streamId": stream}
    return {**place, "event": cleaned(draft.event, page.need("run", draft.run).data["tail"])}


def learn(page: Page, line: Line, moves: list[Move]) -> None:
    """Keeps what a line tells about its run, and about the runs that its commit superseded."""
    run = page.edit("run", line["runId"] if "record" in line else line["streamId"].removeprefix("run:"))
    if "record" not in line:
        follow(page, run, line)
        return
    fresh = {"supersededBy": None, "lastSeq": 0, "pending": [], "step": None, "tail": ""}
    run.data = fresh | run.data | {name: line[name] for name in views.FIELDS}
    page.edit("stream", line["streamId"]).data["at"] = line["finishedAt"] or line["createdAt"]
    for move in moves:
        if move.record.id != run.id and move.changed:
            move.record.data["supersededBy"] = run.id
