"""Events that somebody outside reports: what may be told, by whom, and what follows from it.

An agent of somebody else tells its own log. It tells no gate, no payload, nothing about what is not its run's, and a
call that was blocked only as it was approved.
"""

from __future__ import annotations

from typing import Any

from reference_runtime.errors import CommandRejected
from reference_runtime.lifecycles.book import Page
from reference_runtime.lifecycles.runagents import gates
from reference_runtime.lifecycles.runagents.desk import ENDED, Deciding, Desk, ended, wrong_state
from reference_runtime.lifecycles.runagents.lines import Change, Event

OWN = {"RUN_CREATED", "APPROVAL_REQUIRED", "APPROVED", "REJECTED", "CONSENT_REQUIRED", "RESUMED"}
"""Events that the platform tells itself; whoever wants them asks for what they tell of."""
TOOL = {"TOOL_REQUEST", "TOOL_CALLED", "TOOL_RESPONSE"}
WORK = TOOL | {"LLM_CALL"}
FINAL = {"COMPLETED": "COMPLETED", "FAILED": "FAILED", "INVOKE_FAILED": "FAILED"}
_ORIGIN = ("agent_id", "user_id", "conversation_id")
_SILENT = {"honest": "unknown", "reason": "Whoever told the failure gave no reason."}


def tell(desk: Desk, run_id: str, request: dict[str, Any]) -> Deciding:
    """An event that somebody outside reports; what follows from it is told with it."""
    run, data = desk.record("run", run_id), dict(request.get("data", {}))
    kind = _admitted(desk, run_id, request)
    _linked(desk, run, data)
    if kind in TOOL and "action_id" in data:
        _approved(desk, data["action_id"], request.get("payload_hash"), kind)
    if kind == "FAILED" and not data.keys() & {"error", "reason"}:
        data["error"] = _SILENT
    event = Event(run_id, request["type"], request.get("actor", run["agent_id"]), data, request.get("payload_hash"))
    place = len(desk.page.events)
    if kind in FINAL:
        end = Change("run", run_id, {"status": FINAL[kind], "blocked_action_id": None})
        yield from ended(desk, run_id, iter((event, end)))
    else:
        yield event
    if kind == "TOOL_RESPONSE" and "action_id" in data:
        failed = isinstance(data.get("status_code"), int) and data["status_code"] >= 400
        yield Change("blocked_action", data["action_id"], {"status": "FAILED" if failed else "EXECUTED"})
    return desk.page.events[place]


def _admitted(desk: Desk, run_id: str, request: dict[str, Any]) -> str:
    """The kind of an event that a caller may tell now; refused when it is not theirs to tell, or tells too much."""
    kind, state = desk.page.protocol.aliases.get(request["type"], request["type"]), desk.page.state("run", run_id)
    if state in ENDED:
        raise wrong_state("The run is over.", "run_over")
    if kind in OWN:
        raise wrong_state("The platform tells this event itself.", "not_yours_to_tell")
    if kind in desk.page.protocol.family_of and request["type"] not in _spoken(desk, run_id):
        raise wrong_state("The log of this run uses the other vocabulary.", "other_vocabulary")
    if kind in WORK and state != "RUNNING":
        raise wrong_state("The run waits; nothing is called before that is settled.", "run_waits")
    _fits(desk.page, kind, request)
    return kind


def _spoken(desk: Desk, run_id: str) -> set[str]:
    """Every word of the vocabulary that the log of a run uses."""
    rows, name = desk.page.protocol.tables["events"]["rows"], desk.words(run_id).name
    return {word for row in rows for word in row["values"][name]}


def _fits(page: Page, kind: str, request: dict[str, Any]) -> None:
    """Refuses an event that its schema, or an auditor, could not take (RA-15, RA-127, RA-130)."""
    data = request.get("data", {})
    if raw := sorted(raw_keys(page, data)):
        raise _bad("raw_payload", f"An event does not carry {', '.join(raw)}; a hash stands for a payload.")
    if kind in TOOL and not any(isinstance(data.get(name), str) for name in ("tool_id", "tool")):
        raise _bad("tool_missing", "A tool event names its tool.")
    stamps = {"event_id": "e", "run_id": "r", "seq": 1, "timestamp": page.now()}
    if faults := page.protocol.store.errors(page.protocol.schema_for(kind), stamps | request):
        raise _bad("invalid_request", "; ".join(f"{fault.pointer or '/'} {fault.message}" for fault in faults))


def _bad(code: str, message: str) -> CommandRejected:
    return CommandRejected(code, message, category="invalid_request")


def raw_keys(page: Page, value: Any) -> set[str]:
    """Keys, at any depth, that would put a payload or a credential into the log (RA-130, RA-131)."""
    if isinstance(value, list):
        return set().union(*(raw_keys(page, entry) for entry in value))
    if not isinstance(value, dict):
        return set()
    barred = {key for row in page.protocol.tables["raw_keys"]["rows"] for key in row["values"]["keys"]}
    return {key for key in value if key.lower() in barred}.union(*(raw_keys(page, entry) for entry in value.values()))


def _linked(desk: Desk, run: dict[str, Any], data: dict[str, Any]) -> None:
    """An event speaks of its own run, its actions and their requests, and of nobody else's."""
    if any(name in data and data[name] != run.get(name) for name in _ORIGIN):
        raise _bad("another_run", "Agent, user and conversation are those of the run.")
    action = data.get("action_id")
    if action is not None and desk.record("blocked_action", action)["run_id"] != run["id"]:
        raise CommandRejected("unknown_blocked_action", "There is no such action in the run.", category="not_found")
    if "request_id" in data:
        request = desk.record("approval_request", data["request_id"])
        wide = request.get("scope") in {"run", "agent_user_ttl"} and not desk.passed(request.get("expires_at"))
        if request["action_id"] != action and not (action is None and wide):
            raise _bad("another_request", "The request is not about that action.")


def _approved(desk: Desk, action_id: str, payload_hash: str | None, kind: str) -> None:
    """A retried call names an approved action, carries its payload, is in time, and happens once."""
    action, record = desk.page.need("blocked_action", action_id), desk.record("blocked_action", action_id)
    if action.state != "approved":
        raise wrong_state(f"The action is {action.state}.", "not_approved")
    if kind == "TOOL_RESPONSE":
        if not action.data.get("called"):
            raise wrong_state("The call was not made.", "not_called")
        return
    if action.data.get("called") or desk.is_open("checkpoint", action_id):
        raise wrong_state("The call is made already, or the platform is about to make it.", "not_again")
    if not gates.same(payload_hash, record.get("payload_hash")):
        raise wrong_state("The payload is not the one that was approved.", "payload_changed")
    if desk.passed(desk.record("approval_request", record["request_id"]).get("expires_at")):
        raise wrong_state("The approval has run out.", "approval_expired")
    desk.page.edit("blocked_action", action_id).data["called"] = True
