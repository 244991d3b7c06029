"""A stage for stories: tools, rules and agents that show everything, and a platform with somebody who acts on it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from reference_runtime.capture import Capture
from reference_runtime.errors import CommandRejected
from reference_runtime.lifecycles.runagents.history import kind_of
from reference_runtime.lifecycles.runagents.policy import Answer, Call, Policy, Rule, Tool
from reference_runtime.lifecycles.runagents.service import RunAgents
from reference_runtime.lifecycles.runagents.settings import Settings
from reference_runtime.lifecycles.runagents.worker import Worker
from reference_runtime.log.base import Store
from reference_runtime.scripts.coverage import Played
from reference_runtime.stamping import VirtualClock

REFUND = {"tool_id": "stripe", "capability": "POST /v1/refunds", "payload": {"order": 1042, "amount": 20}}
REFUND |= {"tool_url": "https://api.stripe.com/v1/refunds"}
LOOK_UP = {"tool_id": "shop", "capability": "GET /orders", "payload": {"order": 1042}}
INVITE = {"tool_id": "calendar", "capability": "POST /invitations", "payload": {"with": "user_jonas"}}
PAY = {"tool_id": "bank", "capability": "POST /payouts", "payload": {"invoice": 77}}
ERASE = {"tool_id": "shop", "capability": "DELETE /orders", "payload": {}}

POLICY = Policy(
    tools=(
        Tool("stripe"),
        Tool("shop"),
        Tool("bank", perform=lambda call: Answer(502, "bad gateway")),
        Tool("calendar", authorization_url="https://accounts.example/consent?client=calendar"),
    ),
    rules=(
        Rule("allow", "shop"),
        Rule("deny", "shop", "DELETE /orders"),
        Rule("approval_required", "stripe"),
        Rule("approval_required", "bank"),
        Rule("approval_required", "calendar"),
    ),
)
AGENTS: dict[str, list[dict[str, Any]]] = {
    "shop-agent": [{"think": "small"}, {"call": LOOK_UP}, {"say": "Order 1042 is on its way."}],
    "refund-agent": [{"think": "small"}, {"call": REFUND}, {"say": "The refund is on its way."}],
    "twice-agent": [{"call": REFUND}, {"call": REFUND | {"payload": {"order": 1043}}}, {"say": "Both are refunded."}],
    "calendar-agent": [{"call": INVITE}, {"say": "They are invited."}],
    "payout-agent": [{"call": PAY}, {"say": "The payout did not go through."}],
    "careless-agent": [{"call": ERASE}, {"stumble": "Nothing was erased."}, {"say": "I may not do that."}],
    "failing-agent": [{"think": "small"}, {"fail": "The model gateway is down."}],
    "absent-agent": [{"undelivered": "The agent does not answer."}],
}
APPROVER = "user_marta"


class PowerCut(BaseException):
    """The process is gone in the middle of a call."""


class Scene:
    """A platform on a stage: who acts on it, and what was reached."""

    def __init__(self, name: str, open_store: Callable[[], Store], capture: Capture, **settings: Any):
        self._open, self._capture, self._name, self._ids = open_store, capture, name, 0
        self.clock, self.played = VirtualClock(), Played()
        self.settings = Settings(policy=POLICY, agents=AGENTS, new_id=self._new_id, **settings)
        self.raise_curtain()

    def _new_id(self) -> str:
        self._ids += 1
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self._name}/{self._ids}"))

    def raise_curtain(self) -> None:
        self.platform = RunAgents(self._open(), self.settings, self.clock, self._capture)
        self.platform.book.subscribers.append(self._note)
        self.worker = Worker(self.platform)

    def _note(self, line: dict[str, Any]) -> None:
        self.played.rows |= self.platform.book.rows
        if "record" not in line:
            self.played.events.add(kind_of(line))

    def restart(self) -> None:
        """The process comes back on the store that the old one left."""
        self.platform.book.store.close()
        self.raise_curtain()
        self.platform.recover()

    def begin(self, agent: str, user: str = "user_ines", **more: Any) -> str:
        """A run, worked on until it waits or is over."""
        asked = {"agent_id": agent, "user_id": user, "conversation_id": f"conv_{self._name}", **more}
        run_id = self.platform.create_run(asked)["id"]
        self.worker.run()
        return run_id

    def pending(self) -> str:
        """The request that waits."""
        (request,) = self.platform.requests("PENDING")
        return request["id"]

    def approve(self, **wish: Any) -> None:
        self.platform.approve(self.pending(), {"approver_id": APPROVER, **wish})
        self.worker.run()

    def reject(self, **wish: Any) -> None:
        self.platform.reject(self.pending(), {"approver_id": APPROVER, **wish})
        self.worker.run()

    def settle(self, run_id: str, completed: bool) -> None:
        self.platform.settle_consent(run_id, completed)
        self.worker.run()

    def look(self, run_id: str, status: str) -> None:
        """Shows everything there is about a run, and is sure where it stands."""
        if self.platform.run(run_id)["status"] != status:
            raise AssertionError(f"{self._name}: the run is {self.platform.run(run_id)['status']}, not {status}")
        self.platform.run_view(run_id)
        for action in self.platform.actions(run_id):
            self.platform.action_view(run_id, action["action_id"])
        self.platform.export(run_id)

    def refused(self, code: str, act: Callable[[], Any]) -> None:
        """An act that has to be refused, for this reason and no other."""
        try:
            act()
        except CommandRejected as refusal:
            if refusal.code == code:
                return
            raise
        raise AssertionError(f"{self._name}: nobody refused with {code}")


def cut(policy: Policy) -> Policy:
    """A policy whose tools are reached by a call, and never answer: the process is gone."""

    def perform(call: Call) -> Answer:
        raise PowerCut

    return replace(policy, tools=tuple(replace(tool, perform=perform) for tool in policy.tools))
