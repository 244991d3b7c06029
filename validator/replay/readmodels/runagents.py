"""The read models of RunAgents: what the lines of a capture prove about a run and about a blocked action.

Both are accumulators: they learn from each step and build a view on demand. A value that no line gives is honestly
unknown; nothing is guessed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from validator.protocol.formats import parse_date_time
from validator.protocol.honest import known
from validator.replay.readmodels.words import number, word
from validator.replay.step import Step

_ENDS = {"COMPLETED": ("COMPLETED",), "FAILED": ("FAILED", "REJECTED", "INVOKE_FAILED")}
_ERRORS = ("ERROR", "FAILED", "INVOKE_FAILED")
_TOOLS = ("TOOL_REQUEST", "TOOL_CALLED", "TOOL_RESPONSE")
_APPROVALS = ("APPROVAL_REQUIRED", "APPROVED", "REJECTED")


def unknown(reason: str) -> dict[str, str]:
    """The honest value for what no line gives."""
    return {"honest": "unknown", "reason": reason}


def later(one: Any, other: Any) -> str | None:
    """The later of two time stamps, as it was written; a time that cannot be read counts for nothing."""
    first, second = (parse_date_time(text) if isinstance(text, str) else None for text in (one, other))
    if first is None or second is None:
        return one if first is not None else other
    return other if second >= first else one


def bare_hash(value: Any) -> str | None:
    """A payload hash without its prefix; None when there is no known hash."""
    value = known(value)
    return value.removeprefix("sha256:") if isinstance(value, str) else None


def data_of(event: dict[str, Any]) -> dict[str, Any]:
    """The details of an event."""
    data = event.get("data")
    return data if isinstance(data, dict) else {}


def vocabulary_of(protocol: Any) -> dict[str, str]:
    """Every word of the log with the vocabulary it belongs to: operations, api or shared."""
    words: dict[str, set[str]] = {}
    for row in protocol.tables["events"]["rows"]:
        for side in ("operations", "api"):
            for name in row["values"][side]:
                words.setdefault(name, set()).add(side)
    return {name: "shared" if len(sides) == 2 else next(iter(sides)) for name, sides in words.items()}


def mixture(vocabularies: set[str]) -> str | None:
    """The one word for a set of vocabularies."""
    if {"operations", "api"} <= vocabularies:
        return "mixed"
    own = vocabularies - {"shared"}
    return next(iter(own), "shared") if vocabularies else None


@dataclass(slots=True)
class _Run:
    """What is remembered of one run."""

    record: dict[str, Any] | None = None
    created: dict[str, Any] | None = None
    events: list[tuple[str | None, dict[str, Any]]] = field(default_factory=list)
    actions: dict[str, None] = field(default_factory=dict)
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
        events = sorted(run.events, key=lambda entry: number(entry[1], "seq") or 0)
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
            "ended_by": _ended_by(status, events),
            "reason": _reason(status, run, events),
            "last_error": _last_error(events),
            "blocked_action_id": run.blocked if status == "PAUSED_APPROVAL" else None,
            "pending_consent": _pending_consent(run) if status == "PAUSED_CONSENT" else None,
            "action_ids": list(run.actions),
            "vocabulary": mixture(run.words),
            "last_event": _last_event(events),
            "events": [_entry(event) for _, event in events],
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
        run.events.append((step.type, event))
        run.updated_at = later(run.updated_at, event.get("timestamp"))
        side = self._words.get(word(event, "type") or "")
        if side:
            run.words.add(side)
        action = known(data.get("action_id"))
        if step.type in _APPROVALS and isinstance(action, str):
            run.actions.setdefault(action)
        if step.type == "RUN_CREATED":
            run.created = run.created or event
        elif step.type == "APPROVAL_REQUIRED":
            run.blocked = action
        elif step.type == "CONSENT_REQUIRED":
            run.consent = event
        elif step.type == "REJECTED":
            run.rejected = True

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
            run.actions.setdefault(action)
            run.blocked = run.blocked or action

    def _action(self, step: Step) -> None:
        record = step.line.get("snapshot")
        if isinstance(record, dict) and isinstance(record.get("run_id"), str):
            run = self._run(record["run_id"])
            if isinstance(record.get("action_id"), str):
                run.actions.setdefault(record["action_id"])
            run.rejected = run.rejected or record.get("status") == "REJECTED"

    def _created_at(self, run: _Run) -> Any:
        if run.record:
            return run.record.get("created_at")
        if run.created:
            return run.created.get("timestamp")
        return unknown("neither a run record nor RUN_CREATED in the capture")


def _evidence(status: str, events: list[tuple[str | None, dict[str, Any]]]) -> list[dict[str, Any]]:
    """The events that tell of the end, in order; an ERROR does so only as the last one of a failed run."""
    found = [event for kind, event in events if kind in _ENDS.get(status, ())]
    if status == "FAILED" and events and events[-1][0] == "ERROR":
        found.append(events[-1][1])
    return found


def _ended_by(status: str, events: list[tuple[str | None, dict[str, Any]]]) -> str | None:
    if status not in _ENDS:
        return None
    return "event" if _evidence(status, events) else "record"


def _reason(status: str, run: _Run, events: list[tuple[str | None, dict[str, Any]]]) -> Any:
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
            for event in _evidence(status, events):
                said = known(data_of(event).get("reason")) or known(data_of(event).get("error"))
                if said:
                    return said
            return "rejected" if run.rejected else unknown("no line says why the run failed")
    return unknown("where the run stands is not known")


def _last_error(events: list[tuple[str | None, dict[str, Any]]]) -> Any:
    errors = [event for kind, event in events if kind in _ERRORS]
    said = [known(data_of(event).get("error")) for event in errors]
    if not errors:
        return None
    return next((text for text in reversed(said) if text), None) or unknown("the error is not described")


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


def _entry(event: dict[str, Any]) -> dict[str, Any]:
    names = ("event_id", "seq", "type", "timestamp", "actor")
    return {
        **{name: event.get(name) for name in names},
        "action_id": data_of(event).get("action_id"),
        "payload_hash": event.get("payload_hash"),
    }


@dataclass(slots=True)
class _Action:
    """What is remembered of one action."""

    run_id: str | None = None
    record: dict[str, Any] = field(default_factory=dict)
    required: dict[str, Any] = field(default_factory=dict)
    decided: dict[str, Any] = field(default_factory=dict)
    decision: str | None = None
    decided_at: str | None = None
    retry: str | None = None
    request: str | None = None
    hashes: list[Any] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    updated_at: str | None = None


class ActionViews:
    """Builds `action_view` for every blocked action of a capture."""

    def __init__(self, world: Any):
        self._world = world
        self._actions: dict[str, _Action] = {}
        self._requests: dict[str, dict[str, Any]] = {}
        self._by_action: dict[str, str] = {}

    @property
    def kept(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
        """What is kept of actions and of requests by their ids, and the request of each action."""
        return self._actions, self._requests, self._by_action

    def apply(self, step: Step) -> None:
        """Learns from one step."""
        if step.kind == "event":
            self._event(step)
        elif step.kind == "snapshot" and isinstance(step.line.get("snapshot"), dict):
            if step.type == "blocked_action":
                self._record(step.line["snapshot"], step.number)
            elif step.type == "approval_request":
                self._request(step.line["snapshot"])

    def lines(self, key: str) -> tuple[int, ...]:
        """The lines that tell of one action."""
        return tuple(self._actions[key].lines) if key in self._actions else ()

    def actions(self) -> list[str]:
        """Every action that was blocked, in order of appearance."""
        return list(self._world.subjects("blocked_action"))

    def build(self, key: str) -> dict[str, Any]:
        """The view of one action."""
        action = self._actions.get(key) or _Action()
        subject = self._world.subjects("blocked_action").get(key)
        status = subject.state.upper() if subject and not subject.doubted else "stale" if subject else "unknown"
        request_id = action.request or word(action.record, "request_id") or self._by_action.get(key)
        required, decided = data_of(action.required), data_of(action.decided)
        undecided = action.decision is None
        return {
            "action_id": key,
            "run_id": action.run_id,
            "request_id": request_id or unknown("no line names the approval request"),
            "tool_id": _first(required, action.record, "tool_id", "tool") or unknown("no line names the tool"),
            "capability": _first(required, action.record, "capability") or unknown("no line names the capability"),
            "payload_hash": action.required.get("payload_hash")
            or action.record.get("payload_hash")
            or unknown("no line gives a payload hash"),
            "payload_match": _match(action.hashes),
            "status": status,
            "decision": action.decision,
            "approver_id": None if undecided else self._approver(action),
            "scope": self._scope(action, request_id) if action.decision == "approved" else None,
            "reason": None if undecided else decided.get("reason") or unknown("the decision gives no reason"),
            "created_at": action.record.get("created_at")
            or action.required.get("timestamp")
            or unknown("no line tells of the block"),
            "decided_at": None if undecided else action.decided.get("timestamp") or action.decided_at,
            "updated_at": action.updated_at or unknown("no line gives a time"),
            "required_event_id": action.required.get("event_id") or unknown("no event tells of the block"),
            "decided_event_id": None
            if undecided
            else action.decided.get("event_id") or unknown("no decision event in the capture"),
            "retry_event_id": action.retry,
        }

    def _action(self, key: str) -> _Action:
        return self._actions.setdefault(key, _Action())

    def _event(self, step: Step) -> None:
        event, data = step.line, data_of(step.line)
        key = known(data.get("action_id"))
        if not isinstance(key, str):
            return
        action = self._action(key)
        action.lines.append(step.number)
        action.updated_at = later(action.updated_at, event.get("timestamp"))
        action.request = action.request or word(data, "request_id")
        if step.type == "APPROVAL_REQUIRED":
            action.required = action.required or event
            action.run_id = action.run_id or event.get("run_id")
        elif step.type in {"APPROVED", "REJECTED"}:
            self._decide(action, str(step.type).lower(), None)
            action.decided = action.decided or event
        elif step.type in _TOOLS and action.decision == "approved":
            action.retry = action.retry or event.get("event_id")
        if step.type in {*_APPROVALS, *_TOOLS}:
            action.hashes.append(event.get("payload_hash"))

    def _record(self, record: dict[str, Any], line: int) -> None:
        key = record.get("action_id")
        if not isinstance(key, str):
            return
        action = self._action(key)
        action.lines.append(line)
        action.record = {**action.record, **record}
        action.run_id = action.run_id or record.get("run_id")
        action.updated_at = later(action.updated_at, record.get("updated_at"))
        action.hashes.append(record.get("payload_hash"))
        if word(record, "status") in {"APPROVED", "EXECUTED"}:
            self._decide(action, "approved", record.get("updated_at"))
        elif record.get("status") == "REJECTED":
            self._decide(action, "rejected", record.get("updated_at"))

    def _decide(self, action: _Action, decision: str, time: str | None) -> None:
        if action.decision is None:
            action.decision, action.decided_at = decision, time

    def _request(self, record: dict[str, Any]) -> None:
        key, action = record.get("id"), record.get("action_id")
        if isinstance(key, str):
            self._requests[key] = {**self._requests.get(key, {}), **record}
            if isinstance(action, str):
                self._by_action[action] = key

    def _approver(self, action: _Action) -> Any:
        given = data_of(action.decided).get("approver_id") or action.decided.get("actor")
        return given or action.record.get("approver_id") or unknown("no line names who decided")

    def _scope(self, action: _Action, request_id: str | None) -> Any:
        request = self._requests.get(request_id or "", {})
        return data_of(action.decided).get("scope") or request.get("scope") or unknown("no line names the scope")


def _first(data: dict[str, Any], record: dict[str, Any], *names: str) -> Any:
    return next((source[name] for source in (data, record) for name in names if name in source), None)


def _match(hashes: list[Any]) -> Any:
    given = [value for value in map(bare_hash, hashes) if value is not None]
    if len(given) < 2:
        return unknown("fewer than two hashes were given")
    return len(set(given)) == 1
