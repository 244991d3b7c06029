"""Read models of the ledger: run records, run views, transcripts and thread trees."""

from __future__ import annotations

from typing import Any

from reference_runtime.errors import CommandRejected
from reference_runtime.facts.record import Record
from reference_runtime.lifecycles.agent_threads.branches import Branch, Branches, Placed
from reference_runtime.lifecycles.book import Page

FIELDS = ("runId", "threadId", "streamId", "forkFromMessageId", "status", "createdAt", "finishedAt", "messageCount")


def run_record(page: Page, run: str) -> dict[str, Any]:
    """A run as its last record tells (AT-46)."""
    data = page.need("run", run).data
    return {name: data[name] for name in FIELDS}


def run_records(page: Page, thread: str) -> list[dict[str, Any]]:
    """The records of a thread's runs, in the order in which they began."""
    return [run_record(page, run.id) for run in page.find("run", thread_id=thread)]


def run_view(page: Page, run: str) -> dict[str, Any]:
    """A run as both planes show it (AT-107, AT-117)."""
    data = page.need("run", run).data
    own = {"supersededBy": data["supersededBy"], "lastSeq": data["lastSeq"], "pendingToolCallIds": data["pending"]}
    return run_record(page, run) | own


def transcript(page: Page, thread: str, branch: Branch = "active") -> dict[str, Any]:
    """The messages of a thread along a branch."""
    return {"threadId": thread, "branch": branch, "messages": _branches(page, thread).messages(branch)}


def thread_tree(page: Page, thread: str) -> dict[str, Any]:
    """Every message of a thread with its place, and where branches part."""
    branches = _branches(page, thread)
    return {"threadId": thread, "nodes": branches.nodes(), "forkPoints": branches.fork_points()}


def _branches(page: Page, thread: str) -> Branches:
    found = page.find("message", thread_id=thread)
    return Branches([Placed(record.data, record.scope["run_id"], _status(page, record)) for record in found])


def _status(page: Page, message: Record) -> str:
    """How the run of a message stands; without a record nobody guesses whether the message counts (AT-101)."""
    run = page.get("run", message.scope["run_id"])
    if run is None or not run.known:
        raise CommandRejected("run_without_status", "The run of a message has no status.", category="storage")
    return run.state
