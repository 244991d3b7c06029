"""The gateway: every governed call comes by here, the first time and when it is taken up again.

A call is told before it is made and answered after it, in two commits; in between it is *in flight*. A process that
dies there leaves a call of which nobody knows whether it took effect, so it is never made again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reference_runtime.facts.record import Record
from reference_runtime.lifecycles.runagents import gates
from reference_runtime.lifecycles.runagents.desk import ENDED, Deciding, Desk, call_of, ended, wrong_state
from reference_runtime.lifecycles.runagents.lines import Change, Event
from reference_runtime.lifecycles.runagents.policy import Answer, Call

DENIED = Answer(403, "Policy denies the call.")


def attempt(desk: Desk, run_id: str, call: Call, again: bool = False) -> Deciding:
    """Asks policy about a call; says whether it may go, was denied, or waits at a gate."""
    desk.standing(run_id, "RUNNING")
    if desk.is_open("flight", run_id):
        raise wrong_state("A call of the run is under way.", "call_under_way")
    run, words = desk.record("run", run_id), desk.words(run_id)
    effect, tool = desk.settings.policy.effect(run["agent_id"], call), desk.settings.policy.tool(call.tool_id)
    grant = gates.covering(desk, run, call) if effect == "approval_required" else None
    told = call.details() | ({"request_id": grant} if grant else {})
    yield Event(run_id, words.called if again else words.call, run["agent_id"], told, call.payload_hash)
    if effect == "deny" or tool is None:
        yield from words.answered(run, call, DENIED, {})
        return {"verdict": "denied"}
    if tool.authorization_url and not gates.has_consent(desk, run, call.tool_id):
        asked = {"tool_id": call.tool_id, "capability": call.capability, "authorization_url": tool.authorization_url}
        waits = yield from gates.ask_consent(desk, run_id, asked, call)
        return {"verdict": "consent", **waits}
    if effect == "approval_required" and grant is None:
        waits = yield from gates.block(desk, run_id, call.details(), call.payload_hash, call)
        return {"verdict": "approval", **waits}
    _fly(desk, run_id, call, {"request_id": grant} if grant else {})
    return {"verdict": "go"}


def _fly(desk: Desk, run_id: str, call: Call, links: dict[str, Any]) -> None:
    flight = desk.page.edit("flight", run_id)
    flight.open, flight.data = True, {"call": call.kept(), "links": links}


def answered(desk: Desk, run_id: str, answer: Answer) -> Deciding:
    """What a tool answered; an approved action is executed by it, or has failed."""
    flight, run = desk.page.need("flight", run_id), desk.page.need("run", run_id)
    links, call = flight.data["links"], call_of(flight.data["call"])
    desk.close("flight", run_id)
    if run.state not in ENDED:
        yield from desk.words(run_id).answered(desk.record("run", run_id), call, answer, links)
    if "action_id" in links:
        yield Change("blocked_action", links["action_id"], {"status": "FAILED" if answer.failed else "EXECUTED"})
    return {"verdict": "answered", "status_code": answer.status_code}


def resume(desk: Desk, checkpoint_id: str) -> Deciding:
    """Takes up what a gate stopped, once it is settled, if the call is still the one that was stopped (RA-88)."""
    checkpoint = desk.page.need("checkpoint", checkpoint_id)
    run_id = checkpoint.scope["run_id"]
    call = call_of(checkpoint.data["call"]) if checkpoint.data["call"] else None
    if call and not gates.same(call.payload_hash, checkpoint.data["payload_hash"]):
        yield from _refused(desk, run_id, checkpoint)
        return {"verdict": "refused", "run_id": run_id}
    desk.close("checkpoint", checkpoint_id)
    if checkpoint.data["gate"] == "approval":
        return (yield from _replayed(desk, run_id, checkpoint_id, call))
    yield from desk.words(run_id).consented(desk.record("run", run_id), checkpoint.data["tool_id"], checkpoint_id)
    verdict = (yield from attempt(desk, run_id, call, again=True)) if call else {"verdict": "resumed"}
    return {"run_id": run_id, **verdict}


def _replayed(desk: Desk, run_id: str, action_id: str, call: Call | None) -> Deciding:
    """The approved call, made as it was blocked, before its approval ends (RA-117)."""
    run, action, words = desk.record("run", run_id), desk.record("blocked_action", action_id), desk.words(run_id)
    request = desk.record("approval_request", action["request_id"])
    if desk.passed(request.get("expires_at")):
        yield from gates.run_out(desk, action_id)
        return {"verdict": "expired", "run_id": run_id}
    yield from words.resumed(run, action, request)
    if call is None:
        return {"verdict": "resumed", "run_id": run_id}
    links = {"action_id": action_id, "request_id": request["id"]}
    yield Event(run_id, words.called, run["agent_id"], links | call.details(), call.payload_hash)
    _fly(desk, run_id, call, links)
    return {"verdict": "go", "run_id": run_id}


def _refused(desk: Desk, run_id: str, checkpoint: Record) -> Iterator[Event | Change]:
    """A changed payload is another call, and nobody approved that one (RA-89)."""
    if checkpoint.data["gate"] == "approval":
        yield Change("blocked_action", checkpoint.id, {"status": "FAILED"})
    failure = ("The payload is not the one that was stopped.", "payload_changed")
    yield from ended(desk, run_id, desk.words(run_id).failed(desk.record("run", run_id), *failure))


def lost(desk: Desk, run_id: str) -> Deciding:
    """After a restart: a call in flight may or may not have taken effect, and nothing says which."""
    desk.close("flight", run_id)
    if desk.page.state("run", run_id) not in ENDED:
        failure = ("The process that made the call is gone; whether it took effect is unknown.", "worker_lost")
        yield from ended(desk, run_id, desk.words(run_id).failed(desk.record("run", run_id), *failure))
    return {}
