"""What a model gets to see: selections and compactions."""

from __future__ import annotations

from reference_runtime.facts.tables import Move
from reference_runtime.facts.told import Event, keep, told
from reference_runtime.facts.unit import Unit

_LISTS = {"selected_refs": "selected", "omitted_refs": "omitted", "missing_facts": "missing", "warnings": "warnings"}


def resolved(unit: Unit, event: Event, moves: list[Move]) -> None:
    """A new selection replaces the old one whole."""
    thread, said = unit.thread, told(event)
    if thread is None:
        return
    record = unit.edit("context", thread)
    record.session, record.thread = event.get("session_id"), thread
    tokens = record.data.get("tokens")
    record.data = {name: said[old] for name, old in _LISTS.items() if old in said}
    record.data["resolved"] = True
    if tokens is not None:
        record.data["tokens"] = tokens
    keep(record, event, "turn_id")
    keep(record, said, "tokens")


def compaction(unit: Unit, event: Event, moves: list[Move]) -> None:
    """One entry per compaction, from its start to its end."""
    thread, said = event["thread_id"], told(event)
    record = unit.edit("context", thread)
    record.session, record.thread = event.get("session_id"), thread
    if event["type"] == "context.compaction.started":
        record.data["compaction"] = record.data.get("compaction", 0) + 1
    entry = unit.edit("compaction_entry", f"{thread}|{record.data.get('compaction', 0)}")
    entry.session, entry.thread = event.get("session_id"), thread
    names = ("trigger", "summary_ref", "summary_preview", "tokens_before", "tokens_after", "preserved_action_ids")
    keep(entry, said, *names, "preserved_incident_ids", "preserved_evidence_refs")
    entry.data |= {"thread_id": thread, "status": event["type"].rpartition(".")[2].replace("started", "running")}
    if event["type"] == "context.compaction.completed":
        keep(record, said, tokens="tokens_after")
