"""Deliverables by reference."""

from __future__ import annotations

import functools
from typing import Any

from validator.replay.readmodels.agent_runtime.facts import Collector, Fact, Facts
from validator.replay.readmodels.agent_runtime.records import Later, as_list, honest, texts
from validator.replay.readmodels.agent_runtime.scope import NOWHERE, SESSION, Scope, Scopes

NAMED = "artifact"
"""Under this name the events are noted that tell of an artifact, and not merely carry its id."""


class Artifacts(Collector):
    """Artifacts of a session, in the version last told."""

    listens = {"artifact.changed": "_changed", "task.completed": "_named"}  # noqa: RUF012 - a table of the class

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.told: dict[str, dict[str, Any]] = {}
        self.deleted: set[str] = set()
        self._of_task: dict[str, dict[str, None]] = {}

    def _changed(self, fact: Fact) -> None:
        key = fact.ids["artifact_id"]
        self.facts.mentions.add(NAMED, key, fact.index, fact.origin)
        fields = self.facts.records.fields("artifact")
        told = {name: value for name in fields if (value := fact.payload.get(name)) is not None}
        entry = self.told.setdefault(key, {})
        entry.update(self.facts.records.copy("artifact", told), artifact_id=key, updated_at=fact.time)
        if fact.payload.get("change") == "deleted":
            self.deleted.add(key)
        else:
            self.deleted.discard(key)
        if "task_id" in fact.ids:
            self._of_task.setdefault(fact.ids["task_id"], {})[key] = None

    def _named(self, fact: Fact) -> None:
        for key in as_list(fact.payload.get("artifact_ids")):
            if isinstance(key, str):
                self._of_task.setdefault(fact.ids["task_id"], {})[key] = None

    def tasks_of(self, artifact: str) -> list[str]:
        """Tasks whose entries hold an artifact."""
        return [task for task, keys in self._of_task.items() if artifact in keys]

    def of_task(self, task: str) -> list[dict[str, Any]]:
        """Artifacts of a task that some event told, deleted ones included, in order."""
        keys = [key for key in self._of_task.get(task, ()) if key in self.told]
        return [dict(self.told[key]) for key in self.facts.mentions.order("artifact_id", keys, SESSION)]

    def ids(self, scope: Scope) -> list[str]:
        """Artifacts that were told and are not deleted, in order."""
        keys = [key for key in self.facts.mentions.ids(NAMED, scope) if key not in self.deleted]
        return self.facts.mentions.order("artifact_id", keys, scope)

    def scopes(self, key: str) -> Scopes:
        """The session and threads that list an artifact."""
        return NOWHERE if key in self.deleted else self.facts.mentions.scopes(NAMED, key)

    def build(self, scope: Scope) -> dict[str, Any] | None:
        """The `artifact_checkpoint_summary`."""
        if not self.facts.mentions.ids(NAMED, scope):
            return None
        entries = functools.cache(lambda: [dict(self.told[key]) for key in self.ids(scope)])
        return {
            "artifacts": Later(entries),
            "validation_issue_count": Later(lambda: _issues(entries())),
            "diff_refs": Later(lambda: texts(entries(), "diff_ref")),
        }


def _issues(entries: list[dict[str, Any]]) -> Any:
    counts = [entry.get("validation_issue_count") for entry in entries]
    known = all(isinstance(count, int) for count in counts)
    return sum(counts) if known else honest("unknown", "a count was not told")
