"""What the log says about each run."""

from __future__ import annotations

from bisect import bisect_right, insort

from validator.protocol.honest import known
from validator.records import dataclass, field
from validator.replay.readmodels.listed import Listed
from validator.replay.readmodels.runagents.words import APPROVALS, data_of, later, mixture, unknown, vocabulary_of
from validator.replay.readmodels.words import number, word
from validator.replay.step import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ENDS = {"COMPLETED": ("COMPLETED",), "FAILED": ("FAILED", "REJECTED", "INVOKE_FAILED")}
_ERRORS = ("ERROR", "FAILED", "INVOKE_FAILED")
_TELLING = {*_ERRORS, *_ENDS["COMPLETED"], *_ENDS["FAILED"]}


@dataclass(slots=True)
class _Run:
    """What is remembered of one run."""

    record: dict[str, Any] | None = None
    created: dict[str, Any] | None = None
    events: list[tuple[str | None, dict[str, Any]]] = field(default_factory=list)
    """In the order of their sequences."""
    kinds: set[str] = field(default_factory=set)
    """Those of its events that tell of an end or an error."""
    errors: list[dict[str, Any]] = field(default_factory=list)
    """The events that describe an error, in the order of their sequences."""
    failures: list[dict[str, Any]] = field(default_factory=list)
    """Those that tell of a failure and say why, likewise."""
    entries: Listed = field(default_factory=lambda: Listed("event_id"))
    """What a view shows of the first events; views that are asked for again and again share it."""
    actions: Listed = field(default_factory=Listed)
    words: set[str] = field(default_factory=set)
    blocked: str | None = None
    consent: dict[str, Any] | None = None
    ended_at: str | None = None
    rejected: bool = False
    updated_at: str | None = None


class RunViews:
    """Builds `run_view` for every run of a capture."""

    def __init__(self, world: Any):
        self._world = world
        self.kept_runs: dict[str, _Run] = {}
        """What is kept of each run; a run that was let go of begins anew with its next line."""
        self._words = vocabulary_of(world.protocol)

    def apply(self, step: Step) -> None:
        """Learns from one step."""
        for move in step.moves:
            if move.machine == "run":
                self._moved(self._run(move.subject), move.target, move.source, step)
        if step.kind == "event":
            self._event(step)
        elif step.kind == "run":
            self._record(step)
        elif step.kind == "snapshot" and step.type == "blocked_action":
            self._action(step)

    def build(self, key: str) -> dict[str, Any]:
        """The view of one run."""
        run = self._run(key)
        subject = self._world.subjects("run").get(key)
        status = subject.state if subject and not subject.doubted else "stale" if subject else "unknown"
        events = run.events
        for _, event in events[len(run.entries) :]:
            _show(run, event)
        record, created = run.record, data_of(run.created or {})
        absent = unknown("no run record in the capture")
        return {
            "run_id": key,
            "status": status,
            "agent_id": record["agent_id"] if record else created.get("agent_id", absent),
            "user_id": record["user_id"] if record else created.get("user_id", absent),
            "conversation_id": record.get("conversation_id") if record else absent,
            "initial_message": record.get("initial_message") if record else absent,
            "created_at": self._created_at(run),
            "updated_at": run.updated_at or unknown("no line gives a time"),
            "ended_at": run.ended_at,
            "ended_by": _ended_by(status, run),
            "reason": _reason(status, run),
            "last_error": _last_error(run),
            "blocked_action_id": run.blocked if status == "PAUSED_APPROVAL" else None,
            "pending_consent": _pending_consent(run) if status == "PAUSED_CONSENT" else None,
            "action_ids": run.actions,
            "vocabulary": mixture(run.words),
            "last_event": _last_event(events),
            "events": run.entries,
        }

    def runs(self) -> list[str]:
        """Every run that a line speaks about, in order of appearance."""
        return list(self.kept_runs)

    def _run(self, key: str) -> _Run:
        return self.kept_runs.setdefault(key, _Run())

    def _moved(self, run: _Run, target: str, source: str, step: Step) -> None:
        terminal = self._world.protocol.machines["run"].is_terminal
        if terminal(target) and not terminal(source):
            run.ended_at = step.line.get("updated_at" if step.kind == "run" else "timestamp")
        if target == "RUNNING" and source != target:
            run.blocked = run.consent = None

    def _event(self, step: Step) -> None:
        event, data = step.line, data_of(step.line)
        key = event.get("run_id")
        if not isinstance(key, str):
            return
        run = self._run(key)
        place = _place(run.events, event)
        run.events.insert(place, (step.type, event))
        if place < len(run.entries):
            _show(run, event)
        self._ending(run, step.type, event)
        run.updated_at = later(run.updated_at, event.get("timestamp"))
        side = self._words.get(word(event, "type") or "")
        if side:
            run.words.add(side)
        action = known(data.get("action_id"))
        if step.type in APPROVALS and isinstance(action, str):
            run.actions.add(action)
        if step.type == "RUN_CREATED":
            run.created = run.created or event
        elif step.type == "APPROVAL_REQUIRED":
            run.blocked = action
        elif step.type == "CONSENT_REQUIRED":
            run.consent = event
        elif step.type == "REJECTED":
            run.rejected = True

    def _ending(self, run: _Run, kind: str | None, event: dict[str, Any]) -> None:
        """Keeps what tells of an end or an error."""
        if kind in _TELLING:
            run.kinds.add(kind)
            if kind in _ERRORS and known(data_of(event).get("error")):
                insort(run.errors, event, key=_sequence)
            if kind in _ENDS["FAILED"] and _said(event):
                insort(run.failures, event, key=_sequence)

    def _record(self, step: Step) -> None:
        record = step.line
        key = record.get("id")
        if not isinstance(key, str) or not {"agent_id", "user_id"} <= record.keys():
            return
        run = self._run(key)
        run.record = record
        run.updated_at = later(run.updated_at, record.get("updated_at"))
        action = record.get("blocked_action_id")
        if isinstance(action, str):
            run.actions.add(action)
            run.blocked = run.blocked or action

    def _action(self, step: Step) -> None:
        record = step.line.get("snapshot")
        if isinstance(record, dict) and isinstance(record.get("run_id"), str):
            run = self._run(record["run_id"])
            if isinstance(record.get("action_id"), str):
                run.actions.add(record["action_id"])
            run.rejected = run.rejected or record.get("status") == "REJECTED"

    def _created_at(self, run: _Run) -> Any:
        if run.record:
            return run.record.get("created_at")
        if run.created:
            return run.created.get("timestamp")
        return unknown("neither a run record nor RUN_CREATED in the capture")


def _sequence(event: dict[str, Any]) -> int:
    return number(event, "seq") or 0


def _place(events: list[tuple[str | None, dict[str, Any]]], event: dict[str, Any]) -> int:
    """Where an event belongs among others: behind those of its sequence."""
    if not events or _sequence(events[-1][1]) <= _sequence(event):
        return len(events)
    return bisect_right(events, _sequence(event), key=lambda entry: _sequence(entry[1]))


def _failed_by_error(run: _Run) -> dict[str, Any] | None:
    """An ERROR tells of the end only as the last event of a failed run."""
    return run.events[-1][1] if run.events and run.events[-1][0] == "ERROR" else None


def _ended_by(status: str, run: _Run) -> str | None:
    if status not in _ENDS:
        return None
    is_told = not run.kinds.isdisjoint(_ENDS[status]) or (status == "FAILED" and _failed_by_error(run))
    return "event" if is_told else "record"


def _reason(status: str, run: _Run) -> Any:
    match status:
        case "PAUSED_APPROVAL":
            return "approval_required"
        case "PAUSED_CONSENT":
            return "consent_required"
        case "PAUSED":
            return unknown("the pause is not explained")
        case "RUNNING" | "COMPLETED":
            return None
        case "FAILED":
            said = next(map(_said, run.failures), None) or _said(_failed_by_error(run) or {})
            return said or ("rejected" if run.rejected else unknown("no line says why the run failed"))
    return unknown("where the run stands is not known")


def _said(event: dict[str, Any]) -> Any:
    """Why a run failed, as far as an event tells."""
    return known(data_of(event).get("reason")) or known(data_of(event).get("error"))


def _last_error(run: _Run) -> Any:
    if run.kinds.isdisjoint(_ERRORS):
        return None
    return data_of(run.errors[-1])["error"] if run.errors else unknown("the error is not described")


def _pending_consent(run: _Run) -> Any:
    if run.consent is None:
        return unknown("only a record tells of the consent")
    data = data_of(run.consent)
    return {
        "event_id": run.consent.get("event_id"),
        "tool_id": data.get("tool_id", data.get("tool", unknown("the event names no tool"))),
        "authorization_url": data.get("authorization_url", unknown("the event gives no address")),
        "requested_at": run.consent.get("timestamp"),
    }


def _last_event(events: list[tuple[str | None, dict[str, Any]]]) -> Any:
    if not events:
        return None
    return {name: events[-1][1].get(name) for name in ("event_id", "seq", "type", "timestamp")}


def _show(run: _Run, event: dict[str, Any]) -> None:
    """Shows an event in the views of its run, behind those of its sequence."""
    names = ("event_id", "seq", "type", "timestamp", "actor")
    told = {"action_id": data_of(event).get("action_id"), "payload_hash": event.get("payload_hash")}
    entry = {**{name: event.get(name) for name in names}, **told}
    run.entries.enter(word(event, "event_id"), (_sequence(event), len(run.entries)), entry)
