"""`context_boundary_snapshot` (19.11): what the model can see, and what it can no longer see."""

from __future__ import annotations

from typing import Any

from reference_runtime.contract import copied
from reference_runtime.facts.unit import Unit

_UNTOLD = {"honest": "unknown", "reason": "No selection told it."}


def entries_of(unit: Unit, thread: str | None) -> list[dict[str, Any]]:
    """Every compaction of a thread, oldest first; one that a gap leaves in doubt is stale."""
    machine = unit.get("compaction", thread)
    shown = [copied("compaction", one.data) for one in unit.find("compaction_entry", thread_id=thread)]
    if machine and machine.data.get("doubted") and shown:
        shown[-1]["status"] = "stale"
    return shown


VIEWS = {"context": lambda record: {**record.data, "compaction": None}, "compaction_entry": lambda record: record.data}


def build(unit: Unit, session: str, thread: str | None = None) -> dict[str, Any]:
    record = unit.get("context", thread)
    data = record.data if record else {}
    required = {name: data.get(name, _UNTOLD) for name in ("selected_refs", "warnings", "missing_facts")}
    compactions = entries_of(unit, thread)
    told = {name: data.get(name) for name in ("turn_id", "omitted_refs", "tokens")}
    return {**told, **required, "compactions": compactions}
