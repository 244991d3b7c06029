"""The platform: runs, gates, and what is shown of them, on one store.

Everything that writes goes through the book, one decision and one commit each. What has to happen outside of a commit,
a call of a tool, stands between two of them (see `gateway`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

from reference_runtime.capture import Capture
from reference_runtime.lifecycles.book import Book
from reference_runtime.lifecycles.runagents import gates, gateway, runs, telling
from reference_runtime.lifecycles.runagents.desk import Deciding, Desk, call_of, wrong_state
from reference_runtime.lifecycles.runagents.history import PROTOCOL
from reference_runtime.lifecycles.runagents.lines import learn, stamp
from reference_runtime.lifecycles.runagents.policy import Answer, Call
from reference_runtime.lifecycles.runagents.reading import Reading
from reference_runtime.lifecycles.runagents.settings import Settings
from reference_runtime.log.base import Store
from reference_runtime.stamping import Clock

Stored = dict[str, Any]


class RunAgents(Reading):
    """One platform on one store."""

    def __init__(
        self,
        store: Store,
        settings: Settings | None = None,
        clock: Clock | None = None,
        capture: Capture | None = None,
    ):
        self.settings = settings or Settings()
        self.book = Book(store, PROTOCOL, stamp, learn, clock, capture)

    def decide(self, decision: Callable[[Desk], Deciding], key: str | None = None, digested: Any = None) -> Stored:
        """Takes one decision; under a key it takes effect once, however often it is asked for."""
        mark = hashlib.sha256(json.dumps(digested, sort_keys=True).encode()).hexdigest()
        return self.book.take(lambda page: decision(Desk(page, self.settings)), key, mark)

    def _keyed(self, name: str, key: str | None, asked: Any, decision: Callable[[Desk], Deciding]) -> Stored:
        return self.decide(decision, f"{name}|{key}" if key else None, [name, asked])

    def create_run(self, request: Stored, key: str | None = None) -> Stored:
        return self._keyed("create_run", key, request, lambda desk: runs.create(desk, request))

    def set_status(self, run_id: str, request: Stored, key: str | None = None) -> Stored:
        return self._keyed("set_status", key, [run_id, request], lambda desk: runs.set_status(desk, run_id, request))

    def tell(self, run_id: str, request: Stored, key: str | None = None) -> Stored:
        """Appends an event that somebody outside reports."""
        return self._keyed("tell", key, [run_id, request], lambda desk: telling.tell(desk, run_id, request))

    def block(self, run_id: str, request: Stored, key: str | None = None) -> Stored:
        """Blocks an action of a run; the same one, while it is pending, is found again (RA-118)."""
        call = _asked(request) if "payload" in request else None
        blocked = call.payload_hash if call else request["payload_hash"]
        told = {name: request[name] for name in ("tool_id", "capability", "tool_method", "tool_url") if name in request}

        def decision(desk: Desk) -> Deciding:
            if found := _pending_twin(desk, run_id, told, blocked):
                return {"created": False, "action": found}
            desk.standing(run_id, "RUNNING")
            made = yield from gates.block(desk, run_id, told, blocked, call)
            return {"created": True, "action": desk.record("blocked_action", made["action_id"])}

        return self._keyed("block", key, [run_id, request], decision)

    def call(self, run_id: str, request: Stored, key: str | None = None) -> Stored:
        """A governed call by way of the gateway; under a key it is made once."""
        call, taken = _asked(request), list[Desk]()

        def decision(desk: Desk) -> Deciding:
            taken.append(desk)
            return (yield from gateway.attempt(desk, run_id, call))

        verdict = self._keyed("call", key, [run_id, request], decision)
        if verdict["verdict"] == "go" and not taken:
            kept = self.book.store.reply(f"answered|{key}")
            if kept is None:
                raise wrong_state("The call was made, and its answer is not known.", "answer_unknown")
            return kept[1]
        return self.finish(run_id, verdict, key)

    def approve(self, request_id: str, wish: Stored, key: str | None = None) -> Stored:
        return self._keyed("approve", key, [request_id, wish], lambda desk: gates.approve(desk, request_id, wish))

    def reject(self, request_id: str, wish: Stored, key: str | None = None) -> Stored:
        return self._keyed("reject", key, [request_id, wish], lambda desk: gates.reject(desk, request_id, wish))

    def ask_consent(self, run_id: str, request: Stored, key: str | None = None) -> Stored:
        def decision(desk: Desk) -> Deciding:
            desk.standing(run_id, "RUNNING")
            return (yield from gates.ask_consent(desk, run_id, request, None))

        return self._keyed("ask_consent", key, [run_id, request], decision)

    def settle_consent(self, run_id: str, completed: bool, key: str | None = None) -> Stored:
        """Consent was given, or the user never came back; it decides no action."""
        settle = gates.complete_consent if completed else gates.abandon_consent
        return self._keyed("settle_consent", key, [run_id, completed], lambda desk: settle(desk, run_id))

    def keep_checkpoint(self, run_id: str, request: Stored, key: str | None = None) -> Stored:
        asked = [run_id, request]
        return self._keyed("keep_checkpoint", key, asked, lambda desk: runs.keep_checkpoint(desk, run_id, request))

    def resume(self, checkpoint_id: str) -> Stored:
        """Takes up what a settled gate stopped."""
        verdict = self.decide(lambda desk: gateway.resume(desk, checkpoint_id))
        return self.finish(verdict["run_id"], verdict)

    def finish(self, run_id: str, verdict: Stored, key: str | None = None) -> Stored:
        """Makes a call that may go, and tells its answer."""
        if verdict["verdict"] != "go":
            return verdict
        flight = self.book.store.load("flight", run_id)
        answer = self._perform(call_of(flight.data["call"]))
        return self._keyed("answered", key, run_id, lambda desk: gateway.answered(desk, run_id, answer))

    def _perform(self, call: Call) -> Answer:
        tool = self.settings.policy.tool(call.tool_id)
        try:
            return tool.perform(call) if tool else gateway.DENIED
        except Exception as error:  # a tool is a plug-in; what it raises says that it failed, and nothing more
            return Answer(502, f"The tool failed with {type(error).__name__}.")

    def close(self) -> None:
        """Lets go of the store and of the capture."""
        self.book.store.close()
        self.book.capture.close()

    def recover(self) -> None:
        """After a restart: calls in flight are told as lost; everything else waits on."""
        self.book.capture.restart("kill", "rt_runagents", self.now())
        for flight in self.book.store.find("flight", {}, True):
            self.decide(lambda desk, run_id=flight.id: gateway.lost(desk, run_id))


def _asked(request: Stored) -> Call:
    return Call(request["tool_id"], request["capability"], request.get("payload"), request.get("tool_url"))


def _pending_twin(desk: Desk, run_id: str, told: Stored, payload_hash: str) -> Stored | None:
    """The pending action of a run, when it is the very call that is asked for again."""
    run = desk.page.need("run", run_id)
    if run.state != "PAUSED_APPROVAL":
        return None
    action = desk.record("blocked_action", desk.record("run", run_id)["blocked_action_id"])
    alike = all(action.get(name) == told.get(name) for name in ("tool_id", "capability"))
    if alike and gates.same(payload_hash, action.get("payload_hash")):
        return action
    raise wrong_state("The run waits for another action.")
