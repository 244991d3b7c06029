"""Runs of governance hooks."""

from __future__ import annotations

from typing import Any

from validator.replay.readmodels.agent_runtime.facts import Collector, Fact, Facts
from validator.replay.readmodels.agent_runtime.scope import SESSION, Scope

RUN = "hook"
"""Under this name runs are mentioned; one without an id of its own has no identity that events carry."""


class Hooks(Collector):
    """Hook runs of a session, by the name their state table gives them."""

    listens = {"hook.*": "_ran"}  # noqa: RUF012 - a table of the class, never changed

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.runs: dict[str, dict[str, Any]] = {}
        self._calls: dict[str, dict[str, None]] = {}
        self.calls_of: dict[str, dict[str, None]] = {}

    def _ran(self, fact: Fact) -> None:
        key = self._key(fact)
        if key is None:
            return
        self.facts.mentions.add(RUN, key, fact.index, fact.origin)
        if "tool_call_id" in fact.ids:
            self._calls.setdefault(fact.ids["tool_call_id"], {})[key] = None
            self.calls_of.setdefault(key, {})[fact.ids["tool_call_id"]] = None
        fields = self.facts.records.fields("hook_run")
        told = {name: fact.told(name, "hook_run") for name in fields if name not in {"status", "hook_run_id"}}
        told = {name: self.facts.records.field("hook_run", name, value) for name, value in told.items()}
        if fact.type == "hook.started":
            # A later run of the same name takes the place of the one before it.
            self.runs[key] = {name: told.get(name) for name in ("hook_point", "handler_ref")}
        else:
            begun = ("hook_point", "handler_ref")
            self.runs.setdefault(key, {}).update(
                {name: value for name, value in told.items() if value is not None and name not in begun}
            )

    def _key(self, fact: Fact) -> str | None:
        """The name of the run: that of the subject which the event moved, else the id it carries."""
        moved = next((move.subject for move in fact.step.moves if move.machine == "hook"), None)
        return moved or fact.ids.get("hook_run_id")

    def record(self, key: str) -> dict[str, Any]:
        told = {name: value for name, value in self.runs[key].items() if value is not None}
        return {"hook_run_id": key, "status": self.facts.status("hook", key), **told}

    def _ordered(self, keys: Any, scope: Scope) -> list[str]:
        known = [key for key in keys if key in self.runs and self.facts.state("hook", key)]
        return self.facts.mentions.order(RUN, known, scope)

    def of_call(self, call: str) -> list[str]:
        """Runs whose events carry a call's id, in order."""
        return self._ordered(self._calls.get(call, ()), SESSION)

    def within(self, scope: Scope) -> list[dict[str, Any]]:
        """Runs of a scope, in order."""
        return [self.record(key) for key in self._ordered(self.facts.mentions.ids(RUN, scope), scope)]
