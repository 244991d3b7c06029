"""`routing_limit_summary` (19.16): which model serves, why, at what cost and within which limits."""

from __future__ import annotations

from typing import Any

from reference_runtime.contract import copied
from reference_runtime.facts.unit import Unit

_ROUTED = ("task_profile", "candidate_count", "candidates", "excluded", "routing_decision")

VIEWS = {
    "routing": lambda record: record.data,
    "fallback": lambda record: record.data,
    "cost": lambda record: record.data,
    "limit_state": lambda record: record.data,
    "limit_event": lambda record: record.data,
}


def build(unit: Unit, session: str, thread: str | None = None) -> dict[str, Any]:
    routed, cost = unit.get("routing", session), unit.get("cost", session)
    return {
        **{name: routed.data.get(name) if routed else None for name in _ROUTED},
        "fallbacks": [one.data for one in unit.find("fallback", session_id=session)],
        "cost_state": copied("cost_state", cost.data) if cost else None,
        "limit_states": [one.data for one in unit.find("limit_state", session_id=session)],
        "limit_events": [copied("limit_event", one.data) for one in unit.find("limit_event", session_id=session)],
    }
