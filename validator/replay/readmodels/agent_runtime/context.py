"""What the model can see: selections, compactions, and the boundaries of history."""

from __future__ import annotations

from typing import Any

from validator.replay.readmodels.agent_runtime.facts import Collector, Fact, Facts
from validator.replay.readmodels.agent_runtime.records import as_record, honest, present
from validator.replay.readmodels.agent_runtime.scope import Scope

LISTS = {"selected": "selected_refs", "omitted": "omitted_refs", "missing": "missing_facts", "warnings": "warnings"}
ENTRIES = {"selected": "context_ref", "omitted": "context_ref", "missing": "missing_fact"}
REQUIRED = ("selected_refs", "warnings", "missing_facts")
BOUNDARIES = {
    "context.compaction.completed": ("compaction", "summary_ref", "replacement_history_ref"),
    "history.rollback.completed": ("rollback", "surviving_context_ref"),
    "history.window.loaded": ("window",),
    "history.reconstructed": ("reconstruction",),
}
"""Events that draw a boundary: its kind, and where its reference comes from."""
BOUNDARY_FIELDS = {
    "compaction": ("summary_preview",),
    "rollback": ("removed_turn_ids",),
    "window": ("first_sequence", "cursor"),
    "reconstruction": ("degraded",),
}


class Context(Collector):
    """Selections and compactions of a session, by thread."""

    listens = {  # noqa: RUF012 - a table of the class, never changed
        "context.resolved": "_resolved",
        "context.compaction.*": "_compacted",
    }

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.latest = facts.latest()
        self.compactions: dict[str, list[dict[str, Any]]] = {}

    def _resolved(self, fact: Fact) -> None:
        said = {"turn_id": fact.line.get("turn_id"), "tokens": fact.payload.get("tokens")}
        for told, name in LISTS.items():
            value = fact.payload.get(told)
            shaped = told in ENTRIES and isinstance(value, list)
            said[name] = [self.facts.records.copy(ENTRIES[told], entry) for entry in value] if shaped else value
        self.latest.tell("selection", fact.index, fact.origin, present(**said))

    def _compacted(self, fact: Fact) -> None:
        thread = fact.ids.get("thread_id", "")
        entries = self.compactions.setdefault(thread, [])
        move = next((move for move in fact.step.moves if move.machine == "compaction"), None)
        if move is None:
            return
        if fact.type.endswith("started") or not entries:  # what began it may have been told in another session
            entries.append({"thread_id": thread})
        fields = [name for name in self.facts.records.fields("compaction") if name not in {"thread_id", "status"}]
        told = present(**{name: fact.payload.get(name) for name in fields})
        entries[-1].update(self.facts.records.copy("compaction", told), status=move.target)
        if fact.type.endswith("completed") and (tokens := fact.payload.get("tokens_after")) is not None:
            self.latest.tell("tokens_after", fact.index, fact.origin, tokens)

    def entries(self, thread: str) -> list[dict[str, Any]]:
        """Compactions of a thread, oldest first; doubt can only be about the last."""
        entries = self.compactions.get(thread, [])
        return [*entries[:-1], {**entries[-1], "status": self.facts.status("compaction", thread)}] if entries else []

    def gaps(self, scope: Scope) -> list[Any] | None:
        """Names of what the latest selection lacks."""
        missing = as_record(self.latest.value("selection", scope)).get("missing_facts")
        return [as_record(entry).get("name") for entry in missing] if isinstance(missing, list) else None

    def build(self, scope: Scope) -> dict[str, Any] | None:
        """The `context_boundary_snapshot`."""
        selection = self.latest.get("selection", scope)
        compactions = self.entries(scope.thread or "")
        if scope.thread is None or (selection is None and not compactions):
            return None
        said = dict(selection.value) if selection else {}
        after = self.latest.get("tokens_after", scope)
        if after and (said.get("tokens") is None or after.index > selection.index):
            said["tokens"] = after.value
        for name in REQUIRED:
            said.setdefault(name, honest("unknown"))
        return {**said, "compactions": compactions}


class History(Collector):
    """Points before which history was replaced or removed, and the window that is loaded."""

    listens = {  # noqa: RUF012 - a table of the class, never changed
        **dict.fromkeys(BOUNDARIES, "_boundary"),
        "session.created": "_created",
    }

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.boundaries: list[dict[str, Any]] = []
        self.window: dict[str, Any] = {}
        self.created = False

    def _created(self, fact: Fact) -> None:
        self.created = True

    def _boundary(self, fact: Fact) -> None:
        kind, *references = BOUNDARIES[fact.type]
        refs = (fact.payload.get(name) for name in references)
        said = present(
            kind=kind,
            boundary_ref=next((ref for ref in refs if ref is not None), None),
            **{name: fact.payload.get(name) for name in BOUNDARY_FIELDS[kind]},
        )
        self.boundaries.append(self.facts.records.copy("history_boundary", said))
        if kind == "window":
            said = {"history_cursor": fact.payload.get("cursor"), "history_truncated": fact.payload.get("has_more")}
            self.window |= {"loaded": True, **present(**said)}

    def shown(self) -> dict[str, Any]:
        """The part of a session's model that is about its window."""
        truncated = False if self.created and not self.window else None
        window = {name: value for name, value in self.window.items() if name != "loaded"}
        return {**present(history_truncated=truncated), **window, "history_boundaries": list(self.boundaries)}
