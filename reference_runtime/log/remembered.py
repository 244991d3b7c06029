"""What a store remembers of its file, so that a subject at work is not read anew for every command.

Records are remembered as they are in the file, by their keys. What was found is remembered until a record that may
belong to it changes. And of a subject that came into being here everything is known that was ever linked to it, so
what is asked about it is answered without the file.
"""

from __future__ import annotations

from collections.abc import Callable

from reference_runtime.facts.record import HOLDING, OWN_LINKS, Record
from reference_runtime.log.base import Key

Asked = tuple[object, ...]
_MOST_LOADED = 4096
_FEW = 16
"""Records up to which what was found is remembered."""
_MANY = 64
"""Records up to which a subject's kin is remembered."""
_UNSOUGHT = Record("", "", 0)
"""Stands for a record that nobody looked for."""
_SUBJECTS = {name: kind for kind, name in OWN_LINKS.items()}


Load = Callable[[Key], Record | None]


class Loaded(dict[Key, Record | None]):
    """Records by their keys, each read from the file when it is first asked for; None for one that there is not."""

    def __init__(self, load: Load):
        super().__init__()
        self._load = load

    def __missing__(self, key: Key) -> Record | None:
        found = self[key] = self._load(key)
        return found


class Remembered:
    """Nobody changes the records that it holds."""

    def __init__(self, load: Load) -> None:
        self.loaded = Loaded(load)
        self._found: dict[str, dict[Asked, list[Record]]] = {}
        self.kin: dict[Key, dict[str, dict[Key, None]]] = {}
        """By name and value of an identity, the keys of everything that was told with it, by its kind."""

    @property
    def is_full(self) -> bool:
        return len(self.loaded) > _MOST_LOADED

    def clear(self) -> None:
        self.loaded.clear()
        self._found.clear()
        self.kin.clear()

    def find(self, kind: str, where: dict[str, str], is_open: bool | None) -> list[Record] | None:
        """The records of a kind that were told with all the ids named, in order; None when the file has to tell."""
        for link in where.items():
            if (kin := self.kin.get(link)) is not None:
                if kind not in kin:
                    return []
                found = [record for record in map(self.loaded.__getitem__, kin[kind]) if record.fits(where, is_open)]
                return sorted(found, key=_place) if len(found) > 1 else found
            if self._is_absent(*link):
                return []
        known = self._found.get(kind)
        return known.get((is_open, *where.items())) if known else None

    def _is_absent(self, name: str, value: str) -> bool:
        """True for the identity of a subject that was looked for in vain."""
        return name in _SUBJECTS and self.loaded.get((_SUBJECTS[name], value), True) is None

    def note(self, kind: str, where: dict[str, str], is_open: bool | None, found: list[Record]) -> None:
        """Remembers what the file told."""
        known = self._found.setdefault(kind, {})
        if len(found) <= _FEW and len(known) < _MOST_LOADED:
            known[(is_open, *where.items())] = found

    def keep(self, records: list[Record]) -> None:
        """Takes in records that are in the file from now on."""
        loaded, found = self.loaded, self._found
        linked = []
        for record in records:
            kind = record.kind
            key = kind, record.id
            known = loaded.get(key, _UNSOUGHT)
            if known is None or known.scope is not record.scope:
                linked.append(record)
                # A subject that was looked for in vain is new, and one that nobody looked for may not be.
                if known is None and kind in OWN_LINKS:
                    self.kin[OWN_LINKS[kind], record.id] = {}
            loaded[key] = record
            if kind in found:
                del found[kind]
            if HOLDING.isdisjoint(map(type, record.data.values())):
                record.deep = ()  # as it is with most, so that none of them is called for it
            else:
                record.settle()
        for record in linked:
            self._relate(record)

    def _relate(self, record: Record) -> None:
        """Makes a record known to everything that it was told with."""
        relatives = self.kin.get
        for link in record.scope.items():
            if (kin := relatives(link)) is None:
                continue
            alike = kin.setdefault(record.kind, {})
            if record.key not in alike:
                alike[record.key] = None
                if sum(map(len, kin.values())) > _MANY:
                    del self.kin[link]


def _place(record: Record) -> int:
    return record.ordinal
