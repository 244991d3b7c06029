"""Points before which history was replaced, removed, loaded or rebuilt."""

from __future__ import annotations

from reference_runtime.facts.tables import Move
from reference_runtime.facts.told import Event, ids, told
from reference_runtime.facts.unit import Unit

_KINDS = {
    "context.compaction.completed": "compaction",
    "history.rollback.completed": "rollback",
    "history.window.loaded": "window",
    "history.reconstructed": "reconstruction",
}
_FIELDS = {
    "compaction": ("summary_preview",),
    "rollback": ("removed_turn_ids",),
    "window": ("first_sequence", "cursor"),
    "reconstruction": ("degraded",),
}


def boundary(unit: Unit, event: Event, moves: list[Move]) -> None:
    kind, said = _KINDS.get(event["type"]), told(event)
    if kind is None:
        return
    record = unit.edit("boundary", event["event_id"])
    record.session, record.thread = event.get("session_id"), unit.thread
    record.data = {"kind": kind, **{name: said[name] for name in _FIELDS[kind] if name in said}}
    reference = {
        "compaction": said.get("summary_ref", said.get("replacement_history_ref")),
        "rollback": said.get("surviving_context_ref"),
    }.get(kind)
    if reference is not None:
        record.data["boundary_ref"] = reference


def window(unit: Unit, event: Event, moves: list[Move]) -> None:
    """What was loaded last is what is in view."""
    if event["type"] == "history.window.loaded":
        said, session = told(event), unit.edit("session", event["session_id"])
        before = session.data.get("window", {})
        last = {name: said.get(name, before.get(name)) for name in ("cursor", "has_more")}
        session.data["window"] = {**last, "first_sequence": said.get("first_sequence")}


def rollback(unit: Unit, event: Event, moves: list[Move]) -> None:
    """The turns that a completed rollback names leave the view, and no others."""
    if event["type"] == "history.rollback.completed":
        for turn in ids(told(event).get("removed_turn_ids")):
            unit.edit("turn", turn).data["removed"] = True
            for kind in ("step", "tool_call", "process"):
                for record in unit.find(kind, turn_id=turn):
                    unit.edit(kind, record.id).data["removed"] = True
