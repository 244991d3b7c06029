"""respond_action, evaluate_permission, resolve_permission."""

from __future__ import annotations

from typing import Any

from reference_runtime.contract import copied
from reference_runtime.domain import settle
from reference_runtime.domain.permission import explained, weigh
from reference_runtime.domain.state import ENDED, Decision, Request, State, ids_of, only
from reference_runtime.errors import CommandRejected, NoOp
from reference_runtime.facts.record import Record
from reference_runtime.projections import entries
from reference_runtime.stamping import Draft

_SAME = {"allow": "approved", "deny": "denied", "allowed": "approved"}
_TARGETS = {"tool_call_id": "tool_call", "process_id": "process", "action_id": "action", "peer_task_id": "peer_task"}
_OPEN = {"approved", "modified", "answered"}
_PLACES = ("session_id", "thread_id", "turn_id", "task_id", "step_id")


def respond_action(state: State, request: Request) -> Decision:
    """Takes the decision that an action waits for, and no other (CTL-27)."""
    record = state.need("action", request["action_id"])
    decision = _SAME.get(request["decision"], request["decision"])
    answer = {"action_id": record.id}
    if not record.open:
        if record.state == decision:
            raise NoOp(**answer, action=entries.action(record))
        raise CommandRejected("already_decided", "The action has another answer.", category="conflict", **answer)
    _check(state, record, decision, request)
    said = {"decision_source": "human", "decided_by": request.get("decided_by", "caller"), **only(request, "reason")}
    said |= {"command_id": state.command_id, "payload_hash": record.data.get("payload_hash")}
    yield from settle.action(state, record, decision, said | _given(state, record, decision, request))
    return {**answer, "action": entries.action(record)}


def _check(state: State, record: Record, decision: str, request: Request) -> None:
    digest, asked = request.get("payload_hash"), record.data.get("payload_hash")
    if isinstance(digest, str) and asked and digest.removeprefix("sha256:") != asked.removeprefix("sha256:"):
        raise CommandRejected("other_payload", "The answer is about another payload.", category="conflict")
    expires = record.data.get("expires_at")
    if decision in _OPEN and isinstance(expires, str) and state.now > expires:
        raise CommandRejected("expired", "The time to answer is over.", category="expired")
    offered = record.data.get("decisions")
    words = {_SAME.get(word, word) for word in offered} if isinstance(offered, list) else None
    if words and decision not in {*words, "timed_out", "cancelled"}:
        raise CommandRejected("not_offered", "That answer was not offered.", category="invalid_request")


def _given(state: State, record: Record, decision: str, request: Request) -> dict[str, Any]:
    """What the answer adds; a credential stays behind a reference (RED-14)."""
    if decision == "modified":
        reference = state.keep(f"input://{record.id}/modified", request.get("answer"))
        return {"modified_input_ref": reference, "payload_hash": None}
    if decision == "answered" and record.data.get("action_type") != "credential":
        return only(request, "answer")
    return {}


def _target(state: State, request: Request) -> tuple[str, Record]:
    for name, kind in _TARGETS.items():
        if name in request:
            record = state.get(kind, request[name])
            if record is None or not (record.known or record.data):
                raise CommandRejected("unknown_target", "There is no such target.", category="not_found")
            return name, record
    raise CommandRejected("target_required", "Name a call, process, action or peer task.", category="invalid_request")


def _ids(state: State, name: str, target: Record) -> dict[str, Any]:
    """The ids of a target; where a call belongs that has not started, a decision or a hook about it has told."""
    if target.known:
        return {**ids_of(target), name: target.id}
    about = (state.get("permission", target.id), *state.find("hook", tool_call_id=target.id), target)
    where = ids_of(next(record for record in about if record))
    return {place: where.get(place) for place in _PLACES} | {name: target.id}


def evaluate_permission(state: State, request: Request) -> Decision:
    """Asks the catalogue and the mode; a decision to ask also asks (CTL-43)."""
    name, target = _target(state, request)
    if target.state in ENDED:
        raise CommandRejected("target_over", "The target has ended.", category="wrong_state")
    tool = state.settings.tool(request.get("tool_name") or target.data.get("tool_name", "")) or {}
    mode = request.get("mode", state.settings.mode)
    vote = weigh(state.settings, tool, None, mode)
    decision, source = vote.decision, vote.source
    if decision == "ask" and state.state("permission", target.id) in {"asking", "requested"}:
        raise NoOp(decision={"decision": "ask", "decision_source": source})
    ids = _ids(state, name, target)
    action_id = state.new_id("action") if decision == "ask" else None
    said = explained(vote, mode, _TARGETS[name].removesuffix("_call"), tool)
    yield Draft("permission.evaluated", ids, {**said, "approval_action_id": action_id})
    if action_id:
        link = {"approval_action_id": action_id, "mode": mode, "target_kind": said["target_kind"], "interactive": True}
        yield Draft("permission.requested", ids, link)
        yield Draft("action.required", {**ids, "action_id": action_id}, _question(tool))
    return {
        "decision": copied("permission_decision", {**said, "approval_action_id": action_id, "target_id": target.id})
    }


def _question(tool: dict[str, Any]) -> dict[str, Any]:
    return {
        "action_type": "tool_permission",
        "prompt": f"May {tool.get('tool_name', 'this')} run?",
        "tool_name": tool.get("tool_name"),
        "decisions": ["approved", "denied"],
        "scope": {"reach": "once"},
        "policy": "ask",
    }


def resolve_permission(state: State, request: Request) -> Decision:
    """Decides a request, and the action that asked for it, alike (CTL-44)."""
    _, target = _target(state, request)
    record = state.get("permission", target.id)
    named = record.data.get("approval_action_id") if record else None
    action = state.get("action", named)
    if record is None or (named and not (action and action.known)):
        raise CommandRejected("nothing_asked", "Nobody asked about this target.", category="wrong_state")
    decision = {"allow": "allowed", "deny": "denied"}.get(request["decision"], request["decision"])
    if not record.open:
        if record.state == decision:
            raise NoOp()
        raise CommandRejected("already_decided", "The permission was decided.", category="conflict")
    actor = request.get("actor", "caller")
    if action and action.open:
        _check(state, action, _SAME.get(decision, decision), {})
        said = {"decision_source": "human", "decided_by": actor, **only(request, "reason")}
        said |= {"command_id": state.command_id}
        yield from settle.action(state, action, _SAME.get(decision, decision), said)
    else:
        said = {"decision": decision, "actor": actor, "decision_source": "human", "scope": request.get("scope", "once")}
        yield Draft("permission.resolved", ids_of(record), {**said, "decision_reason": request.get("reason")})
    return {}
