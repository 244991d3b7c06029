"""What the ledger decides: pure generators of drafts, each a whole transaction.

A decision reads a page, yields what is to be written, and returns the answer. It refuses by raising, and then nothing
of it is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

from reference_runtime.errors import CommandRejected
from reference_runtime.facts.record import Record
from reference_runtime.lifecycles.agent_threads.reducer import reduce
from reference_runtime.lifecycles.agent_threads.stream import closed, stream_of
from reference_runtime.lifecycles.agent_threads.ulid import ulid
from reference_runtime.lifecycles.agent_threads.views import run_record
from reference_runtime.lifecycles.book import Page
from reference_runtime.stamping import read

ACTIVE = ("created", "streaming")
ENDS = ("committed", "failed", "cancelled")
ACTIONS = {"fail": "failed", "cancel": "cancelled"}


@dataclass(frozen=True, slots=True)
class Said:
    """An event to put on a run's stream."""

    run: str
    event: dict[str, Any]
    at: str


@dataclass(frozen=True, slots=True)
class Stands:
    """A run record to write: the run as it stands after a change."""

    record: dict[str, Any]


Draft = Said | Stands
Made = Generator[Draft, None, dict[str, Any]]
Decide = Callable[[Page], Made]


def begin(thread: str, fork: str | None) -> Decide:
    """A run that has a record and a stream, and does not work yet (AT-54)."""

    def decide(page: Page) -> Made:
        message = page.get("message", fork)
        if fork is not None and (message is None or message.thread != thread):
            raise CommandRejected("unknown_fork", "The thread has no such message to fork from.", category="not_found")
        at = page.now()
        run = {"runId": new_id(page, at), "threadId": thread, "forkFromMessageId": fork, "status": "created"}
        times = {"createdAt": at, "finishedAt": None, "messageCount": 0}
        yield Stands({**run, "streamId": stream_of(run["runId"]), **times})
        return run_record(page, run["runId"])

    return decide


def activate(run_id: str) -> Decide:
    """A created run becomes writable; any other is refused (AT-109)."""

    def decide(page: Page) -> Made:
        run = page.need("run", run_id)
        if run.state != "created":
            raise _wrong_state(run, "activated")
        yield _changed(page, run, status="streaming")
        return run_record(page, run_id)

    return decide


def append(run_id: str, events: Sequence[dict[str, Any]]) -> Decide:
    """Events on the stream of a run that streams, all with one time; none at all changes nothing."""

    def decide(page: Page) -> Made:
        run = page.need("run", run_id)
        if run.state != "streaming":
            raise _wrong_state(run, "written to")
        at = _moment(page, run_id)
        for event in events:
            yield Said(run_id, {name: event[name] for name in ("kind", "payload") if name in event}, at)
        return {"lastSeq": run.data["lastSeq"]}

    return decide


def finalize(run_id: str, status: str) -> Decide:
    """The end of a run; asked again it changes nothing, and the answer says whether it holds (AT-62, AT-63)."""

    def decide(page: Page) -> Made:
        run = page.need("run", run_id)
        if status not in ENDS:
            raise CommandRejected("invalid_status", f"A run ends as one of {', '.join(ENDS)}.")
        if run.state == "created":
            raise _wrong_state(run, "finalized")
        replaced: list[str] = []
        if run.state == "streaming" and status == "committed":
            replaced = yield from _commit(page, run)
        elif run.state == "streaming":
            yield _changed(page, run, status=status, finishedAt=_moment(page, run_id))
        return {"committed": run.state == status, "supersededRunIds": replaced}

    return decide


def recover(run_id: str, action: str) -> Decide:
    """Closes a run that nobody seems to work on; a run that is over is refused (AT-83, AT-85)."""

    def decide(page: Page) -> Made:
        run = page.need("run", run_id)
        if action not in ACTIONS:
            raise CommandRejected("invalid_action", f"Recovery is one of {', '.join(ACTIONS)}.")
        if run.state not in ACTIVE:
            raise _wrong_state(run, "recovered")
        before = run.state
        yield _changed(page, run, status=ACTIONS[action], finishedAt=_moment(page, run_id))
        return {"runId": run_id, "previousStatus": before, "newStatus": run.state}

    return decide


def new_id(page: Page, at: str) -> str:
    """A ULID of this moment that nothing else in the store has."""
    counter = page.edit("counter", "ulid").data
    counter["last"] = counter.get("last", 0) + 1
    return ulid(read(at), str(counter["last"]))


def _commit(page: Page, run: Record) -> Generator[Draft, None, list[str]]:
    """Messages, count, status and the supersession of siblings: one transaction, or nothing of it (AT-64)."""
    closed(run)
    replaced = [other.id for other in _siblings(page, run) if other.state == "committed"]
    at = _moment(page, run.id, *replaced)
    count = _keep_messages(page, run, at)
    yield _changed(page, run, status="committed", finishedAt=at, messageCount=count)
    for other in replaced:
        yield _changed(page, page.need("run", other), status="superseded", finishedAt=at)
    return replaced


def _moment(page: Page, *runs: str) -> str:
    """Now, and not before what was written about these runs: another process may have another clock (AT-23, AT-49)."""
    streams = (page.need("run", run).data["streamId"] for run in runs)
    return max(page.now(), *(page.need("stream", stream).data["at"] for stream in streams))


def _siblings(page: Page, run: Record) -> list[Record]:
    """The other runs of the thread at the same fork; a run without a fork has none (AT-77)."""
    fork = run.link("fork_from_message_id")
    found = page.find("run", thread_id=run.thread, fork_from_message_id=fork) if fork else []
    return [other for other in found if other.id != run.id]


def _keep_messages(page: Page, run: Record, at: str) -> int:
    """What the stream reduces to, each message under the one before it and the first under the fork (AT-45)."""
    parent = run.link("fork_from_message_id")
    messages = reduce(line for line in page.log(stream_of(run.id)) if "record" not in line)
    for message in messages:
        record = page.edit("message", new_id(page, at))
        record.thread, record.scope = run.thread, {"run_id": run.id}
        record.data = {"id": record.id, "parentMessageId": parent, **message}
        parent = record.id
    return len(messages)


def _changed(page: Page, run: Record, **facts: Any) -> Stands:
    return Stands(run_record(page, run.id) | facts)


def _wrong_state(run: Record, what: str) -> CommandRejected:
    return CommandRejected("wrong_state", f"A run that is {run.state} cannot be {what}.", category="wrong_state")
