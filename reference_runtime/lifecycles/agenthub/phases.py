"""From a request to a runtime at work: created, planned, accepted, preparing, running."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reference_runtime.errors import CommandRejected
from reference_runtime.facts.record import Record
from reference_runtime.lifecycles.agenthub import ends
from reference_runtime.lifecycles.agenthub.lines import Draft, Payload
from reference_runtime.lifecycles.agenthub.places import Adapter, Edge, Habits, Wish
from reference_runtime.lifecycles.book import Page

Drafts = Iterator[Draft]
BEFORE_THE_START = ("Created", "Planned", "Accepted", "Preparing")
_REPORTED = ("Planned", "Accepted")
"""Phases before preparing that a run was told to be in."""
_ASKED = ("task", "actor", "project", "workspace", "agentProfile")


def create(page: Page, request: dict[str, Any], wish: Wish) -> Drafts:
    """A run is asked for."""
    run = page.new_id("run")
    visible = {name: request.get(name) for name in ("sessionId", "agentId")}
    yield Draft("run.created", run, {name: request.get(name) for name in _ASKED}, visible=visible)
    page.edit("run", run).data["wish"] = wish.told()


def again(page: Page, run: Record) -> Drafts:
    """Another try is another run, of the same task, for the same actor."""
    if run.state not in {"Failed", "Cancelled"}:
        raise CommandRejected("not_failed", "Only a run that failed or was cancelled is tried again.")
    request = {name: run.data.get(name) for name in (*_ASKED, "sessionId", "agentId")}
    yield from create(page, request, wish_of(run))


def wish_of(run: Record) -> Wish:
    return Wish(**run.data["wish"])


def adapter_of(run: Record, edge: Edge) -> Adapter:
    """The adapter that a run was planned for; one that the Edge does not have is a CLI that is missing."""
    name = wish_of(run).adapter
    return edge.adapters.get(name) or Adapter(name, trouble="cli_missing")


def plan_of(run: Record, edge: Edge) -> Payload:
    """Target, policies and runtime profile, as far as the request and the Edge settle them."""
    wish = wish_of(run)
    closed = {"file_write": "deny", "patch_apply": "deny"} if wish.access == "read_only" else {}
    return {
        "targetEdge": edge.told(),
        "workspacePolicy": {"id": f"wsp_{edge.id}", "access": wish.access, "allowlist": list(edge.allowlist)},
        "runtimeProfile": {"id": f"rt_{wish.adapter}", "adapter": wish.adapter, "model": wish.model},
        "approvalPolicy": {"id": f"apol_{run.id}", "gates": wish.gates | closed},
    }


def plan(page: Page, run: Record, edge: Edge) -> Drafts:
    yield Draft("run.planned", run.id, plan_of(run, edge))


def accept(page: Page, run: Record, edge: Edge) -> Drafts:
    """The Edge confirms that it can attempt the run."""
    if _reached(run, edge):
        yield Draft("run.accepted", run.id, {"edge": edge.told()})
    else:
        yield from _lost(page, run, edge)


def _reached(run: Record, edge: Edge) -> bool:
    """False for a run that has not started on an Edge that cannot be reached; for any other the table speaks."""
    return edge.online or run.state not in BEFORE_THE_START


def _lost(page: Page, run: Record, edge: Edge) -> Drafts:
    yield from ends.fail(page, run, "target_offline", f"{edge.name} does not answer.", {"edge": edge.id})


def prepare(page: Page, run: Record, edge: Edge) -> Drafts:
    """The Edge validates, tells what it has by then, and ends the run that must not start."""
    if not _reached(run, edge):
        yield from _lost(page, run, edge)
        return
    checks = checks_of(run, edge)
    later = {name: {"status": "pending"} for name in ("runtimeAvailability", "credentialBoundary")}
    yield Draft("run.preparing", run.id, {"checks": {**checks, **later}})
    yield Draft("run.preparing", run.id, {"checks": checks})
    yield from _refusal(page, run, edge, checks)


def checks_of(run: Record, edge: Edge) -> Payload:
    """The outcome of each validation."""
    trouble = adapter_of(run, edge).trouble
    folder = (run.data.get("workspace") or {}).get("id")
    return {
        "workspaceAllowlist": _check(folder in edge.workspaces, "The Edge was not allowed this workspace."),
        "runtimeAvailability": _check(trouble is None, f"The runtime cannot be used: {trouble}."),
        "credentialBoundary": _check(edge.credentials_apart, "The runtime would get credentials of others."),
    }


def _check(passed: bool, detail: str) -> Payload:
    return {"status": "passed"} if passed else {"status": "failed", "detail": detail}


def _failed(checks: Payload) -> str | None:
    return next((name for name, outcome in checks.items() if outcome["status"] == "failed"), None)


def _refusal(page: Page, run: Record, edge: Edge, checks: Payload) -> Drafts:
    """The failure that a failed check asks for; the first one that failed counts."""
    failed = _failed(checks)
    details = {"check": failed}
    if failed == "workspaceAllowlist":
        yield from ends.fail(page, run, "workspace_outside_allowlist", checks[failed]["detail"], details)
    elif failed == "runtimeAvailability":
        yield from ends.unavailable(page, run, str(adapter_of(run, edge).trouble), checks[failed]["detail"])
    elif failed == "credentialBoundary":
        yield from ends.fail(page, run, "permission_denied", checks[failed]["detail"], details)


def start(page: Page, run: Record, edge: Edge) -> Drafts:
    """The runtime works on the task; a plan and checks that were passed in silence are evidenced here (AH-30)."""
    untold = None if "checks" in run.data else checks_of(run, edge)
    if not _reached(run, edge):
        yield from _lost(page, run, edge)
    elif run.state in _REPORTED and _failed(untold or {}):
        yield from prepare(page, run, edge)  # a run that reports its phases fails in the one that failed (AH-123)
    elif run.state in BEFORE_THE_START and _failed(untold or {}):
        yield from _refusal(page, run, edge, untold or {})
    else:
        yield from _started(page, run, edge, untold)


def _started(page: Page, run: Record, edge: Edge, checks: Payload | None) -> Drafts:
    wish = wish_of(run)
    payload: Payload = {
        "startedAt": page.now(),
        "runtime": {"adapter": wish.adapter, "version": adapter_of(run, edge).version, "model": wish.model},
        "plan": None if "plan" in run.data else plan_of(run, edge),
        "checks": checks,
    }
    yield Draft("run.started", run.id, payload)


def launch(page: Page, run: Record, edge: Edge, habits: Habits) -> Drafts:
    """All phases up to the start at once, without the events that the habits leave out."""
    for phase, step in (("planned", plan), ("accepted", accept), ("preparing", prepare)):
        if run.open and phase not in habits.silent:
            yield from step(page, run, edge)
    if run.open:
        yield from start(page, run, edge)
