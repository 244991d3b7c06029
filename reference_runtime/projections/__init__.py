"""The thirteen read models, as this runtime reads chapter 19.

A model is a module with `VIEWS`, which says per kind of record what the model shows of it, and `build`, which puts
the document together. An event changes a model exactly when it changes one of these views, so `touch` finds the
models that an event changed by looking at the records it touched and at nothing else.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from reference_runtime.contract import CORE
from reference_runtime.facts.order import freshness
from reference_runtime.facts.record import Record
from reference_runtime.facts.unit import Unit
from reference_runtime.projections import queue_snapshot
from reference_runtime.projections.births import born, by_fields
from reference_runtime.projections.changes import Shown, changed, places
from reference_runtime.projections.models import MODELS, PER_THREAD, THREAD_MODELS

__all__ = ["MODELS", "PER_THREAD", "THREAD_MODELS", "all_snapshots", "exists", "snapshot", "touch"]


def touch(unit: Unit, event: dict[str, Any]) -> None:
    """Notes when each read model last changed, and which of them exist since this event."""
    session, moment, shown = event.get("session_id"), event["timestamp"], unit.shown
    anew = changed(unit, moment)
    for key, thread, is_born, is_changed in _touched(event["type"], by_fields(event), session, unit.thread, anew):
        record = shown.get(key)
        if record is None:
            if not is_born and unit.get("model", key) is None:
                continue  # no event has fed it
            record = shown[key] = unit.edit("model", key)
            record.thread = thread
        record.session = session
        if key.startswith("queue_snapshot|"):
            _touch_queue(unit, event, record)
        elif is_changed or "updated_at" not in record.data:
            record.data["updated_at"] = moment


@functools.lru_cache(maxsize=4096)
def _touched(
    kind: str, fields: tuple[str, ...], session: str | None, thread: str | None, anew: tuple[Shown, ...]
) -> tuple[tuple[str, str | None, bool, bool], ...]:
    """The models to touch, each with its thread, whether it is born and whether it changed.

    The same few events change the same few views again and again.
    """
    births, changes = born(kind, fields, session, thread), {place for one in anew for place in places(*one)}
    return tuple(
        (f"{name}|{scope}", scope if name in THREAD_MODELS else None, (name, scope) in births, (name, scope) in changes)
        for name, scope in sorted(births | changes)
    )


def _touch_queue(unit: Unit, event: dict[str, Any], record: Record) -> None:
    """A queue is short, and what it shows depends on its thread as well: the documents themselves are compared."""
    shown = queue_snapshot.build(unit, record.session or "", record.thread)
    if record.data.get("shown") != shown:
        record.data |= {"shown": shown, "updated_at": event["timestamp"]}


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
