"""Routing, cost and limits."""

from __future__ import annotations

from typing import Any

from reference_runtime.contract import copied
from reference_runtime.facts.tables import Move
from reference_runtime.facts.told import Event, keep, told
from reference_runtime.facts.unit import Unit
from validator.protocol.honest import is_honest

_KINDS = {"rate_limit.hit": "rate_limit", "quota.low": "quota_low", "quota.blocked": "quota_blocked"}
_COUNTS = ("input_tokens", "output_tokens", "cached_tokens", "total_tokens")
UNKNOWN = {"honest": "unknown", "reason": "One of the amounts was not told."}


def routing(unit: Unit, event: Event, moves: list[Move]) -> None:
    """What was routed, by the turn it was routed for; a session shows what was told of the turn routed last."""
    kind = event["type"].removeprefix("routing.")
    if kind == "fallback.applied":
        record = unit.edit("fallback", event["event_id"])
        record.session, record.thread = event.get("session_id"), unit.thread
        record.data = copied("fallback", told(event))
        return
    session = unit.edit("routing", event["session_id"])
    session.session = event["session_id"]
    turn = event.get("turn_id") if isinstance(event.get("turn_id"), str) else ""
    record = unit.edit("route", f"{event['session_id']}|{turn}")
    record.session = event["session_id"]
    _ROUTES[kind](record, event)
    session.data = dict(record.data)
    if kind == "task.profile.resolved" and isinstance(event.get("task_id"), str):
        unit.edit("task", event["task_id"]).data["task_profile"] = record.data["task_profile"]


def _profile(record: Any, event: Event) -> None:
    record.data["task_profile"] = copied("task_profile", told(event, "task_profile"))


def _candidates(record: Any, event: Event) -> None:
    said = told(event, "candidate_model_set")
    keep(record, said, candidate_count="count")
    keep(record, said, "candidate_count")
    for name, entry in (("candidates", "candidate"), ("excluded", "excluded_candidate")):
        record.data.pop(name, None)
        if isinstance(said.get(name), list):
            record.data[name] = [copied(entry, one) for one in said[name]]
        elif name in said:
            record.data[name] = said[name]


def _decided(record: Any, event: Event) -> None:
    said = told(event, "routing_decision")
    record.data["routing_decision"] = copied("routing_decision", said)
    keep(record, said, "candidate_count")
    if event["type"] == "routing.single_candidate" and "candidate_count" not in said:
        record.data["candidate_count"] = 1


def _impossible(record: Any, event: Event) -> None:
    said = told(event)
    decision = {"routing_mode": "no_candidate", "decision_reason": said.get("reason")}
    record.data["routing_decision"] = {name: value for name, value in decision.items() if value is not None}
    keep(record, said, "candidate_count")


_ROUTES = {
    "task.profile.resolved": _profile,
    "candidates.resolved": _candidates,
    "decided": _decided,
    "single_candidate": _decided,
    "not_possible": _impossible,
}


def cost(unit: Unit, event: Event, moves: list[Move]) -> None:
    """A bill that adds up, or a limit that was met."""
    if event["type"] in _KINDS:
        _limit_event(unit, event)
        return
    record, said = unit.edit("cost", event["session_id"]), told(event, "cost_state")
    record.session = event["session_id"]
    keep(record, said, "currency")
    keep(record, event.get("cost_state") or {}, "input_price_per_million", "output_price_per_million")
    if event["type"] == "cost.estimated":
        record.data.setdefault("status", "estimated")
        keep(record, said, "estimated_cost_class", "estimated_total_cost")
        return
    begun = record.data.get("status") == "recorded"
    record.data["status"] = "recorded"
    record.data["actual_total_cost"] = _sum(
        record.data.get("actual_total_cost", 0), said.get("actual_total_cost"), begun
    )
    usage, before = said.get("usage"), record.data.get("usage", {})
    usage = {} if is_honest(usage) or usage is None else usage
    record.data["usage"] = {name: _sum(before.get(name, 0), usage.get(name), begun) for name in _COUNTS}


def _sum(total: Any, summand: Any, begun: bool) -> Any:
    if is_honest(total) or is_honest(summand) or summand is None:
        return UNKNOWN
    return total + summand if begun else summand


def _limit_event(unit: Unit, event: Event) -> None:
    said = told(event, "limit_event")
    record = unit.edit("limit_event", event["event_id"])
    record.session, record.thread = event.get("session_id"), unit.thread
    record.data = {**copied("limit_event", said), "event_kind": said.get("event_kind", _KINDS[event["type"]])}
    if event["type"] == "quota.blocked" and isinstance(event.get("turn_id"), str):
        record.tell("turn_id", event["turn_id"])
        record.data["blocks"] = True
        record.data["stops"] = unit.state("turn", event["turn_id"]) == "blocked"
        unit.edit("turn", event["turn_id"]).data["quota_blocked"] = True
    if isinstance(state := said.get("limit_state", event.get("limit_state")), dict):
        _limit_state(unit, event, state)


def limit(unit: Unit, event: Event, moves: list[Move]) -> None:
    state = told(event).get("limit_state", event.get("limit_state"))
    if isinstance(state, dict):
        _limit_state(unit, event, state)


def _limit_state(unit: Unit, event: Event, state: dict[str, Any]) -> None:
    if is_honest(state):
        return
    record = unit.edit("limit_state", f"{event['session_id']}|{state.get('kind', '')}")
    record.session, record.data = event["session_id"], copied("limit_state", state)
