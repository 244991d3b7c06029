"""`execution_environment_snapshot` (19.15): where work is executed."""

from __future__ import annotations

from typing import Any

from reference_runtime.facts.record import Record
from reference_runtime.facts.unit import Unit
from reference_runtime.projections import entries


def _environment(record: Record) -> Any:
    return record.data if record.id.startswith("session|") else None


VIEWS = {
    "environment": _environment,
    "session": lambda record: record.data.get("workspace_id"),
    "process": entries.active_process,
}


def build(unit: Unit, session: str, thread: str | None = None, turn: str | None = None) -> dict[str, Any]:
    scope = f"turn|{turn}" if turn else f"thread|{thread}" if thread else f"session|{session}"
    record, owner = unit.get("environment", scope), unit.get("session", session)
    data = record.data if record else {}
    told, sandbox = data.get("environment", {}), data.get("sandbox", {})
    where = {"session_id": session} | ({"thread_id": thread} if thread else {}) | ({"turn_id": turn} if turn else {})
    return {
        "turn_id": turn,
        "workspace_id": told.get("workspace_id", owner.data.get("workspace_id") if owner else None),
        "cwd": data.get("cwd"),
        "workspace_roots": told.get("workspace_roots", _roots(sandbox)),
        **{name: told.get(name) for name in ("shell", "os", "arch", "override_reason")},
        "env_ref": told.get("env_ref", sandbox.get("environment_ref")),
        "sandbox_profile": sandbox or told.get("sandbox_profile"),
        "network_profile": told.get("network_profile", sandbox.get("network")),
        "process_limits": told.get("process_limits", sandbox.get("process_limits")),
        "active_processes": [shown for one in unit.find("process", **where) if (shown := entries.active_process(one))],
    }


def _roots(sandbox: dict[str, Any]) -> Any:
    lists = [sandbox[name] for name in ("write_roots", "read_roots") if isinstance(sandbox.get(name), list)]
    return list(dict.fromkeys(root for roots in lists for root in roots)) if lists else None
