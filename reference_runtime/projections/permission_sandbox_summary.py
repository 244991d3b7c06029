"""`permission_sandbox_summary` (19.14): what was allowed, what is open, and which boundary was hit."""

from __future__ import annotations

from typing import Any

from reference_runtime.contract import copied
from reference_runtime.facts.record import Record
from reference_runtime.facts.unit import Unit
from reference_runtime.projections import entries

_INPUTS = {"ask_user", "elicitation", "structured_input"}


def _approval(record: Record) -> Any:
    return None if record.data.get("action_type") in _INPUTS else entries.pending_action(record)


VIEWS = {
    "governance": lambda record: record.data,
    "action": _approval,
    "decision": lambda record: record.data,
    "violation": lambda record: record.data,
    "hook": entries.hook_run,
}


def build(unit: Unit, session: str, thread: str | None = None) -> dict[str, Any]:
    record = unit.get("governance", session)
    data = record.data if record else {}
    where = {"session_id": session}
    pending = [shown for one in unit.find("action", is_open=True, **where) if (shown := _approval(one))]
    decisions = [one.data for one in unit.find("decision", **where)]
    return {
        "mode": data.get("mode"),
        "permission_state": _state(pending, decisions),
        "pending_approvals": pending,
        "decisions": decisions,
        "sandbox_profile": data.get("sandbox_profile"),
        "violations": [copied("violation", one.data) for one in unit.find("violation", **where)],
        "hook_runs": [shown for one in unit.find("hook", **where) if (shown := entries.hook_run(one))],
        "policy_ref": data.get("policy_ref"),
    }


def _state(pending: list[Any], decisions: list[Any]) -> str:
    if pending:
        return "pending"
    if not decisions:
        return "unknown"
    return "denied" if decisions[-1]["decision"] == "deny" else "clear"
