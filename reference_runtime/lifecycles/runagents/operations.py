"""Every operation that is served: its route, what it takes, what it answers, and what it asks of the platform.

The routes and their description are both made from this table, so neither can say what the other does not do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reference_runtime.errors import CommandRejected
from reference_runtime.lifecycles.runagents.bodies import BASE, EVENT, RECORDS
from reference_runtime.lifecycles.runagents.service import RunAgents

Schema = dict[str, Any]
VIEWS = f"{BASE}runagents/1/snapshots"
PAGE = 1000
"""How many entries a list holds at most."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks, read and checked."""

    path: dict[str, str]
    query: dict[str, str]
    body: Any
    key: str | None

    def limit(self) -> int:
        return min(int(self.query.get("limit", PAGE)), PAGE)


@dataclass(frozen=True, slots=True)
class Reply:
    """What an operation answers."""

    document: Any
    status: int = 200
    media: str = "application/json"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation."""

    name: str
    route: str
    summary: str
    act: Callable[[RunAgents, Asked], Reply]
    answers: dict[int, Schema]
    media: tuple[str, ...] = ("application/json",)
    body: str | None = None
    query: str | None = None

    @property
    def method(self) -> str:
        return self.route.partition(" ")[0]

    @property
    def path(self) -> str:
        return self.route.partition(" ")[2]


def _record(name: str) -> Schema:
    return {"$ref": f"{RECORDS}/{name}.schema.json"}


def _list(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _said(**fields: Schema) -> Schema:
    return {"type": "object", "properties": fields, "required": list(fields)}


_TEXT: Schema = {"type": "string"}
_WAITS: Schema = {
    "description": "The call does not go, or not yet: the code says which gate it waits at, and an id what to settle.",
    **_said(outcome={"const": "rejected"}, error={"type": "object"}),
}
GATES = {
    "denied": ("DENIED", "Policy denies the call."),
    "approval": ("APPROVAL_REQUIRED", "The call waits for approval."),
    "consent": ("CONSENT_REQUIRED", "The user's consent is missing."),
}


def _call_tool(platform: RunAgents, asked: Asked) -> Reply:
    verdict = platform.call(asked.path["run_id"], asked.body, asked.key)
    if verdict["verdict"] not in GATES:
        return Reply(verdict)
    code, message = GATES[verdict["verdict"]]
    error = {"category": "permission", "code": code, "message": message, "retryable": False}
    ids = {name: value for name, value in verdict.items() if name in {"action_id", "resume_id"}}
    return Reply({"outcome": "rejected", "error": error, **ids}, 403)


def _block(platform: RunAgents, asked: Asked) -> Reply:
    made = platform.block(asked.path["run_id"], asked.body, asked.key)
    return Reply(made["action"], 201 if made["created"] else 200)


def _decide(name: str) -> Callable[[RunAgents, Asked], Reply]:
    def act(platform: RunAgents, asked: Asked) -> Reply:
        return Reply(getattr(platform, name)(asked.path["request_id"], asked.body, asked.key))

    return act


def _decide_action(name: str) -> Callable[[RunAgents, Asked], Reply]:
    def act(platform: RunAgents, asked: Asked) -> Reply:
        run_id, action_id = asked.path["run_id"], asked.path["action_id"]
        request_id = platform.action(run_id, action_id)["request_id"]
        getattr(platform, name)(request_id, asked.body, asked.key)
        return Reply(platform.action(run_id, action_id))

    return act


def _export(platform: RunAgents, asked: Asked) -> Reply:
    run_id, shape = asked.path["run_id"], asked.query.get("schema", "runagents")
    # Splunk's envelope holds one event, so it comes in lines whatever the format.
    if shape == "splunk_hec" or asked.query.get("format") == "ndjson":
        return Reply(platform.export_lines(run_id, shape), media="application/x-ndjson")
    return Reply(platform.export(run_id))


def _forward(platform: RunAgents, asked: Asked) -> Reply:
    run_id, destination = asked.path["run_id"], asked.body["destination_id"]
    platform.run(run_id)
    if destination not in platform.settings.destinations:
        raise CommandRejected("unknown_destination", "There is no such destination.", category="not_found")
    return Reply(
        {"destination_id": destination, "run_id": run_id, "unconfirmed": platform.unconfirmed(destination)}, 202
    )


def _list_runs(platform: RunAgents, asked: Asked) -> Reply:
    like = {name: value for name, value in asked.query.items() if name not in {"limit", "after"}}
    return Reply(platform.runs(asked.limit(), asked.query.get("after"), **like))


def _list_events(platform: RunAgents, asked: Asked) -> Reply:
    return Reply(platform.events(asked.path["run_id"], int(asked.query.get("after_seq", 0)), asked.limit()))


_RUN, _ACTION, _REQUEST, _EVENT = (
    _record("run"),
    _record("blocked_action"),
    _record("approval_request"),
    {"$ref": EVENT},
)
_R, _A, _Q = "/runs/{run_id}", "/runs/{run_id}/actions/{action_id}", "/approvals/requests/{request_id}"

OPERATIONS: tuple[Operation, ...] = (
    Operation("create_run", "POST /runs", "Creates a run.",
              lambda p, a: Reply(p.create_run(a.body, a.key), 201), {201: _RUN}, body="create_run"),
    Operation("list_runs", "GET /runs", "Runs, in the order of their creation.",
              _list_runs, {200: _list(_RUN)}, query="list_runs"),
    Operation("get_run", f"GET {_R}", "One run.", lambda p, a: Reply(p.run(a.path["run_id"])), {200: _RUN}),
    Operation("set_status", f"PATCH {_R}", "Ends a run.",
              lambda p, a: Reply(p.set_status(a.path["run_id"], a.body, a.key)), {200: _RUN}, body="set_status"),
    Operation("get_run_view", f"GET {_R}/view", "What a consumer is shown about a run.",
              lambda p, a: Reply(p.run_view(a.path["run_id"])), {200: {"$ref": f"{VIEWS}/run_view.schema.json"}}),
    Operation("list_events", f"GET {_R}/events", "The log of a run, in the order of seq.",
              _list_events, {200: _list(_EVENT)}, query="list_events"),
    Operation("append_event", f"POST {_R}/events", "Appends an event that the agent reports.",
              lambda p, a: Reply(p.tell(a.path["run_id"], a.body, a.key), 201), {201: _EVENT}, body="append_event"),
    Operation("call_tool", f"POST {_R}/tool-calls", "Makes a governed call.", _call_tool,
              {200: _said(verdict=_TEXT, status_code={"type": "integer"}), 403: _WAITS}, body="call_tool"),
    Operation("list_actions", f"GET {_R}/actions", "The blocked actions of a run.",
              lambda p, a: Reply(p.actions(a.path["run_id"])), {200: _list(_ACTION)}),
    Operation("block_action", f"POST {_R}/actions", "Blocks an action, and pauses the run.",
              _block, {200: _ACTION, 201: _ACTION}, body="block_action"),
    Operation("get_action", f"GET {_A}", "One blocked action.",
              lambda p, a: Reply(p.action(a.path["run_id"], a.path["action_id"])), {200: _ACTION}),
    Operation("get_action_view", f"GET {_A}/view", "What a consumer is shown about an action.",
              lambda p, a: Reply(p.action_view(a.path["run_id"], a.path["action_id"])),
              {200: {"$ref": f"{VIEWS}/action_view.schema.json"}}),
    Operation("approve_action", f"POST {_A}/approve", "Approves a blocked action; the run goes on by itself.",
              _decide_action("approve"), {200: _ACTION}, body="approve"),
    Operation("reject_action", f"POST {_A}/reject", "Rejects a blocked action, and with it the run.",
              _decide_action("reject"), {200: _ACTION}, body="reject"),
    Operation("list_requests", "GET /approvals/requests", "Approval requests; PENDING are those still to decide.",
              lambda p, a: Reply(p.requests(a.query.get("status"), a.query.get("run_id"))[:PAGE]),
              {200: _list(_REQUEST)}, query="list_requests"),
    Operation("get_request", f"GET {_Q}", "One approval request.",
              lambda p, a: Reply(p.request(a.path["request_id"])), {200: _REQUEST}),
    Operation("approve_request", f"POST {_Q}/approve", "Approves a request.",
              _decide("approve"), {200: _REQUEST}, body="approve"),
    Operation("reject_request", f"POST {_Q}/reject", "Rejects a request.",
              _decide("reject"), {200: _REQUEST}, body="reject"),
    Operation("ask_consent", f"POST {_R}/consent-requests", "Pauses a run until its user gives consent.",
              lambda p, a: Reply(p.ask_consent(a.path["run_id"], a.body, a.key), 201), {201: _said(resume_id=_TEXT)},
              body="ask_consent"),
    Operation("settle_consent", f"POST {_R}/consent", "Says whether the user gave consent.",
              lambda p, a: Reply(p.settle_consent(a.path["run_id"], a.body["completed"], a.key)), {200: _RUN},
              body="settle_consent"),
    Operation("keep_checkpoint", f"POST {_R}/checkpoint", "Says what is to be taken up again after a gate.",
              lambda p, a: Reply(p.keep_checkpoint(a.path["run_id"], a.body, a.key)),
              {200: _said(action_id=_TEXT, run_id=_TEXT)}, body="keep_checkpoint"),
    Operation("export", f"GET {_R}/audit/export", "The audit export of a run.", _export, {200: _record("audit_export")},
              ("application/json", "application/x-ndjson"), query="export"),
    Operation("forward", f"POST {_R}/audit/forward", "Sends a destination what it has not confirmed.", _forward,
              {202: _said(destination_id=_TEXT, run_id=_TEXT, unconfirmed={"type": "integer"})}, body="forward"),
)  # fmt: skip
