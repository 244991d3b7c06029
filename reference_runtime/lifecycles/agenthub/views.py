"""The run view: one run as Desktop and Web show it."""

from __future__ import annotations

from typing import Any

from reference_runtime.facts.record import Record
from reference_runtime.lifecycles.agenthub.facts import PLAN, Data
from reference_runtime.lifecycles.agenthub.gates import effect_of
from reference_runtime.lifecycles.agenthub.lines import owned
from reference_runtime.lifecycles.book import Page

UNTOLD = {"honest": "unknown", "reason": "The stream does not tell."}


def run_view(page: Page, identity: str) -> dict[str, Any]:
    """Everything that the events of a run support; null for what has not happened."""
    run = page.need("run", identity)
    data, told = run.data, run.data.get("completed", {})
    return {
        "runId": run.id,
        "sessionId": data.get("sessionId"),
        "agentId": data.get("agentId"),
        **_state(page, run),
        **_beginning(data),
        **_approvals(page, run),
        "patches": [patch.data["told"] for patch in owned(page, "patch", run.id)],
        **_failure(data),
        "cancellation": data.get("cancellation") if run.state == "Cancelled" else None,
        "degraded": told.get("degraded", False),
        "degradedReason": told.get("degradedReason"),
        **{name: told.get(name) for name in ("finalResponse", "diffState", "metrics")},
        "links": _links(run),
    }


def _state(page: Page, run: Record) -> Data:
    labels = {row["id"]: row["text"]["en"]["label"] for row in page.protocol.tables["vocabulary"]["rows"]}
    last = run.data["last"]
    return {
        "state": run.state,
        "stateLabel": labels[run.state],
        "terminal": page.protocol.machines["run"].is_terminal(run.state),
        "lastEventAt": last["at"],
        "lastEventId": last["id"],
        "lastSequence": last["sequence"],
        **{name: run.data.get(name) for name in ("createdAt", "startedAt", "endedAt")},
    }


def _beginning(data: Data) -> Data:
    """Who asked for what, where it was to run, and what was checked; unknown where a start was told without it."""
    untold = UNTOLD if "startedAt" in data else None
    plan = data.get("plan", {})
    return {
        **{name: data.get(name) for name in ("task", "actor", "project", "workspace", "agentProfile")},
        **{name: plan.get(name, untold) for name in PLAN},
        "acceptedBy": data.get("acceptedBy"),
        "checks": data.get("checks") or untold,
        "runtime": data.get("runtime"),
    }


def _approvals(page: Page, run: Record) -> Data:
    entries = [(one, _asked(page, one)) for one in owned(page, "approval", run.id)]
    pending = [asked | _question(one) for one, asked in entries if one.open]
    acts = run.state == "Applying" or any(entry["effect"] == "apply" for entry in pending)
    decided = ("decision", "actor", "decidedAt")
    return {
        "reviewMode": "apply" if acts else "read_only",
        "pendingApprovals": pending,
        "decidedApprovals": [
            asked | {name: one.data[name] for name in decided} for one, asked in entries if not one.open
        ],
    }


def _asked(page: Page, approval: Record) -> Data:
    request = approval.data["request"]
    kind = request["actionKind"]
    asked = {"approvalId": approval.id, "actionKind": kind, "effect": effect_of(page.protocol, kind)}
    return asked | {"summary": request.get("summary")}


def _question(approval: Record) -> Data:
    request = approval.data["request"]
    shown = {name: request.get(name) for name in ("commandPreview", "workspace")}
    return {**shown, "requestedAt": approval.data["requestedAt"]}


def _failure(data: Data) -> Data:
    told = data.get("failure", {})
    return {
        "failureCode": told.get("code"),
        "safeMessage": told.get("safeMessage"),
        "nextAction": told.get("nextAction"),
        "failureDetails": told.get("details"),
        "triage": data.get("triage", []),
    }


def _links(run: Record) -> Data:
    told = run.data.get("completed")
    return {
        "artifacts": list(run.data.get("artifacts", {}).values()),
        "diff": list(run.data.get("diffs", {}).values()),
        "transcript": told.get("transcriptRef", UNTOLD) if told else None,
        "audit": run.data.get("audit", []),
    }
