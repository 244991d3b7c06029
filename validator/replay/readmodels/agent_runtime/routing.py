"""Which model serves, at what cost and within which limits."""

from __future__ import annotations

import itertools
from typing import Any

from validator.replay.readmodels.agent_runtime.facts import Collector, Fact, Facts
from validator.replay.readmodels.agent_runtime.records import Later, as_record, honest, present
from validator.replay.readmodels.agent_runtime.scope import Scope

ROUTING = {
    "task.profile.resolved": "_profile",
    "routing.candidates.resolved": "_candidates",
    "routing.decided": "_decided",
    "routing.single_candidate": "_decided",
    "routing.not_possible": "_not_possible",
}
"""The events that route a turn."""
LIMITS = {"rate_limit.hit": "rate_limit", "quota.low": "quota_low", "quota.blocked": "quota_blocked"}
COUNTS = ("input_tokens", "output_tokens", "cached_tokens", "total_tokens")
PRICES = ("input_price_per_million", "output_price_per_million")


def copied(facts: Facts, record: str, fact: Fact) -> dict[str, Any]:
    """A record copied from the payload, else from the side object of the same name."""
    told = {name: fact.told(name, record) for name in facts.records.fields(record)}
    return facts.records.copy(record, told)


class Routing(Collector):
    """What was routed, spent and limited in a session."""

    listens = {  # noqa: RUF012 - a table of the class, never changed
        **dict.fromkeys(ROUTING, "_routed"),
        "routing.fallback.applied": "_fallback",
        "cost.estimated": "_estimated",
        "cost.recorded": "_recorded",
        "limit.changed": "_limit",
        **dict.fromkeys(LIMITS, "_met"),
    }
    carries = ("cost_state",)

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.latest = facts.latest()
        self._summed: dict[Scope, tuple[int, dict[str, Any]]] = {}
        self.fallbacks, self.costs, self.limits, self.events = facts.log(), facts.log(), facts.log(), facts.log()
        self.blocks = facts.log()

    def _exists(self, fact: Fact) -> None:
        self.latest.tell("exists", fact.index, fact.origin, True)

    def _routed(self, fact: Fact) -> None:
        self._exists(fact)
        self.latest.tell("routed", fact.index, fact.origin, fact.ids.get("turn_id"))
        for name, value in getattr(self, ROUTING[fact.type])(fact).items():
            self.latest.tell(_of_turn(name, fact.ids.get("turn_id")), fact.index, fact.origin, value)

    def _profile(self, fact: Fact) -> dict[str, Any]:
        return {"task_profile": copied(self.facts, "task_profile", fact)}

    def _candidates(self, fact: Fact) -> dict[str, Any]:
        side = fact.side("candidate_model_set")
        count = fact.payload.get("candidate_count")
        listed = {name: fact.told(name, "candidate_model_set") for name in ("candidates", "excluded")}
        listed = self.facts.records.copy("candidate_model_set", listed)
        return {"candidates": listed} | present(candidate_count=count if count is not None else side.get("count"))

    def _decided(self, fact: Fact) -> dict[str, Any]:
        decision = copied(self.facts, "routing_decision", fact)
        alone = 1 if fact.type == "routing.single_candidate" else None
        return {"routing_decision": decision} | present(candidate_count=decision.get("candidate_count", alone))

    def _not_possible(self, fact: Fact) -> dict[str, Any]:
        decision = present(routing_mode="no_candidate", decision_reason=fact.payload.get("reason"))
        return {"routing_decision": decision} | present(candidate_count=fact.payload.get("candidate_count"))

    def _fallback(self, fact: Fact) -> None:
        self._exists(fact)
        self.fallbacks.add(fact.index, fact.origin, self.facts.records.copy("fallback", fact.payload))

    def _estimated(self, fact: Fact) -> None:
        for name in ("estimated_cost_class", "estimated_total_cost"):
            if (value := fact.told(name, "cost_state")) is not None:
                self.latest.tell(name, fact.index, fact.origin, value)
        self._cost(fact)

    def _recorded(self, fact: Fact) -> None:
        usage = as_record(fact.told("usage", "cost_state"))
        counts = {name: usage.get(name) for name in COUNTS}
        amount = fact.told("actual_total_cost", "cost_state")
        self.costs.add(fact.index, fact.origin, {"actual_total_cost": amount, **counts})
        self._cost(fact)

    def _cost(self, fact: Fact) -> None:
        self._exists(fact)
        self.latest.tell("cost", fact.index, fact.origin, True)
        if (currency := fact.told("currency", "cost_state")) is not None:
            self.latest.tell("currency", fact.index, fact.origin, currency)

    def _limit(self, fact: Fact) -> None:
        self._exists(fact)
        self._state(fact)

    def _met(self, fact: Fact) -> None:
        self._exists(fact)
        event = copied(self.facts, "limit_event", fact)
        self.events.add(fact.index, fact.origin, {"event_kind": LIMITS[fact.type], **event})
        if fact.type == "quota.blocked":
            self.blocks.add(fact.index, fact.origin, self.events.entries[fact.index].value)
        self._state(fact)

    def _state(self, fact: Fact) -> None:
        told = fact.payload.get("limit_state")
        state = self.facts.records.copy("limit_state", told if told is not None else fact.line.get("limit_state"))
        if as_record(state):
            self.limits.add(fact.index, fact.origin, state)

    def meet(self, fact: Fact) -> None:
        for name in PRICES:
            if (price := fact.side("cost_state").get(name)) is not None:
                self.latest.tell(name, fact.index, fact.origin, price)

    def build(self, scope: Scope) -> dict[str, Any] | None:
        """The `routing_limit_summary`."""
        shown = self.shown(scope)
        return shown and {
            **shown,
            "fallbacks": Later(lambda: self.fallbacks.values(scope)),
            "limit_events": Later(lambda: self.events.values(scope)),
        }

    def shown(self, scope: Scope) -> dict[str, Any] | None:
        """The summary without its lists of events."""
        if self.latest.get("exists", scope) is None:
            return None
        return present(
            **self._of_routed_turn(scope),
            cost_state=self._cost_state(scope),
            limit_states=self._limit_states(scope),
        )

    def _of_routed_turn(self, scope: Scope) -> dict[str, Any]:
        routed = self.latest.get("routed", scope)
        if routed is None:
            return {}
        names = ("task_profile", "candidate_count", "candidates", "routing_decision")
        told = {name: self.latest.value(_of_turn(name, routed.value), scope) for name in names}
        return told | {"candidates": None, **as_record(told["candidates"])}

    def _cost_state(self, scope: Scope) -> dict[str, Any] | None:
        if self.latest.get("cost", scope) is None:
            return None
        names = ("estimated_cost_class", "estimated_total_cost", "currency", *PRICES)
        sums = self._sums(scope.narrowest)
        return present(
            status="recorded" if sums else "estimated",
            actual_total_cost=sums.pop("actual_total_cost", None),
            usage=sums or None,
            **{name: self.latest.value(name, scope) for name in names},
        )

    def _sums(self, scope: Scope) -> dict[str, Any]:
        """What was spent in a scope; what was summed up once is not added up again."""
        done, sums = self._summed.get(scope, (0, {}))
        for told in itertools.islice(self.costs.entries.values(), done, None):
            if self.facts.belonging.within(told.origin, scope):
                sums = {name: _sum((sums.get(name, 0), amount)) for name, amount in told.value.items()}
        self._summed[scope] = (len(self.costs.entries), sums)
        return dict(sums)

    def forget_sums(self) -> None:
        """Earlier costs found their thread."""
        self._summed.clear()

    def _limit_states(self, scope: Scope) -> list[dict[str, Any]]:
        latest: dict[Any, dict[str, Any]] = {}
        for state in self.limits.values(scope):
            kind = state.get("kind")
            latest[kind if isinstance(kind, str) else None] = state
        return list(latest.values())


def _of_turn(name: str, turn: str | None) -> str:
    return f"{name}\n{turn or ''}"


def _sum(amounts: Any) -> Any:
    """Amounts added one after the other; one that was not told makes the sum unknown."""
    total: Any = 0
    for amount in amounts:
        if not isinstance(amount, int | float) or isinstance(amount, bool):
            return honest("unknown", "an amount was not told")
        total += amount
    return total
