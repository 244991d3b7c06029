"""Bringing open work to an end that is told: what a cancellation, an interrupt or a failure takes along."""

from __future__ import annotations

from reference_runtime.domain.state import Decision, State, about, ids_of
from reference_runtime.facts.record import Record
from reference_runtime.stamping import Draft

_PERMISSIONS = {"approved": "allowed", "modified": "allowed", "answered": "allowed"}
_SOURCES = {"timeout": "mode", "policy": "host_policy"}
"""Where an action's answer came from, in the words that permissions have for it."""
RUNTIME = "runtime"
"""Who decided when nobody was asked: the runtime that ended what the question was about."""


def action(state: State, record: Record, decision: str, payload: dict) -> Decision:
    """Resolves an action and the permission that it stood for, alike (PERM-12)."""
    yield about(record, "action.resolved", {"decision": decision, **payload})
    for permission in linked(state, record):
        word = _PERMISSIONS.get(decision, decision)
        said = {"actor": payload.get("decided_by"), "decision_reason": payload.get("reason"), "scope": "once"}
        source = payload.get("decision_source", "human")
        link = {"approval_action_id": record.id, "decision_source": _SOURCES.get(source, source)}
        yield Draft("permission.resolved", ids_of(permission), {"decision": word, **said, **link})


def linked(state: State, action_record: Record) -> list[Record]:
    """Permission requests that wait for an action."""
    keys = [action_record.scope.get(name) for name in ("tool_call_id", "process_id")] + [action_record.id]
    found = (state.get("permission", key) for key in keys if key)
    waiting = [record for record in found if record and record.state in {"asking", "requested"}]
    return [record for record in waiting if record.data.get("approval_action_id") in {None, action_record.id}]


def actions(state: State, reason: str, **where: str) -> Decision:
    """Cancels every unresolved question of a subject; nobody is going to answer it."""
    for record in state.pending(**where):
        said = {"decision_source": "policy", "decided_by": RUNTIME, "reason": reason}
        yield from action(state, record, "cancelled", said)


def permissions(state: State, reason: str, **where: str) -> Decision:
    """Cancels permission requests that no action asks for."""
    for record in state.find("permission", is_open=True, **where):
        said = {"decision": "cancelled", "decision_source": "host_policy", "actor": RUNTIME, "decision_reason": reason}
        yield Draft("permission.resolved", ids_of(record), said)


def processes(state: State, reason: str, **where: str) -> Decision:
    for record in state.find("process", is_open=True, **where):
        yield about(record, "process.terminated", {"reason": reason, "terminated_by": "parent_cancelled"})


def hooks(state: State, reason: str, **where: str) -> Decision:
    for record in state.find("hook", is_open=True, **where):
        said = {"hook_point": record.data["hook_point"], "reason": reason, "failure_behavior": "fail_closed"}
        yield Draft("hook.failed", ids_of(record), said)


def calls(state: State, reason: str, status: str, **where: str) -> Decision:
    for record in state.find("tool_call", is_open=True, **where):
        yield call(record, reason, status)


def call(record: Record, reason: str, status: str) -> Draft:
    category = "permission" if status == "denied" else status
    error = {"category": category, "message": reason, "retryable": True, "recovery": "Submit the turn again."}
    return about(record, "tool.failed", {"status": status, "reason": reason, "error": error})


def requests(state: State, reason: str, status: str, **where: str) -> Decision:
    for record in state.find("model_request", is_open=True, **where):
        yield about(record, "model.failed", {"status": status, "reason": reason, "retryable": True})
