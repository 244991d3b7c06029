"""Actions, permission decisions, boundaries, and the summary of them."""

from __future__ import annotations

import functools
from typing import Any

from validator.replay.readmodels.agent_runtime.facts import Collector, Fact, Facts
from validator.replay.readmodels.agent_runtime.hooks import Hooks
from validator.replay.readmodels.agent_runtime.records import Later, present
from validator.replay.readmodels.agent_runtime.scope import NOWHERE, Scope, Scopes

RESOLUTIONS = {"allowed": "allow", "denied": "deny", "timed_out": "deny", "cancelled": "deny"}
SAID_BY_WORD = ("timed_out", "cancelled")
TARGETS = {"tool_call_id": "tool", "process_id": "process", "action_id": "action", "peer_task_id": "peer_task"}
QUESTIONS = ("ask_user", "elicitation", "structured_input")
"""Types of actions that ask for words, not for an approval."""
UNRESOLVED = ("pending", "offered")


def decision_of(fact: Fact) -> Any:
    """The word of a decision; in a resolution only `allowed` approved anything."""
    word = fact.told("decision", "permission_decision")
    mapped = RESOLUTIONS.get(word) if isinstance(word, str) and fact.type == "permission.resolved" else None
    return mapped or word


def boundary_of(facts: Facts, fact: Fact) -> dict[str, Any]:
    """The boundary that a `sandbox.applied` states."""
    told = {name: fact.told(name, "sandbox_profile") for name in facts.records.fields("sandbox_profile")}
    return facts.records.copy("sandbox_profile", told)


class Actions(Collector):
    """Actions of a session."""

    listens = {"action.required": "_required"}  # noqa: RUF012 - a table of the class, never changed

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.asked: dict[str, dict[str, Any]] = {}

    def _required(self, fact: Fact) -> None:
        blocking = fact.payload.get("blocking")
        names = ("action_type", "title", "prompt", "decisions", "expires_at")
        said = {name: self.facts.records.field("action", name, fact.payload.get(name)) for name in names}
        said |= {name: fact.line.get(name) for name in ("turn_id", "task_id", "tool_call_id", "process_id")}
        said |= {"blocking": True if blocking is None else blocking, "requested_at": fact.time}
        self.asked[fact.ids["action_id"]] = present(**said)

    def unresolved(self, scope: Scope) -> list[str]:
        """Actions without an answer, in order; one that is in doubt is among them."""
        known = self.facts.known("action", "action_id", scope)
        return [key for key in known if self.facts.state("action", key) in UNRESOLVED]

    def scopes(self, key: str, questions: bool) -> Scopes:
        """The session and thread in which an action waits for an answer; one that asks for words, if it is wanted."""
        if self.facts.state("action", key) not in UNRESOLVED:
            return NOWHERE
        wanted = questions or self.asked.get(key, {}).get("action_type") not in QUESTIONS
        return self.facts.scopes("action", "action_id", key) if wanted else NOWHERE

    def pending(self, key: str) -> dict[str, Any]:
        """The entry of an action that has no answer."""
        return {"action_id": key, "status": self.facts.status("action", key), **self.asked.get(key, {})}

    def approvals(self, scope: Scope) -> list[dict[str, Any]]:
        """Unresolved actions that ask for more than words."""
        entries = (self.pending(key) for key in self.unresolved(scope))
        return [entry for entry in entries if entry.get("action_type") not in QUESTIONS]


class Permissions(Collector):
    """Decisions, boundaries and violations of a session."""

    listens = {  # noqa: RUF012 - a table of the class, never changed
        "permission.*": "_mode",
        "policy.changed": "_policy",
        "tool.catalog.resolved": "_mode",
        "permission.evaluated": "_decided",
        "permission.resolved": "_decided",
        "sandbox.applied": "_applied",
        "sandbox.violation": "_violated",
        "sandbox.*": "_exists",
        "hook.*": "_exists",
        "action.required": "_asked",
    }

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.latest = facts.latest()
        self.decisions, self.violations = facts.log(), facts.log()

    def _exists(self, fact: Fact) -> None:
        self.latest.tell("exists", fact.index, fact.origin, True)

    def _asked(self, fact: Fact) -> None:
        if fact.payload.get("action_type") not in QUESTIONS:
            self._exists(fact)

    def _mode(self, fact: Fact) -> None:
        self._exists(fact)
        if (mode := fact.told("mode", "permission_decision")) is not None:
            self.latest.tell("mode", fact.index, fact.origin, mode)

    def _policy(self, fact: Fact) -> None:
        self._mode(fact)
        if (ref := fact.payload.get("policy_ref")) is not None:
            self.latest.tell("policy_ref", fact.index, fact.origin, ref)

    def _decided(self, fact: Fact) -> None:
        fields = self.facts.records.fields("permission_decision")
        told = present(**{name: fact.told(name, "permission_decision") for name in fields if name != "target_id"})
        target = next((name for name in TARGETS if name in fact.ids), None)
        if target:
            told = {"target_kind": TARGETS[target], **told, "target_id": fact.ids[target]}
        if fact.type == "permission.resolved" and told.get("decision") in SAID_BY_WORD:
            told = {"decision_reason": told["decision"], **told}
        told["decision"] = decision_of(fact)
        self.decisions.add(fact.index, fact.origin, self.facts.records.copy("permission_decision", told))

    def _applied(self, fact: Fact) -> None:
        self.latest.tell("sandbox", fact.index, fact.origin, boundary_of(self.facts, fact))

    def _violated(self, fact: Fact) -> None:
        said = self.facts.records.copy("violation", fact.payload)
        said |= {name: fact.line[name] for name in ("tool_call_id", "process_id") if fact.line.get(name) is not None}
        self.violations.add(fact.index, fact.origin, said)

    def build(self, scope: Scope) -> dict[str, Any] | None:
        """The `permission_sandbox_summary`."""
        shown = self.shown(scope)
        if shown is None:
            return None
        approvals = functools.cache(lambda: self.facts.of(Actions).approvals(scope))
        decisions = functools.cache(lambda: self.decisions.values(scope))
        return {
            **shown,
            "permission_state": Later(lambda: _state(approvals(), decisions())),
            "pending_approvals": Later(approvals),
            "decisions": Later(decisions),
            "violations": Later(lambda: self.violations.values(scope)),
            "hook_runs": Later(lambda: self.facts.of(Hooks).within(scope)),
        }

    def shown(self, scope: Scope) -> dict[str, Any] | None:
        """The summary without its lists and what follows from them."""
        if self.latest.get("exists", scope) is None:
            return None
        names = {"mode": "mode", "sandbox_profile": "sandbox", "policy_ref": "policy_ref"}
        return present(**{name: self.latest.value(told, scope) for name, told in names.items()})


def _state(approvals: list[Any], decisions: list[dict[str, Any]]) -> str:
    if approvals:
        return "pending"
    if not decisions:
        return "unknown"
    return "denied" if decisions[-1].get("decision") == "deny" else "clear"
