"""Which read models an event changed: those whose view of a record that it touched is another one than before."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from reference_runtime.facts.record import Record
from reference_runtime.facts.unit import Unit
from reference_runtime.projections.models import MODELS, THREAD_MODELS
from reference_runtime.projections.told import Standing, Told, told_anew

View = Callable[[Record], Any]
"""What a model shows of a record."""
Names = tuple[str, ...]
Place = tuple[str, str]
"""A model, and the session or the thread whose model it is."""
Shown = tuple[Names, str | None, str | None]
"""Models, and the session and the thread in which a record shows."""
WATCHERS: dict[str, dict[View, list[str]]] = {}
"""Kind of record to its views, each with the models that show it."""
for _name, _module in MODELS.items():
    for _kind, _view in _module.VIEWS.items():
        WATCHERS.setdefault(_kind, {}).setdefault(_view, []).append(_name)
_BORN = ("status",)
"""What is told anew of a record that becomes known: every view that says what it shows shows the status."""
_STIRRED = ("updated_at",)
"""What is told anew of a thread by every event; every view of a thread says what it shows."""
_ELSEWHERE = frozenset(("thread", "incident"))
"""Kinds of records that may show in the models of other threads than the one they were told in."""


def changed(unit: Unit, moment: str) -> tuple[Shown, ...]:
    """What shows something else since the present event; the tasks that it changed carry its moment."""
    found: list[Shown] = []
    if (thread := unit.stirred) is not None:
        found.append((_showing("thread", _STIRRED)[0], thread.session, thread.id))
    tasks: list[Record | None] = []
    for old, new in unit.before.values():
        kind = new.kind
        if kind not in WATCHERS or not (names := differing(old, new)):
            continue
        if kind in _ELSEWHERE or "threads" in new.data:
            found += [(names, new.session, thread) for thread in _threads(unit, new)]
        else:
            found.append((names, new.session, new.thread))
        if "task_snapshot" in names:
            if kind == "task":
                tasks.append(new)
            else:
                tasks += [unit.get("task", task) for task in (new.scope.get("task_id"), *new.data.get("tasks", ()))]
    # A task changed when it, an attempt, an edge, an artifact or a reference of it changed. That it changed is itself
    # no change: no view shows when.
    for task in tasks:
        if task and task.state != "none":
            unit.edit("task", task.id).data["updated_at"] = moment
    return tuple(found)


def places(names: Names, session: str | None, thread: str | None) -> Iterator[Place]:
    """The models of these names that a session or a thread has."""
    for name in names:
        if scope := thread if name in THREAD_MODELS else session:
            yield name, scope


def differing(old: Record | None, new: Record) -> Names:
    """The models whose view of a record changed; where nothing was told anew that a view shows, it did not."""
    if old is None or old.state == "none":
        if old == new:
            return ()
        told = _BORN if new.state != "none" else None
    else:
        told = told_anew(old, new)
    found, doubtful = _showing(new.kind, told)
    for view, names in doubtful:
        if shown(view, old) != shown(view, new):
            found += names
    return found


@functools.lru_cache(maxsize=4096)
def _showing(kind: str, told: Names | None) -> tuple[Names, list[tuple[View, Names]]]:
    """The models that certainly show it when these fields of a record were told anew, and the views that may.

    The same few fields are told again and again, so what they come to is looked up once.
    """
    certain, doubtful = (), []
    for view, names in WATCHERS[kind].items():
        if told is None or not isinstance(view, Told | Standing):
            doubtful.append((view, (*names,)))
        elif not view.fields.isdisjoint(told):
            if isinstance(view, Told):
                certain += (*names,)
            else:
                doubtful.append((view, (*names,)))
    return certain, doubtful


def shown(view: View, record: Record | None) -> Any:
    """A view, doubt left aside: a mark of doubt is no change (19.4)."""
    if record and "doubted" in record.data:
        record = record.copy()
        del record.data["doubted"]
    return view(record) if record else None


def _threads(unit: Unit, record: Record) -> Sequence[str | None]:
    """Threads whose models a change shows in, where that is not the record's own alone; None is nowhere."""
    if record.kind == "thread":
        return (record.id,)
    if record.kind == "incident" and record.thread is None and record.session:
        return (None, *(thread.id for thread in unit.find("thread", session_id=record.session)))
    return (record.thread, *record.data["threads"]) if "threads" in record.data else (record.thread,)
