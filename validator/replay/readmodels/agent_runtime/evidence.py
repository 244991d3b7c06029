"""What can be shown about the work."""

from __future__ import annotations

import functools
from typing import Any

from validator.replay.readmodels.agent_runtime.facts import Collector, Fact, Facts
from validator.replay.readmodels.agent_runtime.records import Later, as_list, distinct, texts
from validator.replay.readmodels.agent_runtime.scope import SESSION, Scope

REFS = ("pack_ref", "trace_ref", "replay_ref", "review_ref")
NAMED = "evidence"
"""Under this name the events are noted that tell of evidence, and not merely carry its id."""


class Evidence(Collector):
    """Evidence of a session."""

    listens = {"evidence.changed": "_changed"}  # noqa: RUF012 - a table of the class, never changed

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.told: dict[str, dict[str, Any]] = {}
        self.gaps: dict[str, list[Any]] = {}
        self.refs, self.notes = facts.log(), facts.log()
        self.given: dict[str, list[int]] = {}
        """The events that gave each reference."""
        self._of_task: dict[str, dict[str, None]] = {}

    def _changed(self, fact: Fact) -> None:
        key = fact.ids["evidence_id"]
        self.facts.mentions.add(NAMED, key, fact.index, fact.origin)
        fields = self.facts.records.fields("evidence")
        told = {name: value for name in fields if (value := fact.payload.get(name)) is not None}
        entry = self.told.setdefault(key, {})
        entry.update(self.facts.records.copy("evidence", told), evidence_id=key)
        refs = [ref for name in REFS if isinstance(ref := fact.payload.get(name), str)]
        self.refs.add(fact.index, fact.origin, refs)
        for ref in refs:
            self.given.setdefault(ref, []).append(fact.index)
            self._of_task.setdefault(fact.ids.get("task_id", ""), {})[ref] = None
        self.notes.add(fact.index, fact.origin, as_list(fact.payload.get("audit_notes")))
        gaps = fact.payload.get("known_gaps")
        if gaps is not None:
            self.gaps[key] = [self.facts.records.copy("known_gap", gap) for gap in as_list(gaps)]

    def of_task(self, task: str) -> list[str]:
        """References that events with a task's id gave."""
        return list(self._of_task.get(task, ()))

    def references(self, scope: Scope) -> list[str]:
        """References that events in scope gave."""
        return distinct(ref for refs in self.refs.values(scope) for ref in refs)

    def build(self, scope: Scope) -> dict[str, Any] | None:
        """The `evidence_summary`."""
        mentions = self.facts.mentions
        traces, keys = mentions.ids("trace_id", scope), mentions.ids(NAMED, scope)
        if not traces and not keys:
            return None
        entries = functools.cache(lambda: [self.told[key] for key in mentions.order("evidence_id", keys, scope)])
        gaps = self.gaps
        return {
            "trace_ids": traces,
            "evidence": Later(lambda: [dict(entry) for entry in entries()]),
            "verification_outcomes": Later(
                lambda: [one for entry in entries() for one in as_list(entry.get("verification_outcomes"))]
            ),
            "replay_refs": Later(lambda: texts(entries(), "replay_ref")),
            "review_refs": Later(lambda: texts(entries(), "review_ref")),
            "audit_notes": Later(lambda: [note for notes in self.notes.values(scope) for note in notes]),
            "known_gaps": Later(lambda: [gap for entry in entries() for gap in gaps.get(entry["evidence_id"], ())]),
        }


class Outputs(Collector):
    """Stored outputs of a session."""

    STATUS = {  # noqa: RUF012 - a table of the class, never changed
        "output.spilled": "stored",
        "output.truncated": "truncated",
        "output.redacted": "redacted",
        "output.expired": "expired",
    }
    listens = dict.fromkeys(STATUS, "_changed")

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.told: dict[str, dict[str, Any]] = {}

    def _changed(self, fact: Fact) -> None:
        ref = self.facts.protocol.lens.get(fact.line, "output_ref") or fact.side("output").get("output_ref")
        if not isinstance(ref, str):
            return
        entry = self.told.setdefault(ref, {"output_ref": ref})
        fields = [name for name in self.facts.records.fields("output") if name not in {"output_ref", "status"}]
        told = {name: value for name in fields if (value := fact.told(name, "output")) is not None}
        entry.update(self.facts.records.copy("output", told))
        if entry.get("status") != "expired":
            entry["status"] = self.STATUS[fact.type]

    def entries(self) -> list[dict[str, Any]]:
        return [dict(self.told[ref]) for ref in self.facts.mentions.order("output_ref", self.told, SESSION)]
