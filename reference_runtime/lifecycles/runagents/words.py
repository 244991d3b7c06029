"""Two vocabularies for one lifecycle: what each of them says, and in which order.

The operations page has no words for creation, messages, answers and resumption, and no word for the end of a run that
failed; there the records tell. The API has no words for model calls and for errors that a run survives.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reference_runtime.lifecycles.runagents.lines import Change, Event
from reference_runtime.lifecycles.runagents.policy import Answer, Call

Drafts = Iterator[Event | Change]
Stored = dict[str, Any]


class Api:
    """The words of the API: the log tells everything, and the records follow."""

    name = "api"
    blocked_word, rejected_word = "BLOCKED", "FAILED"
    call, called = "TOOL_REQUEST", "TOOL_CALLED"

    def created(self, run: Stored) -> Drafts:
        told = {name: run.get(name) for name in ("agent_id", "user_id", "conversation_id")}
        yield Event(run["id"], "RUN_CREATED", run["user_id"], told)
        yield Change("run", run["id"], run)

    def dispatched(self, run: Stored) -> Drafts:
        yield Event(run["id"], "INVOKE_REQUESTED", run["agent_id"], {"agent_id": run["agent_id"]})
        if run.get("initial_message"):
            yield Event(run["id"], "USER_MESSAGE", run["user_id"], {"content": run["initial_message"]})

    def returned(self, run: Stored) -> Drafts:
        """A paused invocation returns as well."""
        yield Event(run["id"], "INVOKE_COMPLETED", run["agent_id"], {"status_code": 200})

    def said(self, run: Stored, text: str) -> Drafts:
        yield Event(run["id"], "AGENT_MESSAGE", run["agent_id"], {"content": text})

    def thought(self, run: Stored, model: str) -> Drafts:
        yield from ()

    def stumbled(self, run: Stored, error: str) -> Drafts:
        """An error that the run survives."""
        yield from ()

    def answered(self, run: Stored, call: Call, answer: Answer, links: dict[str, Any]) -> Drafts:
        told = {"tool_id": call.tool_id, "status_code": answer.status_code, "error": answer.error}
        yield Event(run["id"], "TOOL_RESPONSE", run["agent_id"], links | told)

    def approved(self, run: Stored, action: Stored, request: Stored) -> Drafts:
        yield Event(run["id"], "APPROVED", request["approver_id"], decision(request), action.get("payload_hash"))
        yield Change(
            "blocked_action", action["action_id"], {"status": "APPROVED", "approver_id": request["approver_id"]}
        )
        yield Change("run", run["id"], {"status": "RUNNING", "blocked_action_id": None})

    def resumed(self, run: Stored, action: Stored, request: Stored) -> Drafts:
        links = {"action_id": action["action_id"], "request_id": request["id"]}
        yield Event(run["id"], "RESUMED", run["agent_id"], links)

    def consented(self, run: Stored, tool_id: str, resume_id: str) -> Drafts:
        yield Event(run["id"], "RESUMED", run["user_id"], {"tool_id": tool_id, "resume_id": resume_id})
        yield Change("run", run["id"], {"status": "RUNNING"})

    def rejected(self, run: Stored, action: Stored, request: Stored) -> Drafts:
        told = decision(request)
        yield Event(run["id"], "REJECTED", request["approver_id"], told, action.get("payload_hash"))
        yield Change("blocked_action", action["action_id"], {"status": "FAILED", "approver_id": request["approver_id"]})
        failure = {
            "error": "The approval was rejected.",
            "reason": told.get("reason"),
            "action_id": action["action_id"],
        }
        yield Event(run["id"], "FAILED", run["agent_id"], failure)
        yield Change("run", run["id"], {"status": "FAILED", "blocked_action_id": None})

    def failed(self, run: Stored, error: str, reason: str | None = None) -> Drafts:
        yield Event(run["id"], "FAILED", run["agent_id"], {"error": error, "reason": reason})
        yield Change("run", run["id"], {"status": "FAILED", "blocked_action_id": None})

    def undelivered(self, run: Stored, error: str) -> Drafts:
        yield Event(run["id"], "INVOKE_FAILED", run["agent_id"], {"error": error})
        yield Change("run", run["id"], {"status": "FAILED", "blocked_action_id": None})

    def completed(self, run: Stored) -> Drafts:
        yield from self.returned(run)
        yield Event(run["id"], "COMPLETED", run["agent_id"])
        yield Change("run", run["id"], {"status": "COMPLETED"})


class Operations(Api):
    """The words of the operations page: a status changes first, and what the log can say of it follows."""

    name = "operations"
    blocked_word, rejected_word = "PENDING", "REJECTED"
    call = called = "TOOL_CALL"

    def created(self, run: Stored) -> Drafts:
        yield Change("run", run["id"], run)

    def dispatched(self, run: Stored) -> Drafts:
        yield from ()

    def returned(self, run: Stored) -> Drafts:
        yield from ()

    def said(self, run: Stored, text: str) -> Drafts:
        yield from ()

    def thought(self, run: Stored, model: str) -> Drafts:
        yield Event(run["id"], "LLM_CALL", run["agent_id"], {"model": model})

    def stumbled(self, run: Stored, error: str) -> Drafts:
        yield Event(run["id"], "ERROR", run["agent_id"], {"error": error})

    def answered(self, run: Stored, call: Call, answer: Answer, links: dict[str, Any]) -> Drafts:
        if answer.failed:
            yield from self.stumbled(run, answer.error or f"The tool answered {answer.status_code}.")

    def approved(self, run: Stored, action: Stored, request: Stored) -> Drafts:
        yield Change(
            "blocked_action", action["action_id"], {"status": "APPROVED", "approver_id": request["approver_id"]}
        )

    def resumed(self, run: Stored, action: Stored, request: Stored) -> Drafts:
        yield Change("run", run["id"], {"status": "RUNNING", "blocked_action_id": None})
        grant = decision(request)
        yield Event(run["id"], "APPROVAL_GRANTED", request["approver_id"], grant, action.get("payload_hash"))

    def consented(self, run: Stored, tool_id: str, resume_id: str) -> Drafts:
        yield Change("run", run["id"], {"status": "RUNNING"})

    def rejected(self, run: Stored, action: Stored, request: Stored) -> Drafts:
        told = {"status": "REJECTED", "approver_id": request["approver_id"]}
        yield Change("blocked_action", action["action_id"], told)
        refusal = decision(request)
        yield Event(run["id"], "APPROVAL_REJECTED", request["approver_id"], refusal, action.get("payload_hash"))
        yield Change("run", run["id"], {"status": "FAILED", "blocked_action_id": None})

    def failed(self, run: Stored, error: str, reason: str | None = None) -> Drafts:
        yield Event(run["id"], "ERROR", run["agent_id"], {"error": error, "reason": reason})
        yield Change("run", run["id"], {"status": "FAILED", "blocked_action_id": None})

    def undelivered(self, run: Stored, error: str) -> Drafts:
        yield from self.failed(run, error)


VOCABULARIES = {words.name: words for words in (Api(), Operations())}


def decision(request: Stored) -> dict[str, Any]:
    """What a decision's event tells, from the request that was decided."""
    names = ("action_id", "approver_id", "scope", "duration", "expires_at", "reason", "tool_id", "capability")
    return {"request_id": request["id"]} | {name: request[name] for name in names if name in request}
