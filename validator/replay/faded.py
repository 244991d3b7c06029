"""What is left of subjects that are over and that nothing has spoken of for long.

Of each only its state and the line that led there stay, in a flat table: at most 28 bytes. A later event about it is
thus judged by the state table as ever, and its finding names the line that closed it. The identities it was seen with
and the other lines of its history are gone, so rules that look for what is missing leave it alone (`World.unproved`).
"""

from __future__ import annotations

from collections.abc import Iterable

from validator.replay.seen import Noted, short
from validator.replay.subject import Subject

_ASKED = 1 << 14
_get, _has = dict.get, dict.__contains__


class Faded:
    """Machine and id to state and line."""

    def __init__(self) -> None:
        self._table = Noted()
        self._numbers: dict[str, int] = {}
        self._states: list[str] = []
        self.any = False
        """Something has faded."""
        self._absent: set[tuple[str, str]] = set()
        """Names asked for in vain since something faded last: events ask for the same ids again and again."""

    def keep(self, subject: Subject) -> None:
        """Keeps the little that stays of a subject."""
        self.any = True
        self._absent.clear()
        number = self._numbers.setdefault(subject.state, len(self._numbers))
        if number == len(self._states):
            self._states.append(subject.state)
        line = subject.history[-1] if subject.history else 0
        self._table.note(_name(subject.machine, subject.key), number, line)

    def recall(self, machine: str, key: str) -> Subject | None:
        """A subject with the little that is known of it."""
        name = (machine, key)
        if name in self._absent:
            return None
        found = self._table.get(_name(machine, key))
        if found is None:
            if len(self._absent) < _ASKED:
                self._absent.add(name)
            return None
        return Subject(machine, key, self._states[found[0]], "", history=[found[1]], faded=True)


def _name(machine: str, key: str) -> int:
    return short(f"{machine}\n{key}")


class Subjects(dict[str, Subject]):
    """The subjects of one machine by id. Iteration shows those that are kept whole; asking by id finds the others."""

    __slots__ = ("_faded", "_machine")

    def __init__(self, machine: str, faded: Faded):
        super().__init__()
        self._machine, self._faded = machine, faded

    def get(self, key: str, default: Subject | None = None) -> Subject | None:  # type: ignore[override]
        found = _get(self, key)
        if found is None and self._faded.any:
            found = self._faded.recall(self._machine, key)
        return default if found is None else found

    def __missing__(self, key: str) -> Subject:
        found = self._faded.recall(self._machine, key) if self._faded.any else None
        if found is None:
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        return _has(self, key) or (isinstance(key, str) and self.get(key) is not None)


class Lines(dict[str, int]):
    """Ids to lines, or ids alone. Those that fade keep at most 28 bytes each, and asking finds them."""

    def __init__(self) -> None:
        super().__init__()
        self._old: Noted | None = None

    def fade(self, keys: Iterable[str]) -> None:
        self._old = self._old or Noted()
        for key in keys:
            self._old.note(short(key), 0, self.pop(key))

    def get(self, key: str | None, default: int | None = None) -> int | None:  # type: ignore[override]
        key = key or ""
        found = _get(self, key)
        if found is None and self._old is not None:
            found = (self._old.get(short(key)) or (0, None))[1]
        return default if found is None else found

    def __contains__(self, key: object) -> bool:
        return (key is None or isinstance(key, str)) and self.get(key) is not None

    def add(self, key: str | None) -> None:
        """Notes an id whose line does not matter; no id is one as well."""
        self.setdefault(key or "")

    def setdefault(self, key: str, default: int = 0) -> int:
        found = self.get(key)
        if found is None:
            self[key] = found = default
        return found
