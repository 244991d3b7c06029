"""Views that say which fields of a record they show."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from reference_runtime.contract import CORE
from reference_runtime.facts.record import Record


class Told:
    """A view that changes exactly when one of its fields does, once the record is known; the state is `status`."""

    def __init__(
        self,
        view: Callable[[Record], Any],
        *names: str,
        record: str = "",
        but: tuple[str, ...] = (),
    ):
        """The fields are named, or those that a record of the contract declares, but for some."""
        self._view, self._names, self._record, self._but = view, names, record, but

    def __call__(self, record: Record) -> Any:
        return self._view(record)

    @functools.cached_property
    def fields(self) -> frozenset[str]:
        declared = CORE.declared(self._record) if self._record else ()
        return frozenset((*self._names, *declared)).difference(self._but)


class Standing:
    """A view of nothing but the state of a record."""

    fields = frozenset(("status",))

    def __init__(self, shown: Callable[[str], Any]):
        self.shown = functools.cache(shown)

    def __call__(self, record: Record) -> Any:
        return self.shown(record.state)


def told_anew(old: Record, new: Record) -> tuple[str, ...]:
    """The fields in which two states of a record differ; null says nothing."""
    before, after, names = old.data, new.data, []
    get = before.get
    for name, value in after.items():
        if get(name) != value:
            names.append(name)
    if len(before) > len(after) or not before.keys() <= after.keys():
        names += [name for name in before.keys() - after.keys() if before[name] is not None]
    if old.state != new.state:
        names.append("status")
    return tuple(names)
