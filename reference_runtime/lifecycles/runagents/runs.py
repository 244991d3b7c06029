"""What callers may do to a run: create it, say how it ended, and keep what is to be taken up again."""

from __future__ import annotations

from typing import Any

from reference_runtime.errors import CommandRejected
from reference_runtime.lifecycles.runagents.desk import ENDED, Deciding, Desk, ended, wrong_state
from reference_runtime.lifecycles.runagents.words import VOCABULARIES


def create(desk: Desk, request: dict[str, Any]) -> Deciding:
    """A run begins in RUNNING (RA-30); a scripted agent gets a plan."""
    run_id, words = desk.settings.new_id(), VOCABULARIES[desk.settings.vocabulary]
    yield from words.created({"id": run_id, **request, "status": "RUNNING"})
    desk.page.edit("run", run_id).data["vocabulary"] = words.name
    if request["agent_id"] in desk.settings.agents:
        desk.page.edit("plan", run_id).data = {"at": 0, "begun": False}
    return desk.record("run", run_id)


def set_status(desk: Desk, run_id: str, request: dict[str, Any]) -> Deciding:
    """A status that a client sets; only the ends are theirs, and a pause is left by settling it (RA-56)."""
    run, wanted = desk.page.need("run", run_id), request["status"]
    if run.state == wanted:
        return desk.record("run", run_id)
    legal = (wanted == "COMPLETED" and run.state == "RUNNING") or (wanted == "FAILED" and run.state not in ENDED)
    if not legal:
        raise wrong_state(f"invalid transition from {run.state} to {wanted}", "invalid_transition")
    words, record = desk.words(run_id), desk.record("run", run_id)
    error = request.get("error", "The client ended the run and gave no reason.")
    yield from ended(desk, run_id, words.completed(record) if wanted == "COMPLETED" else words.failed(record, error))
    return desk.record("run", run_id)


def keep_checkpoint(desk: Desk, run_id: str, request: dict[str, Any]) -> Deciding:
    """What the agent wants to be taken up again; it is held against the blocked hash when that happens."""
    desk.page.need("run", run_id)
    checkpoint = desk.page.need("checkpoint", request["action_id"])
    if checkpoint.scope["run_id"] != run_id:
        raise CommandRejected("unknown_checkpoint", "There is no such checkpoint in the run.", category="not_found")
    if not checkpoint.open:
        raise wrong_state("The action is settled.", "not_blocked")
    action = desk.record("blocked_action", request["action_id"])
    call = {"tool_id": action["tool_id"], "capability": action.get("capability") or "", "tool_url": None}
    call |= {"payload": request["payload"]}
    desk.checkpoint(checkpoint.id, run_id, call=(checkpoint.data["call"] or call) | {"payload": request["payload"]})
    return {"action_id": checkpoint.id, "run_id": run_id}
    yield  # a decision is a generator, also one that writes nothing
