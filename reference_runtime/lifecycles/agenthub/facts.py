"""What every event of a run leaves behind for later decisions and for the view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_runtime.facts.record import Record
from reference_runtime.facts.tables import Move
from reference_runtime.lifecycles.book import Line, Page

Data = dict[str, Any]
EVIDENCE = ("message", "tool", "file", "artifact")
"""Families whose events show what a runtime did."""
_CREATED = ("task", "actor", "project", "workspace", "agentProfile")
PLAN = ("targetEdge", "workspacePolicy", "runtimeProfile", "approvalPolicy")


def learn(page: Page, line: Line, moves: list[Move]) -> None:
    """Takes one event in."""
    run = page.edit("run", line["runId"]).data
    run["last"] = {"at": line["timestamp"], "id": line["id"], "sequence": line["sequence"]}
    for name in ("sessionId", "agentId"):
        run.setdefault(name, line.get(name))
    family = page.protocol.family_of[line["type"]]
    if family in EVIDENCE:
        run["evidence"] = run.get("evidence", 0) + 1
    if teller := _TELLERS.get(line["type"]):
        teller(page, run, line)
    if family == "runtime":
        entry = {"type": line["type"], "code": line["payload"]["code"], "at": line["timestamp"]}
        run["triage"] = [*run.get("triage", ()), entry]
    _audit(run, line["payload"].get("audit"))
    for move in moves:
        _moved(run, move, line)


def _moved(run: Data, move: Move, line: Line) -> None:
    if not move.ended:
        return
    if move.machine.name == "run":
        run["endedAt"] = line["timestamp"]
        return
    approval, told = move.record.data, line["payload"]
    by_decision = line["type"] == "run.approval.resolved" and told["approvalId"] == move.record.id
    approval |= {"decision": move.target, "decidedAt": line["timestamp"]}
    approval["actor"] = told["actor"] if by_decision else None
    if by_decision and move.target != "approved":
        run["cancellation"] = {"actor": told["actor"], "reason": f"approval_{move.target}"}


def _audit(run: Data, audit: Any) -> None:
    told = run.setdefault("audit", [])
    refs = audit.get("refs", ()) if isinstance(audit, dict) else ()
    told += [reference for reference in refs if reference not in told]


def _created(page: Page, run: Data, line: Line) -> None:
    run |= {name: line["payload"].get(name) for name in _CREATED}
    run["createdAt"] = line["timestamp"]
    _plan(run, line["payload"].get("plan"))


def _planned(page: Page, run: Data, line: Line) -> None:
    _plan(run, line["payload"])


def _plan(run: Data, plan: Any) -> None:
    if isinstance(plan, dict):
        run["plan"] = {name: plan[name] for name in PLAN}


def _accepted(page: Page, run: Data, line: Line) -> None:
    run["acceptedBy"] = line["payload"]["edge"]


def _prepared(page: Page, run: Data, line: Line) -> None:
    run["checks"] = line["payload"]["checks"]
    run.setdefault("preparedAt", line["timestamp"])


def _started(page: Page, run: Data, line: Line) -> None:
    told = line["payload"]
    run |= {"startedAt": line["timestamp"], "runtime": told.get("runtime")}
    run["checks"] = told.get("checks") or run.get("checks")
    _plan(run, told.get("plan"))


def _called(page: Page, run: Data, line: Line) -> None:
    run["calls"] = {**run.get("calls", {}), line["payload"]["callId"]: line["payload"]["toolName"]}
    run["called"] = run.get("called", 0) + 1


def _came_back(page: Page, run: Data, line: Line) -> None:
    run["calls"].pop(line["payload"]["callId"], None)


def _diff(page: Page, run: Data, line: Line) -> None:
    entry = {name: line["payload"][name] for name in ("path", "changeSummary", "diffRef") if name in line["payload"]}
    run["diffs"] = {**run.get("diffs", {}), entry["path"]: entry}


def _artifact(page: Page, run: Data, line: Line) -> None:
    names = ("artifactId", "kind", "path", "ref")
    entry = {name: line["payload"][name] for name in names if name in line["payload"]}
    known = run.get("artifacts", {})
    run["artifacts"] = {**known, entry["artifactId"]: {**known.get(entry["artifactId"], {}), **entry}}


def _proposed(page: Page, run: Data, line: Line) -> None:
    patch = _patch(page, line)
    if patch is not None:
        names = ("patchId", "affectedFiles", "applyStatus", "approvalId")
        patch.data["told"] = {name: line["payload"][name] for name in names if name in line["payload"]}


def _patch(page: Page, line: Line) -> Record | None:
    identity = line["payload"].get("patchId")
    if not isinstance(identity, str):
        return None
    patch = page.edit("patch", identity)
    patch.tell("run_id", line["runId"])
    return patch


def _requested(page: Page, run: Data, line: Line) -> None:
    approval = page.edit("approval", line["payload"]["approvalId"]).data
    approval.setdefault("request", line["payload"])
    approval.setdefault("requestedAt", line["timestamp"])
    _governed(page, line)


def _governed(page: Page, line: Line, status: str | None = None) -> None:
    patch = _patch(page, line)
    if patch is not None:
        patch.data["told"]["approvalId"] = line["payload"]["approvalId"]
        if status:
            patch.data["told"]["applyStatus"] = status


def _applying(page: Page, run: Data, line: Line) -> None:
    run["applying"] = line["payload"]["approvalId"]
    _governed(page, line, "applying")


def _applied(page: Page, run: Data, line: Line) -> None:
    run.pop("applying", None)
    if line["payload"]["applyStatus"] == "unknown":
        run["unsettled"] = [*run.get("unsettled", ()), line["payload"]["approvalId"]]
    _governed(page, line, line["payload"]["applyStatus"])


def _completed(page: Page, run: Data, line: Line) -> None:
    run["completed"] = line["payload"]


def _failed(page: Page, run: Data, line: Line) -> None:
    run["failure"] = line["payload"]


def _cancelled(page: Page, run: Data, line: Line) -> None:
    run["cancellation"] = {name: line["payload"][name] for name in ("actor", "reason")}


_TELLERS: dict[str, Callable[[Page, Data, Line], None]] = {
    "run.created": _created,
    "run.planned": _planned,
    "run.accepted": _accepted,
    "run.preparing": _prepared,
    "run.started": _started,
    "run.tool.call": _called,
    "run.tool.result": _came_back,
    "run.diff.ready": _diff,
    "run.patch.proposed": _proposed,
    "run.artifact.ready": _artifact,
    "run.preview.ready": _artifact,
    "run.approval.requested": _requested,
    "run.apply.started": _applying,
    "run.apply.completed": _applied,
    "run.completed": _completed,
    "run.failed": _failed,
    "run.cancelled": _cancelled,
}
