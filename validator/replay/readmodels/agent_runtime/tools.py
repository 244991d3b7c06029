"""Tool calls, and the tools a caller has."""

from __future__ import annotations

from typing import Any

from validator.records import dataclass, field
from validator.replay.readmodels.agent_runtime.facts import Collector, Fact, Facts
from validator.replay.readmodels.agent_runtime.hooks import Hooks
from validator.replay.readmodels.agent_runtime.names import FAILED
from validator.replay.readmodels.agent_runtime.permissions import boundary_of, decision_of
from validator.replay.readmodels.agent_runtime.records import honest, present
from validator.replay.readmodels.agent_runtime.scope import SESSION, Scope, Scopes
from validator.replay.readmodels.agent_runtime.turns import Turns


@dataclass(slots=True)
class Call:
    """What events told of one call."""

    said: dict[str, Any] = field(default_factory=dict)
    decision: Any = None
    policy: Any = None
    action: Any = None
    asked: str | None = None


class Calls(Collector):
    """Tool calls of a session."""

    listens = {  # noqa: RUF012 - a table of the class, never changed
        "tool.started": "_started",
        "tool.args": "_args",
        "tool.result": "_result",
        "tool.failed": "_failed",
        "permission.*": "_permission",
        "permission.evaluated": "_decided",
        "permission.resolved": "_decided",
        "action.required": "_asked",
        "sandbox.applied": "_sandboxed",
    }
    carries = ("tool_call_id",)

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.calls: dict[str, Call] = {}
        self.of_turn: dict[str, dict[str, None]] = {}

    def _call(self, fact: Fact) -> Call:
        return self.calls.setdefault(fact.ids.get("tool_call_id", ""), Call())

    def meet(self, fact: Fact) -> None:
        said = self._call(fact).said
        for name in ("turn_id", "step_id"):
            if name in fact.ids:
                said.setdefault(name, fact.ids[name])
        if "turn_id" in said:
            self.of_turn.setdefault(said["turn_id"], {})[fact.ids.get("tool_call_id", "")] = None

    def _tell(self, fact: Fact, *names: str) -> None:
        call = self._call(fact)
        for name in names:
            if (value := fact.payload.get(name)) is not None:
                call.said[name] = self.facts.records.field("tool_call", name, value)

    def _started(self, fact: Fact) -> None:
        self._tell(fact, "tool_name", "args_ref")
        call = self._call(fact)
        call.said["started_at"] = fact.time
        policy = fact.payload.get("policy")
        call.policy = policy if isinstance(policy, str) else call.policy
        self._approved_by(call, fact)

    def _args(self, fact: Fact) -> None:
        self._tell(fact, "args_ref")

    def _result(self, fact: Fact) -> None:
        self._tell(fact, "preview")
        if (ref := self.facts.protocol.lens.get(fact.line, "output_ref")) is not None:
            self._call(fact).said["output_ref"] = ref

    def _failed(self, fact: Fact) -> None:
        self._tell(fact, "error")

    def _permission(self, fact: Fact) -> None:
        if "tool_call_id" in fact.ids:
            self._approved_by(self._call(fact), fact)

    def _approved_by(self, call: Call, fact: Fact) -> None:
        action = fact.told("approval_action_id", "permission_decision")
        call.action = action if action is not None else call.action

    def _decided(self, fact: Fact) -> None:
        if "tool_call_id" in fact.ids:
            self._call(fact).decision = decision_of(fact)

    def _asked(self, fact: Fact) -> None:
        if "tool_call_id" in fact.ids:
            self._call(fact).asked = fact.ids.get("action_id")

    def _sandboxed(self, fact: Fact) -> None:
        if "tool_call_id" in fact.ids:
            self._call(fact).said["sandbox_profile"] = boundary_of(self.facts, fact)

    def record(self, key: str) -> dict[str, Any]:
        """The entry of a call."""
        return self.facts.entry("tool_call_id", key, self._record)

    def _record(self, key: str) -> dict[str, Any]:
        call, end = self.calls.get(key, Call()), self.facts.end("tool_call", key)
        return present(
            tool_call_id=key,
            status=self.facts.status("tool_call", key),
            policy_decision=call.decision if call.decision is not None else call.policy,
            approval_action_id=call.action if call.action is not None else call.asked,
            hook_run_ids=self.facts.of(Hooks).of_call(key),
            ended_at=end.time if end else None,
            **call.said,
        )

    def failed(self, scope: Scope) -> list[str]:
        """Calls that are failed, denied or timed out, in order."""
        known = self.facts.known("tool_call", "tool_call_id", scope)
        return [key for key in known if self.facts.state("tool_call", key) in FAILED]

    def of_turns(self, scope: Scope, turns: set[str]) -> list[dict[str, Any]]:
        """Calls of some turns, and every failed one, in order."""
        known, failed = self.facts.known("tool_call", "tool_call_id", scope), set(self.failed(scope))
        return [self.record(key) for key in known if key in failed or self._turn(key) in turns]

    def _turn(self, key: str) -> Any:
        return self.calls.get(key, Call()).said.get("turn_id")

    def scopes(self, key: str, turns: Turns) -> Scopes:
        """The thread that shows a call."""
        own = self.facts.scopes("tool_call", "tool_call_id", key) - {SESSION}
        return own if self.facts.state("tool_call", key) in FAILED else own & turns.scopes(self._turn(key))


class Catalogues(Collector):
    """The latest tools that were resolved, by place."""

    listens = {"tool.catalog.resolved": "_resolved"}  # noqa: RUF012 - a table of the class, never changed

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.latest = facts.latest()
        self._changed: dict[tuple[str, Scope], Any] = {}
        self._unplaced: set[str] = set()
        """Callers whose tools were told before the thread was known."""

    def _resolved(self, fact: Fact) -> None:
        said = present(**{name: fact.payload.get(name) for name in ("caller", "policy", "context", "mode")})
        said |= present(inventory_ref=fact.payload.get("inventory_ref"))
        said |= {name: fact.line[name] for name in ("thread_id", "turn_id") if fact.line.get(name) is not None}
        tools = fact.payload.get("tools")
        copied = [self.facts.records.copy("tool", tool) for tool in tools] if isinstance(tools, list) else tools
        said["tools"] = copied if copied is not None else honest("unavailable", "only a reference was given")
        self.latest.tell("", fact.index, fact.origin, said)
        caller = said.get("caller")
        if isinstance(caller, str):
            self._note_change(fact, caller, said)
            self.latest.tell(caller, fact.index, fact.origin, said)

    def _note_change(self, fact: Fact, caller: str, said: dict[str, Any]) -> None:
        for scope in self.facts.belonging.scopes(fact.origin):
            if self.latest.value(caller, scope) != said:
                self._changed[caller, scope] = fact.time
        if fact.origin.thread is None and fact.origin.ids:
            self._unplaced.add(caller)

    def changed(self, scope: Scope, caller: str) -> Any:
        """The time when the tools of a caller last changed; None when that cannot be told."""
        return None if caller in self._unplaced else self._changed.get((caller, scope.narrowest))

    def build(self, scope: Scope, caller: str | None = None) -> dict[str, Any] | None:
        """The `tool_inventory_snapshot`."""
        return self.latest.value(caller or "", scope)
