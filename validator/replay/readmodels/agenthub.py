"""The run view of AgentHub, folded from steps as the derivation table of its sixth chapter says.

States come from the moves the tables made; this module only remembers what events told. Null says that nothing of the
kind has happened, an honest value that the stream cannot tell: a run whose beginning was not seen is `unknown`, and
one that was open when a line was lost is `stale` until something is heard of it.
"""

from __future__ import annotations

from validator.protocol.honest import known
from validator.protocol.machine import NONE
from validator.records import dataclass, field
from validator.replay.readmodels.listed import Listed
from validator.replay.step import Move, Step
from validator.replay.world import World

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MODEL = "run_view"
UNTOLD = {"honest": "unknown", "reason": "The stream does not tell."}
LOST = {"honest": "stale", "reason": "A line was lost, and nothing was heard of the run since."}
_ASKED = ("task", "actor", "agentProfile")
_PLACED = ("project", "workspace")
_PLANNED = ("targetEdge", "workspacePolicy", "runtimeProfile", "approvalPolicy")
_RESULT = ("finalResponse", "diffState", "metrics")
_FAILURE = {
    "failureCode": "code",
    "safeMessage": "safeMessage",
    "nextAction": "nextAction",
    "failureDetails": "details",
}
_ABOUT_APPROVALS = ("run.approval.requested", "run.approval.resolved")
_ENDINGS = ("endedAt", *_FAILURE, "cancellation", "degradedReason", *_RESULT)
"""What may have happened in a lost line."""


@dataclass(slots=True)
class _Approval:
    """One approval as its request, and later its decision, told it."""

    request: dict[str, Any]
    requested_at: Any
    number: int
    """How many were requested before it."""
    state: str = "pending"
    actor: Any = None
    decided_at: Any = None


@dataclass(slots=True)
class _Run:
    """What the events of one run told so far."""

    run_id: str
    state: str = NONE
    last: dict[str, Any] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)
    created: dict[str, Any] | None = None
    times: dict[str, Any] = field(default_factory=dict)
    plan: dict[str, Any] = field(default_factory=dict)
    accepted_by: Any = None
    checks: Any = None
    runtime: Any = None
    approvals: dict[str, _Approval] = field(default_factory=dict)
    pending: Listed = field(default_factory=lambda: Listed("approvalId"))
    decided: Listed = field(default_factory=lambda: Listed("approvalId"))
    """Approvals as a view shows them; views that are asked for again and again share what they list."""
    applying: int = 0
    """How many of the pending ones would let the run act."""
    patches: Listed = field(default_factory=lambda: Listed("patchId"))
    failure: dict[str, Any] = field(default_factory=dict)
    triage: list[dict[str, Any]] = field(default_factory=list)
    cancellation: dict[str, Any] | None = None
    completed: dict[str, Any] | None = None
    artifacts: Listed = field(default_factory=lambda: Listed("artifactId"))
    diffs: Listed = field(default_factory=lambda: Listed("path"))
    audit: Listed = field(default_factory=Listed)


class RunViews:
    """Every run of a capture; `apply` each step, `build` the view of a run at any time."""

    def __init__(self, world: World):
        self._world = world
        self.kept_runs: dict[str, _Run] = {}
        """What is kept of each run; a run that was let go of begins anew with its next line."""
        tables = world.protocol.tables
        self._labels = {row["id"]: row["text"]["en"]["label"] for row in tables["vocabulary"]["rows"]}
        self._effects = {
            action: row["values"]["effect"] for row in tables["gates"]["rows"] for action in row["values"]["actions"]
        }
        self._triage = {row["values"].get("triage") for row in tables["failures"]["rows"]} - {None}

    @property
    def run_ids(self) -> tuple[str, ...]:
        """The runs heard of, in the order of their first events."""
        return tuple(self.kept_runs)

    def apply(self, step: Step) -> None:
        """Learns from one step; an event delivered again tells nothing new."""
        run_id = step.scope.get("run_id")
        if step.kind != "event" or step.repeats is not None or run_id is None:
            return
        run = self.kept_runs.setdefault(run_id, _Run(run_id))
        self._envelope(run, step)
        if any(refusal.state != NONE for refusal in step.refusals):
            return
        payload = step.line.get("payload")
        payload = payload if isinstance(payload, dict) else {}
        self._tell(run, step, payload)
        for move in step.moves:
            self._move(run, move, step)
        if step.type in _ABOUT_APPROVALS:
            self._list(run, str(payload.get("approvalId")))

    def _envelope(self, run: _Run, step: Step) -> None:
        get = self._world.protocol.lens.get
        run.last = {name: get(step.line, name) for name in ("timestamp", "event_id", "sequence")}
        for name in ("session_id", "agent_id"):
            if name in step.scope:
                run.first.setdefault(name, step.scope[name])

    def _move(self, run: _Run, move: Move, step: Step) -> None:
        at = run.last["timestamp"]
        if move.machine == "approval" and move.subject in run.approvals and move.source != move.target:
            approval = run.approvals[move.subject]
            approval.state = move.target
            if move.target != "pending":
                approval.decided_at = at
            self._list(run, move.subject)
        elif move.machine == "run" and move.subject == run.run_id and move.source != move.target:
            run.state = move.target
            if self._world.protocol.machines["run"].is_terminal(move.target):
                run.times["ended"] = at

    def _tell(self, run: _Run, step: Step, payload: dict[str, Any]) -> None:
        """Keeps what an event of a known type says."""
        if step.type in self._triage:
            run.triage.append({"type": step.type, "code": payload.get("code"), "at": run.last["timestamp"]})
        teller = _TELLERS.get(step.type or "")
        if teller is not None:
            teller(run, payload)
        audit = known(payload.get("audit"))
        refs = audit.get("refs") if isinstance(audit, dict) else None
        if isinstance(refs, list):
            for ref in refs:
                if isinstance(ref, str):
                    run.audit.add(ref)

    def build(self, run_id: str) -> dict[str, Any]:
        """The run as Desktop and Web show it, at this point of the stream."""
        run = self.kept_runs[run_id]
        subject = self._world.subjects("run").get(run_id)
        view = {
            "runId": run_id,
            "sessionId": run.first.get("session_id"),
            "agentId": run.first.get("agent_id"),
            **self._state(run),
            "lastEventAt": run.last["timestamp"],
            "lastEventId": run.last["event_id"],
            "lastSequence": run.last["sequence"],
            **_origin(run),
            **self._decisions(run),
            "patches": run.patches,
            **{name: run.failure.get(name) for name in _FAILURE},
            "triage": run.triage,
            "cancellation": run.cancellation,
            **_outcome(run),
        }
        if subject is not None and subject.doubted:
            _doubt(view)
        return view

    def _state(self, run: _Run) -> dict[str, Any]:
        if run.state == NONE:
            return {"state": "unknown", "stateLabel": "unknown", "terminal": UNTOLD, "endedAt": UNTOLD}
        over = self._world.protocol.machines["run"].is_terminal(run.state)
        ended = run.times.get("ended")
        return {"state": run.state, "stateLabel": self._labels[run.state], "terminal": over, "endedAt": ended}

    def _decisions(self, run: _Run) -> dict[str, Any]:
        acts = run.state == "Applying" or run.applying
        return {
            "reviewMode": "unknown" if run.state == NONE else "apply" if acts else "read_only",
            "pendingApprovals": run.pending,
            "decidedApprovals": run.decided,
        }

    def _list(self, run: _Run, name: str) -> None:
        """Puts an approval where a view shows it."""
        approval = run.approvals.get(name)
        if approval is None:
            return
        for entries in (run.pending, run.decided):
            if name in entries.known:
                run.applying -= entries is run.pending and entries.known[name]["effect"] == "apply"
                entries.leave(name)
        if approval.state == "pending":
            entry = self._pending(approval)
            run.applying += entry["effect"] == "apply"
            run.pending.enter(name, approval.number, entry)
        else:
            run.decided.enter(name, approval.number, self._decided(approval))

    def _common(self, approval: _Approval) -> dict[str, Any]:
        kind = approval.request.get("actionKind")
        return {
            "approvalId": approval.request.get("approvalId"),
            "actionKind": kind,
            "effect": self._effects.get(str(kind), "unknown"),
            "summary": approval.request.get("summary"),
        }

    def _pending(self, approval: _Approval) -> dict[str, Any]:
        asked = {name: approval.request.get(name) for name in ("commandPreview", "workspace")}
        return {**self._common(approval), **asked, "requestedAt": approval.requested_at}

    def _decided(self, approval: _Approval) -> dict[str, Any]:
        decision = {"decision": approval.state, "actor": approval.actor, "decidedAt": approval.decided_at}
        return {**self._common(approval), **decision}


def _origin(run: _Run) -> dict[str, Any]:
    """Who asked for the run, where it was planned to go, and how it was started."""
    started = "started" in run.times or run.created is None
    later = UNTOLD if started else None
    if run.created is None:
        asked: dict[str, Any] = {"createdAt": UNTOLD, **dict.fromkeys((*_ASKED, *_PLACED), UNTOLD)}
    else:
        asked = {
            "createdAt": run.times["created"],
            **{name: run.created.get(name, UNTOLD) for name in _ASKED},
            **{name: run.created.get(name) for name in _PLACED},
        }
    return {
        **asked,
        "startedAt": run.times.get("started", None if run.created is not None else UNTOLD),
        **{name: run.plan.get(name, later) for name in _PLANNED},
        "acceptedBy": run.accepted_by,
        "checks": run.checks if run.checks is not None else later,
        "runtime": run.runtime if run.runtime is not None else later,
    }


def _outcome(run: _Run) -> dict[str, Any]:
    """What the end of the run told, and where its results are."""
    told = run.completed or {}
    transcript = None if run.completed is None else told.get("transcriptRef", UNTOLD)
    degraded = told.get("degraded", False)
    return {
        "degraded": degraded,
        "degradedReason": told.get("degradedReason") if degraded else None,
        **{name: told.get(name) for name in _RESULT},
        "links": {
            "artifacts": run.artifacts,
            "diff": run.diffs,
            "transcript": transcript,
            "audit": run.audit,
        },
    }


def _doubt(view: dict[str, Any]) -> None:
    """Takes back what a lost line may have changed."""
    view.update(state="stale", stateLabel="stale", terminal=LOST, reviewMode="stale", pendingApprovals=LOST)
    view |= dict.fromkeys(("degraded", *_ENDINGS), LOST)


def _created(run: _Run, payload: dict[str, Any]) -> None:
    run.created = payload
    run.times["created"] = run.last["timestamp"]
    _planned(run, payload.get("plan"))


def _planned(run: _Run, plan: Any) -> None:
    if isinstance(plan, dict):
        run.plan |= {name: plan[name] for name in _PLANNED if name in plan}


def _accepted(run: _Run, payload: dict[str, Any]) -> None:
    run.accepted_by = payload.get("edge")


def _checked(run: _Run, payload: dict[str, Any]) -> None:
    run.checks = payload.get("checks", run.checks)


def _started(run: _Run, payload: dict[str, Any]) -> None:
    run.times["started"] = run.last["timestamp"]
    run.runtime = payload.get("runtime")
    _planned(run, payload.get("plan"))
    _checked(run, payload)


def _requested(run: _Run, payload: dict[str, Any]) -> None:
    approval = payload.get("approvalId")
    if isinstance(approval, str) and approval not in run.approvals:
        run.approvals[approval] = _Approval(payload, run.last["timestamp"], len(run.approvals))
    _patched(run, payload, status=None)


def _resolved(run: _Run, payload: dict[str, Any]) -> None:
    approval = run.approvals.get(str(payload.get("approvalId")))
    if approval is None:
        return
    approval.actor = payload.get("actor")
    if payload.get("decision") in ("rejected", "cancelled"):
        reason = f"approval_{payload['decision']}"
        run.cancellation = run.cancellation or {"actor": payload.get("actor"), "reason": reason}


def _proposed(run: _Run, payload: dict[str, Any]) -> None:
    entry = _patch(run, payload)
    if entry is None:
        name = payload.get("patchId")
        entry = {"patchId": name}
        run.patches.enter(name if isinstance(name, str) else None, len(run.patches), entry)
    names = ("affectedFiles", "applyStatus", "approvalId")
    entry.update({name: payload[name] for name in names if name in payload})


def _applying(run: _Run, payload: dict[str, Any]) -> None:
    _patched(run, payload, status="applying")


def _applied(run: _Run, payload: dict[str, Any]) -> None:
    _patched(run, payload, status=payload.get("applyStatus"))


def _patched(run: _Run, payload: dict[str, Any], status: Any) -> None:
    """A request or an application names a patch: the approval is told, and perhaps how the application stands."""
    entry = _patch(run, payload)
    if entry is not None:
        entry["approvalId"] = payload.get("approvalId", entry.get("approvalId"))
        entry["applyStatus"] = status if status is not None else entry.get("applyStatus")


def _patch(run: _Run, payload: dict[str, Any]) -> dict[str, Any] | None:
    patch = payload.get("patchId")
    return run.patches.known.get(patch) if isinstance(patch, str) else None


def _diff(run: _Run, payload: dict[str, Any]) -> None:
    path = payload.get("path")
    if isinstance(path, str):
        told = {"path": path, "changeSummary": payload.get("changeSummary"), "diffRef": payload.get("diffRef")}
        if path in run.diffs.known:
            run.diffs.known[path].update(told)
        else:
            run.diffs.enter(path, len(run.diffs), told)


def _artifact(run: _Run, payload: dict[str, Any]) -> None:
    artifact = payload.get("artifactId")
    if isinstance(artifact, str):
        if artifact not in run.artifacts.known:
            run.artifacts.enter(artifact, len(run.artifacts), {"artifactId": artifact})
        entry = run.artifacts.known[artifact]
        entry.update({name: payload[name] for name in ("kind", "path", "ref") if name in payload})


def _completed(run: _Run, payload: dict[str, Any]) -> None:
    run.completed = payload
    listed = known(payload.get("artifacts"))
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict):
            _artifact(run, entry)


def _failed(run: _Run, payload: dict[str, Any]) -> None:
    run.failure = {name: payload.get(source) for name, source in _FAILURE.items()}


def _cancelled(run: _Run, payload: dict[str, Any]) -> None:
    run.cancellation = {"actor": payload.get("actor"), "reason": payload.get("reason")}


_TELLERS = {
    "run.created": _created,
    "run.planned": _planned,
    "run.accepted": _accepted,
    "run.preparing": _checked,
    "run.started": _started,
    "run.approval.requested": _requested,
    "run.approval.resolved": _resolved,
    "run.patch.proposed": _proposed,
    "run.apply.started": _applying,
    "run.apply.completed": _applied,
    "run.diff.ready": _diff,
    "run.artifact.ready": _artifact,
    "run.preview.ready": _artifact,
    "run.completed": _completed,
    "run.failed": _failed,
    "run.cancelled": _cancelled,
}
