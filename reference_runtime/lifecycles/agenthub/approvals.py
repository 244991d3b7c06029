"""Approvals: asked for, repeated, decided, lapsed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from reference_runtime.errors import CommandRejected
from reference_runtime.facts.record import Record
from reference_runtime.lifecycles.agenthub import ends
from reference_runtime.lifecycles.agenthub.lines import Draft, Payload
from reference_runtime.lifecycles.agenthub.places import Edge, Habits
from reference_runtime.lifecycles.book import Page
from reference_runtime.stamping import read, written

Drafts = Iterator[Draft]


def request(
    page: Page, run: Record, kind: str | None, question: Payload, action: dict[str, Any], approval: str | None = None
) -> Drafts:
    """A risky action waits for a decision; what was asked is kept, so that nothing else is done with the consent."""
    approval, now = approval or page.new_id("apr"), page.now()
    lapses = read(now) + timedelta(milliseconds=run.data["wish"]["answer_ms"])
    agent = run.data.get("agentId")
    asked = {"approvalId": approval, "actionKind": kind, **question, "expiresAt": written(lapses)}
    asked["requestedBy"] = {"id": agent, "kind": "agent"} if agent else None
    yield Draft("run.approval.requested", run.id, asked)
    page.edit("approval", approval).data["action"] = action


def remind(page: Page, approval: Record) -> Drafts:
    """The same question again; it stays the same approval."""
    yield Draft("run.approval.requested", approval.scope["run_id"], approval.data["request"])


def decide(
    page: Page, approval: Record, edge: Edge, habits: Habits, decision: str, actor: Payload, reason: str | None
) -> Drafts:
    """A reviewer decides; an answer that comes too late finds the request lapsed."""
    if not approval.open:
        raise CommandRejected("not_pending", "The approval is resolved already.", category="conflict")
    asker = approval.data["request"].get("requestedBy")
    if asker and actor.get("id") == asker["id"]:
        raise CommandRejected("own_request", "Who asks for an action does not decide about it.")
    now = page.now()
    if lapsed(approval, now):
        yield from lapse(page, approval, edge)
        return
    yield from _resolve(page, approval, habits, decision, actor, "explicit", reason, now)


def lapsed(approval: Record, now: str) -> bool:
    return read(now) >= read(approval.data["request"]["expiresAt"])


def lapse(page: Page, approval: Record, edge: Edge) -> Drafts:
    """Who does not answer has not agreed: the request is cancelled, and the run with it."""
    why = "The request lapsed before anybody decided"
    yield from _resolve(page, approval, Habits(), "cancelled", edge.actor(), "timeout", why, page.now())


def _resolve(
    page: Page,
    approval: Record,
    habits: Habits,
    decision: str,
    actor: Payload,
    basis: str,
    reason: str | None,
    at: str,
) -> Drafts:
    run = page.need("run", approval.scope["run_id"])
    told = {"approvalId": approval.id, "decision": decision, "actor": actor, "basis": basis, "reason": reason}
    yield Draft("run.approval.resolved", run.id, told, at)
    if decision == "rejected" and habits.rejection == "failed":
        summary = approval.data["request"]["summary"]
        message = f"The reviewer did not allow this: {summary}."
        yield from ends.fail(page, run, "approval_rejected", message, {"approvalId": approval.id})
    elif decision != "approved" and habits.rejection != "nothing":
        withdrawn = "The request was withdrawn." if basis == "explicit" else "The request was not answered in time."
        said = "The reviewer refused the action." if decision == "rejected" else withdrawn
        yield Draft("run.cancelled", run.id, {"actor": actor, "reason": f"approval_{decision}", "message": said})
