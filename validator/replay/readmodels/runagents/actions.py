"""What the log says about each blocked action."""

from __future__ import annotations

from collections.abc import Sequence

from validator.protocol.honest import known
from validator.records import dataclass, field
from validator.replay.readmodels.runagents.words import APPROVALS, bare_hash, data_of, later, unknown
from validator.replay.readmodels.words import word
from validator.replay.step import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TOOLS = ("TOOL_REQUEST", "TOOL_CALLED", "TOOL_RESPONSE")


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
    hashes: set[str] = field(default_factory=set)
    hashed: int = 0
    """How often a hash was given."""
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

    def lines(self, key: str) -> Sequence[int]:
        """The lines that tell of one action."""
        return self._actions[key].lines if key in self._actions else ()

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
            "payload_match": _match(action),
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
        if step.type in {*APPROVALS, *_TOOLS}:
            _compare(action, event)

    def _record(self, record: dict[str, Any], line: int) -> None:
        key = record.get("action_id")
        if not isinstance(key, str):
            return
        action = self._action(key)
        action.lines.append(line)
        action.record = {**action.record, **record}
        action.run_id = action.run_id or record.get("run_id")
        action.updated_at = later(action.updated_at, record.get("updated_at"))
        _compare(action, record)
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


def _compare(action: _Action, told: dict[str, Any]) -> None:
    value = bare_hash(told.get("payload_hash"))
    if value is not None:
        action.hashes.add(value)
        action.hashed += 1


def _match(action: _Action) -> Any:
    if action.hashed < 2:
        return unknown("fewer than two hashes were given")
    return len(action.hashes) == 1
