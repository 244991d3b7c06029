"""What callers may do to a run: create it, tell its events, and say how it ended."""

from __future__ import annotations

from typing import Any

from reference_runtime.errors import CommandRejected
from reference_runtime.lifecycles.book import Page
from reference_runtime.lifecycles.runagents import gates
from reference_runtime.lifecycles.runagents.desk import ENDED, Deciding, Desk, ended, wrong_state
from reference_runtime.lifecycles.runagents.lines import Change, Event, stored
from reference_runtime.lifecycles.runagents.words import VOCABULARIES

OWN = {"RUN_CREATED", "APPROVAL_REQUIRED", "APPROVED", "REJECTED", "CONSENT_REQUIRED", "RESUMED"}
"""Events that the platform tells itself; whoever wants them asks for what they tell of."""
TOOL = {"TOOL_REQUEST", "TOOL_CALLED", "TOOL_RESPONSE"}
FINAL = {"COMPLETED": "COMPLETED", "FAILED": "FAILED", "INVOKE_FAILED": "FAILED"}


def create(desk: Desk, request: dict[str, Any]) -> Deciding:
    """A run begins in RUNNING (RA-30); a scripted agent gets a plan."""
    run_id, words = desk.settings.new_id(), VOCABULARIES[desk.settings.vocabulary]
    yield from words.created({"id": run_id, **request, "status": "RUNNING"})
    desk.page.edit("run", run_id).data["vocabulary"] = words.name
    if request["agent_id"] in desk.settings.agents:
        desk.page.edit("plan", run_id).data = {"at": 0, "begun": False}
    return desk.record("run", run_id)


def tell(desk: Desk, run_id: str, request: dict[str, Any]) -> Deciding:
    """An event that somebody outside reports; what follows from it is told with it."""
    run = desk.record("run", run_id)
    if desk.page.state("run", run_id) in ENDED:
        raise wrong_state("The run is over.", "run_over")
    kind = _admitted(desk, run_id, request)
    data = request.get("data", {})
    if kind in TOOL and "action_id" in data:
        _approved(desk, run_id, data["action_id"], request.get("payload_hash"), kind)
    event = Event(run_id, request["type"], request.get("actor", run["agent_id"]), data, request.get("payload_hash"))
    place = len(desk.page.events)
    if kind in FINAL:
        yield from ended(desk, run_id, iter((event, _end(run_id, FINAL[kind]))))
        return desk.page.events[place]
    yield event
    if (
        kind == "TOOL_RESPONSE"
        and "action_id" in data
        and desk.page.state("blocked_action", data["action_id"]) == "approved"
    ):
        failed = isinstance(data.get("status_code"), int) and data["status_code"] >= 400
        yield Change("blocked_action", data["action_id"], {"status": "FAILED" if failed else "EXECUTED"})
    return desk.page.events[place]


def _end(run_id: str, status: str) -> Change:
    return Change("run", run_id, {"status": status, "blocked_action_id": None})


def _admitted(desk: Desk, run_id: str, request: dict[str, Any]) -> str:
    """The kind of an event that a caller may tell; refused when it is not theirs to tell, or tells too much."""
    kind = desk.page.protocol.aliases.get(request["type"], request["type"])
    spoken = {
        word for row in desk.page.protocol.tables["events"]["rows"] for word in row["values"][desk.words(run_id).name]
    }
    if kind in OWN:
        raise wrong_state("The platform tells this event itself.", "not_yours_to_tell")
    if kind in desk.page.protocol.family_of and request["type"] not in spoken:
        raise wrong_state("The log of this run uses the other vocabulary.", "other_vocabulary")
    if raw := sorted(raw_keys(desk.page, request.get("data", {}))):
        message = f"An event does not carry {', '.join(raw)}; a hash stands for a payload."
        raise CommandRejected("raw_payload", message, category="invalid_request")
    return kind


def raw_keys(page: Page, value: Any) -> set[str]:
    """Keys, at any depth, that would put a payload or a credential into the log (RA-130, RA-131)."""
    if isinstance(value, list):
        return set().union(*(raw_keys(page, entry) for entry in value))
    if not isinstance(value, dict):
        return set()
    barred = {key for row in page.protocol.tables["raw_keys"]["rows"] for key in row["values"]["keys"]}
    return {key for key in value if key.lower() in barred}.union(*(raw_keys(page, entry) for entry in value.values()))


def _approved(desk: Desk, run_id: str, action_id: str, payload_hash: str | None, kind: str) -> None:
    """A retried call names an approved action of its run, carries its payload, is in time, and happens once."""
    action = desk.page.need("blocked_action", action_id)
    record = stored(action) or {}
    if record["run_id"] != run_id:
        raise CommandRejected("unknown_blocked_action", "There is no such action in the run.", category="not_found")
    if action.state != "approved":
        raise wrong_state(f"The action is {action.state}.", "not_approved")
    if kind == "TOOL_RESPONSE":
        return
    waiting = desk.page.get("checkpoint", action_id)
    if action.data.get("called") or (waiting and waiting.open):
        raise wrong_state("The call is made already, or the platform is about to make it.", "not_again")
    if not gates.same(payload_hash, record.get("payload_hash")):
        raise wrong_state("The payload is not the one that was approved.", "payload_changed")
    if desk.passed(desk.record("approval_request", record["request_id"]).get("expires_at")):
        raise wrong_state("The approval has run out.", "approval_expired")
    desk.page.edit("blocked_action", action_id).data["called"] = True


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
