"""Applying: an approved action is carried out between two events, and leaves audit evidence.

The first event is durable before anything is touched. After a crash between the two, the files themselves tell
whether the change was applied; where they do not, the outcome is unknown and said to be so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reference_runtime.errors import CommandRejected
from reference_runtime.facts.record import Record
from reference_runtime.lifecycles.agenthub.folder import Folder, digest, digest_of
from reference_runtime.lifecycles.agenthub.lines import Draft, Payload, keep, not_applicable, tool_result
from reference_runtime.lifecycles.agenthub.places import Edge
from reference_runtime.lifecycles.book import Page

Drafts = Iterator[Draft]
_NO_PATCH = not_applicable("The action is not a patch.")


def begin(page: Page, approval: Record) -> Drafts:
    """The Edge says what it is about to do, under which approval."""
    if approval.state != "approved" or approval.data.get("carried_out"):
        raise CommandRejected("not_approved", "Nothing approved is left to do under this approval.")
    yield Draft("run.apply.started", approval.scope["run_id"], _what(approval))
    page.edit("approval", approval.id).data["carried_out"] = True


def _what(approval: Record) -> Payload:
    request = approval.data["request"]
    what = {"approvalId": approval.id, "patchId": request.get("patchId", _NO_PATCH)}
    return what | {"affectedFiles": request.get("affectedFiles")}


def writes(approval: Record) -> dict[str, str] | None:
    """The files that an action writes, with their new text; None when it writes none."""
    return approval.data["action"].get("changes")


def carry_out(approval: Record, folder: Folder) -> str:
    """Does what was approved and nothing else; a patch whose base has changed meanwhile is not applied."""
    changes, action = writes(approval), approval.data["action"]
    if changes is None:
        return "failed" if action["fails"] else "applied"
    if any(digest(folder, path) != was for path, was in action.get("before", {}).items()):
        return "failed"
    try:
        for path, text in changes.items():
            folder.write(path, text.encode())
    except OSError:
        return found(approval, folder)
    return "applied"


def found(approval: Record, folder: Folder) -> str:
    """What became of an action whose end nobody saw, as far as the files show it."""
    changes = writes(approval)
    if changes is None:
        return "unknown"
    now = {path: digest(folder, path) for path in changes}
    if now == {path: digest_of(text.encode()) for path, text in changes.items()}:
        return "applied"
    return "failed" if now == approval.data["action"].get("before") else "unknown"


def finish(page: Page, approval: Record, edge: Edge, status: str, folder: Folder) -> Drafts:
    """The Edge is done: status, audit evidence, and how the patch or the call that asked for it stands now."""
    run, action = approval.scope["run_id"], approval.data["action"]
    evidence = witness(page, approval, edge, status, folder)
    yield Draft("run.apply.completed", run, {**_what(approval), "applyStatus": status, "audit": {"refs": [evidence]}})
    if "patchId" in approval.data["request"]:
        patch = page.need("patch", approval.data["request"]["patchId"])
        yield Draft("run.patch.proposed", run, patch.data["told"])
    if "call" in action:
        content = action["result"] if status == "applied" else f"The action ended as {status}."
        yield tool_result(run, action["call"], action["tool"], content, failed=status != "applied")


def witness(page: Page, approval: Record, edge: Edge, status: str, folder: Folder) -> str:
    """Keeps the audit evidence of what was done, also for a run that ended meanwhile; its reference."""
    return keep(page, f"audit://{approval.scope['run_id']}/{approval.id}", _evidence(approval, edge, status, folder))


def _evidence(approval: Record, edge: Edge, status: str, folder: Folder) -> dict[str, Any]:
    """Who allowed what, who did it, and what the files held before and after."""
    changes = writes(approval) or {}
    return {
        "approvalId": approval.id,
        "decidedBy": approval.data["actor"],
        "decidedAt": approval.data["decidedAt"],
        "carriedOutBy": edge.actor(),
        "applyStatus": status,
        "before": approval.data["action"].get("before"),
        "after": {path: digest(folder, path) for path in changes},
    }
