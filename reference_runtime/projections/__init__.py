"""The thirteen read models, as this runtime reads chapter 19.

A model is a module with `VIEWS`, which says per kind of record what the model shows of it, and `build`, which puts
the document together. An event changes a model exactly when it changes one of these views, so `touch` finds the
models that an event changed by looking at the records it touched and at nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from reference_runtime.contract import CORE
from reference_runtime.facts.order import freshness
from reference_runtime.facts.record import Record
from reference_runtime.facts.scope import thread_of
from reference_runtime.facts.unit import Unit
from reference_runtime.projections import (
    artifact_checkpoint_summary,
    channel_summary,
    context_boundary_snapshot,
    evidence_summary,
    execution_environment_snapshot,
    permission_sandbox_summary,
    queue_snapshot,
    routing_limit_summary,
    session_snapshot,
    subagent_job_summary,
    task_snapshot,
    thread_read_model,
    tool_inventory_snapshot,
)
from reference_runtime.projections.births import born
from reference_runtime.projections.told import Told, told_anew

View = Callable[[Record], Any]
"""What a model shows of a record."""
MODELS: dict[str, ModuleType] = {
    "session_snapshot": session_snapshot,
    "thread_read_model": thread_read_model,
    "tool_inventory_snapshot": tool_inventory_snapshot,
    "queue_snapshot": queue_snapshot,
    "task_snapshot": task_snapshot,
    "context_boundary_snapshot": context_boundary_snapshot,
    "artifact_checkpoint_summary": artifact_checkpoint_summary,
    "evidence_summary": evidence_summary,
    "permission_sandbox_summary": permission_sandbox_summary,
    "execution_environment_snapshot": execution_environment_snapshot,
    "routing_limit_summary": routing_limit_summary,
    "subagent_job_summary": subagent_job_summary,
    "channel_summary": channel_summary,
}
THREAD_MODELS = {"thread_read_model", "queue_snapshot", "context_boundary_snapshot"}
PER_THREAD = THREAD_MODELS | {"tool_inventory_snapshot", "task_snapshot", "subagent_job_summary"}
PER_THREAD |= {"execution_environment_snapshot"}
_WATCHERS: dict[str, dict[View, list[str]]] = {}
"""Kind of record to its views, each with the models that show it."""
for _name, _module in MODELS.items():
    for _kind, _view in _module.VIEWS.items():
        _WATCHERS.setdefault(_kind, {}).setdefault(_view, []).append(_name)


def touch(unit: Unit, event: dict[str, Any]) -> None:
    """Notes when each read model last changed, and which of them exist since this event."""
    changes = _changes(unit)
    _touch_tasks(unit, event, changes)
    changed = _places(unit, changes)
    session = event.get("session_id")
    births = born(event, session, thread_of(unit, event))
    shown = unit.shown
    for place in sorted(changed | births):
        record = shown[place] if place in shown else _model(unit, place, place in births)
        if record is None:
            continue
        record.session = session
        if place[0] == "queue_snapshot":
            _touch_queue(unit, event, record)
        elif place in changed or "updated_at" not in record.data:
            record.data["updated_at"] = event["timestamp"]


def _model(unit: Unit, place: tuple[str, str], is_born: bool) -> Record | None:
    """The record of a read model, to change; None for one that no event has fed."""
    name, scope = place
    key = f"{name}|{scope}"
    if not is_born and unit.get("model", key) is None:
        return None
    record = unit.shown[place] = unit.edit("model", key)
    record.thread = scope if name in THREAD_MODELS else None
    return record


def _changes(unit: Unit) -> list[tuple[Record, list[str]]]:
    """The records that the event changed, each with the models that show the change."""
    found = []
    for key, old in unit.before.items():
        if key[0] in _WATCHERS and (names := _differing(_WATCHERS[key[0]], old, new := unit.get(*key))):
            found.append((new, names))
    return found


def _differing(views: dict[View, list[str]], old: Record | None, new: Record) -> list[str]:
    """The models whose view of a record changed; where nothing was told anew that a view shows, it did not."""
    if old is None or old.state == "none":
        if old == new:
            return []
        told = _BORN if new.state != "none" else None
    else:
        told = told_anew(old, new)
    found: list[str] = []
    for view, names in views.items():
        if told is None or type(view) is not Told:
            differs = _shown(view, old) != _shown(view, new)
        else:
            differs = not view.fields.isdisjoint(told) and (view.exact or _shown(view, old) != _shown(view, new))
        if differs:
            found += names
    return found


_BORN = ("status",)
"""What is told anew of a record that becomes known: every view that says what it shows shows the status."""


def _places(unit: Unit, changes: list[tuple[Record, list[str]]]) -> set[tuple[str, str]]:
    """Each model that shows a change, with the session or the thread whose model it is."""
    found: set[tuple[str, str]] = set()
    for new, names in changes:
        session = new.session
        for name in names:
            if name in THREAD_MODELS:
                found.update([(name, thread) for thread in _threads(unit, new) if thread])
            elif session:
                found.add((name, session))
    return found


def _touch_queue(unit: Unit, event: dict[str, Any], record: Record) -> None:
    """A queue is short, and what it shows depends on its thread as well: the documents themselves are compared."""
    shown = queue_snapshot.build(unit, record.session or "", record.thread)
    if record.data.get("shown") != shown:
        record.data |= {"shown": shown, "updated_at": event["timestamp"]}


def _touch_tasks(unit: Unit, event: dict[str, Any], changes: list[tuple[Record, list[str]]]) -> None:
    """A task record changed when it, an attempt, an edge, an artifact or a reference of it changed.

    That it changed is itself no change: no view shows when.
    """
    for new, names in changes:
        if "task_snapshot" in names:
            owners = (new.id,) if new.kind == "task" else (new.scope.get("task_id"), *new.data.get("tasks", ()))
            for owner in owners:
                if owner and unit.state("task", owner) != "none":
                    unit.edit("task", owner).data["updated_at"] = event["timestamp"]


def _shown(view: View, record: Record | None) -> Any:
    """A view, doubt left aside: a mark of doubt is no change (19.4)."""
    if record and "doubted" in record.data:
        record = record.copy()
        del record.data["doubted"]
    return view(record) if record else None


def _threads(unit: Unit, record: Record) -> list[str | None]:
    """Threads whose models a change shows in; None is nowhere."""
    if record.kind == "incident" and record.thread is None and record.session:
        return [thread.id for thread in unit.find("thread", session_id=record.session)]
    return [record.id] if record.kind == "thread" else [record.thread, *record.data.get("threads", ())]


def exists(unit: Unit, model: str, scope: str) -> bool:
    """True once an event fed the model."""
    return unit.get("model", f"{model}|{scope}") is not None


def snapshot(unit: Unit, model: str, session: str, thread: str | None = None, **asked: Any) -> dict[str, Any]:
    """One read model as it is now."""
    if thread and model not in PER_THREAD:
        raise ValueError(f"{model} is served for a whole session")
    scope = thread if model in THREAD_MODELS else session
    stream = unit.get("stream", session)
    known = unit.get("model", f"{model}|{scope}")
    document: dict[str, Any] = {"schema_version": CORE.version, "session_id": session}
    uncounted = {"honest": "unavailable", "reason": "The stream does not count."}
    document["as_of_sequence"] = stream.data.get("sequence", uncounted) if stream else uncounted
    limited = asked or (thread and model not in THREAD_MODELS)
    if known and not limited:
        document["updated_at"] = known.data["updated_at"]
    document |= freshness(unit, session)
    if thread:
        document["thread_id"] = thread
    body = MODELS[model].build(unit, session, thread, **asked)
    return document | {name: value for name, value in body.items() if value is not None}


def all_snapshots(unit: Unit, session: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every read model of a session that exists."""
    for model in MODELS:
        scopes = [r.id for r in unit.find("thread", session_id=session)] if model in THREAD_MODELS else [None]
        for thread in scopes:
            if exists(unit, model, thread or session):
                yield model, snapshot(unit, model, session, thread)
