"""The two gates: approval by an operator, and consent of the user. Neither stands for the other (RA-97)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from reference_runtime.facts.record import Record
from reference_runtime.lifecycles.runagents.desk import Deciding, Desk, ended, wrong_state
from reference_runtime.lifecycles.runagents.lines import Change, Event, stored
from reference_runtime.lifecycles.runagents.policy import Call
from reference_runtime.lifecycles.runagents.settings import span
from reference_runtime.stamping import read, written

SHORT = "1h"
"""How long a grant for user, agent and tool holds when nobody says how long."""


def block(desk: Desk, run_id: str, told: dict[str, Any], payload_hash: str, call: Call | None) -> Deciding:
    """Stops a call, writes it down with its hash, and puts it to an operator (RA-36, RA-86)."""
    run, words = desk.record("run", run_id), desk.words(run_id)
    action_id, request_id = desk.settings.new_id(), f"req_{desk.settings.new_id()}"
    asked = {"tool_id": told["tool_id"], "capability": told.get("capability"), "payload_hash": payload_hash}
    links = {"run_id": run_id, "request_id": request_id}
    event = Event(run_id, "APPROVAL_REQUIRED", run["agent_id"], {"action_id": action_id, "request_id": request_id}
                  | told | {"message": "The call waits for approval."}, payload_hash)  # fmt: skip
    record = Change("blocked_action", action_id, {**links, **asked, "status": words.blocked_word})
    # The operations page records an action before it logs the block, the API after it.
    yield from (record, event) if words.name == "operations" else (event, record)
    question = {"status": "PENDING", "subject": run["user_id"], "agent_id": run["agent_id"], "action_id": action_id}
    more = {name: told.get(name) for name in ("tool_method", "tool_url")}
    yield Change("approval_request", request_id, {**question, "run_id": run_id, **asked, **more})
    yield Change("run", run_id, {"status": "PAUSED_APPROVAL", "blocked_action_id": action_id})
    until = written(read(desk.page.now()) + span(desk.settings.approval_window))
    kept = {"gate": "approval", "call": call.kept() if call else None, "until": until}
    desk.checkpoint(action_id, run_id, payload_hash=payload_hash, ready=False, **kept)
    return {"action_id": action_id}


def pending(desk: Desk, request_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run and action that somebody is about to decide; refused when there is nothing to decide."""
    request = desk.record("approval_request", request_id)
    if desk.page.state("approval_request", request_id) != "PENDING":
        raise wrong_state("The request is decided already.", "already_decided")
    action = desk.page.need("blocked_action", request["action_id"])
    if action.state != "blocked":
        raise wrong_state(f"The action is {action.state}.", "not_blocked")
    return desk.record("run", request["run_id"]), stored(action) or {}


def approve(desk: Desk, request_id: str, wish: dict[str, Any]) -> Deciding:
    """Grants a request; the run goes on by itself afterwards (RA-79)."""
    run, action = pending(desk, request_id)
    if wish.get("payload_hash") and not same(wish["payload_hash"], action.get("payload_hash")):
        raise wrong_state("The payload is not the one that was blocked.", "payload_changed")
    scope = wish.get("scope", "once")
    duration = wish.get("duration") or (SHORT if scope == "agent_user_ttl" else None)
    until = written(read(desk.page.now()) + span(duration)) if duration else None
    grant = {"status": "APPROVED", "approver_id": wish["approver_id"], "scope": scope, "reason": wish.get("reason")}
    yield Change("approval_request", request_id, {**grant, "duration": duration, "expires_at": until})
    yield from desk.words(run["id"]).approved(run, action, desk.record("approval_request", request_id))
    if key := _reach(run, action["tool_id"], action.get("capability")).get(scope):
        desk.page.edit("grant", key).data["request_id"] = request_id
    if until:
        desk.page.edit("deadline", request_id).data = {"at": until, "action_id": action["action_id"]}
    desk.checkpoint(action["action_id"], run["id"], ready=True)
    return desk.record("approval_request", request_id)


def reject(desk: Desk, request_id: str, wish: dict[str, Any]) -> Deciding:
    """Refuses a request, and with it the run (RA-49)."""
    run, action = pending(desk, request_id)
    refusal = {"status": "REJECTED", "approver_id": wish["approver_id"], "reason": wish.get("reason")}
    yield Change("approval_request", request_id, refusal)
    drafts = desk.words(run["id"]).rejected(run, action, desk.record("approval_request", request_id))
    yield from ended(desk, run["id"], drafts)
    return desk.record("approval_request", request_id)


def time_out(desk: Desk, action_id: str) -> Deciding:
    """Nobody decided in time. Silence is no approval: the action expires, and its run fails (RA-67)."""
    run_id = desk.record("blocked_action", action_id)["run_id"]
    yield from _expired(desk, run_id, action_id, "Nobody decided in time.", "approval_timeout")
    return {}


def run_out(desk: Desk, action_id: str) -> Deciding:
    """The grant ended before its call was made (RA-117)."""
    action = desk.record("blocked_action", action_id)
    yield from lapse(desk, action["request_id"])
    yield from _expired(desk, action["run_id"], action_id, "The approval ran out before the call.", "approval_expired")
    return {}


def _expired(desk: Desk, run_id: str, action_id: str, error: str, reason: str) -> Iterator[Event | Change]:
    yield Change("blocked_action", action_id, {"status": "EXPIRED"})
    yield from ended(desk, run_id, desk.words(run_id).failed(desk.record("run", run_id), error, reason))


def lapse(desk: Desk, request_id: str) -> Deciding:
    """A grant whose time is over serves nothing any more."""
    desk.close("deadline", request_id)
    yield Change("approval_request", request_id, {"status": "EXPIRED"})
    return {}


def covering(desk: Desk, run: dict[str, Any], call: Call) -> str | None:
    """The request whose grant covers a call without another pause (RA-115, RA-116); never one of scope once."""
    for key in _reach(run, call.tool_id, call.capability).values():
        grant = desk.page.get("grant", key)
        if grant and not desk.passed(desk.record("approval_request", grant.data["request_id"]).get("expires_at")):
            return grant.data["request_id"]
    return None


def _reach(run: dict[str, Any], tool_id: str, capability: str | None) -> dict[str, str]:
    """What a grant is looked up by, for each scope that reaches beyond one action."""
    parties = {"run": (run["id"], tool_id, capability), "agent_user_ttl": (run["user_id"], run["agent_id"], tool_id)}
    return {scope: json.dumps([scope, *party]) for scope, party in parties.items()}


def ask_consent(desk: Desk, run_id: str, told: dict[str, Any], call: Call | None) -> Deciding:
    """Stops a run until its user gives or renews consent (RA-37)."""
    run, resume_id = desk.record("run", run_id), f"resume_{desk.settings.new_id()}"
    said = {**told, "message": "The user's consent is missing.", "resume_id": resume_id}
    yield Event(run_id, "CONSENT_REQUIRED", run["agent_id"], said)
    yield Change("run", run_id, {"status": "PAUSED_CONSENT"})
    kept = {"gate": "consent", "call": call.kept() if call else None, "tool_id": told["tool_id"], "ready": False}
    desk.checkpoint(resume_id, run_id, payload_hash=call.payload_hash if call else None, **kept)
    return {"resume_id": resume_id}


def complete_consent(desk: Desk, run_id: str) -> Deciding:
    """The user gave consent: no operator was asked, and no action is decided by it."""
    checkpoint = _waiting(desk, run_id)
    run = desk.record("run", run_id)
    desk.page.edit("consent", f"{run['user_id']}|{checkpoint.data['tool_id']}").data["given"] = True
    desk.checkpoint(checkpoint.id, run_id, ready=True)
    return run
    yield  # a decision is a generator, also one that writes nothing


def abandon_consent(desk: Desk, run_id: str) -> Deciding:
    """The user did not give consent: the run fails (RA-96)."""
    _waiting(desk, run_id)
    failure = ("The user's consent was not completed.", "consent_not_completed")
    yield from ended(desk, run_id, desk.words(run_id).failed(desk.record("run", run_id), *failure))
    return desk.record("run", run_id)


def has_consent(desk: Desk, run: dict[str, Any], tool_id: str) -> bool:
    record = desk.page.get("consent", f"{run['user_id']}|{tool_id}")
    return bool(record and record.data.get("given"))


def _waiting(desk: Desk, run_id: str) -> Record:
    desk.standing(run_id, "PAUSED_CONSENT")
    found = desk.page.find("checkpoint", is_open=True, run_id=run_id)
    checkpoint = next((one for one in found if one.data["gate"] == "consent" and not one.data["ready"]), None)
    if checkpoint is None:
        raise wrong_state("The consent is given already.", "already_decided")
    return checkpoint


def same(one: str | None, other: str | None) -> bool:
    """Two hashes, prefixes aside (RA-90)."""
    return (one or "").removeprefix("sha256:") == (other or "").removeprefix("sha256:")
