"""Views that say which fields of a record they show."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from reference_runtime.contract import CORE
from reference_runtime.facts.record import Record


class Told:
    """A view that cannot change unless one of its fields does, once the record is known; the state is `status`.

    It is exact when it changes whenever one of them does, because it shows them as they were told.
    """

    def __init__(
        self,
        view: Callable[[Record], Any],
        *names: str,
        record: str = "",
        but: tuple[str, ...] = (),
        exact: bool = True,
    ):
        """The fields are named, or those that a record of the contract declares, but for some."""
        self._view, self._names, self._record, self._but, self.exact = view, names, record, but, exact

    def __call__(self, record: Record) -> Any:
        return self._view(record)

    @functools.cached_property
    def fields(self) -> frozenset[str]:
        declared = CORE.declared(self._record) if self._record else ()
        return frozenset((*self._names, *declared)).difference(self._but)


def told_anew(old: Record, new: Record) -> list[str]:
    """The fields in which two states of a record differ; null says nothing."""
    before, after = old.data, new.data
    names = [name for name, value in after.items() if before.get(name) != value]
    if not before.keys() <= after.keys():
        names += [name for name in before.keys() - after.keys() if before[name] is not None]
    if old.state != new.state:
        names.append("status")
    return names
