"""`tool_inventory_snapshot` (19.8): the latest catalogue in scope, whole."""

from __future__ import annotations

from typing import Any

from reference_runtime.facts.record import Record
from reference_runtime.facts.unit import Unit


def _catalog(record: Record) -> Any:
    return record.data if record.id.startswith("session|") and record.id.endswith("|") else None


VIEWS = {"catalog": _catalog}


def build(
    unit: Unit, session: str, thread: str | None = None, turn: str | None = None, caller: str = ""
) -> dict[str, Any]:
    scope = f"turn|{turn}" if turn else f"thread|{thread}" if thread else f"session|{session}"
    record = unit.get("catalog", f"{scope}|{caller}")
    data = dict(record.data) if record else {}
    data.setdefault("tools", {"honest": "unavailable", "reason": "Only a reference to the inventory was told."})
    return data
