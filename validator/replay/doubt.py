"""What can no longer be proved, and in which streams.

A gap puts in doubt what belongs to its own stream. A line that could not be read may have belonged to any. Whoever asks
names the ids at hand; ids that name no stream may belong to every one, so for them any loss counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from validator.replay.subject import Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Names = tuple[str, ...]


class Doubt:
    """The last loss of each stream, and the streams whose beginning is not in the capture."""

    def __init__(self, keys: Iterable[str]):
        self._keys = tuple(keys)
        self._lost: dict[str, int] = {}
        self._lost_anywhere: int | None = None
        self._lost_everywhere: int | None = None
        self._midway: set[str] = set()
        self._all_midway = False

    def names(self, ids: Mapping[str, Any]) -> Names:
        """What can name the stream of a line or subject with these ids."""
        return tuple(value for key in self._keys if isinstance(value := ids.get(key), str))

    def lose(self, number: int, names: Names = ()) -> None:
        """Something was lost before a line, in a stream or, without a name, in any."""
        self._lost_anywhere = number
        if not names:
            self._lost_everywhere = number
        self._lost.update(dict.fromkeys(names, number))

    def begin_midway(self, names: Names) -> None:
        """Something came before the first line of a stream."""
        self._midway.update(names)
        self._all_midway = self._all_midway or not names

    def since(self, ids: Mapping[str, Any] | None = None) -> int | None:
        """The line before which something was lost that can concern these ids; the last such line."""
        if self._lost_anywhere is None:
            return None
        last, named = self._lost_everywhere, False
        for key in self._keys if ids else ():
            name = ids.get(key)
            if isinstance(name, str):
                named, line = True, self._lost.get(name)
                if line is not None and (last is None or line > last):
                    last = line
        return last if named else self._lost_anywhere

    def is_midway(self, ids: Mapping[str, Any] | None = None) -> bool:
        """True when what these ids stand for may have begun before the capture."""
        if not self._midway and not self._all_midway:
            return False
        named = False
        for key in self._keys if ids else ():
            name = ids.get(key)
            if isinstance(name, str):
                named = True
                if name in self._midway:
                    return True
        return self._all_midway or not named

    def tell(self) -> tuple[int | None, bool]:
        """What whoever judges other sessions has to know at the end: the last loss, and whether one began midway."""
        return self._lost_anywhere, bool(self._midway)

    def hear(self, told: Iterable[tuple[int | None, bool]]) -> None:
        """Takes in what was lost in sessions that others judge; it concerns whoever asks about no session."""
        for line, midway in told:
            if line is not None:
                self._lost_anywhere = max(self._lost_anywhere or 0, line)
            self._midway |= {""} if midway else set()

    def concerns(self, names: Names, ids: Mapping[str, Any]) -> bool:
        """True when a loss in a stream can concern a subject with these ids."""
        own = self.names(ids)
        return not names or not own or not set(names).isdisjoint(own)


class Trusted:
    """Open subjects that no loss concerns so far, by what can name their streams: a loss costs what it concerns."""

    def __init__(self, keys: Iterable[str]):
        self._keys = tuple(keys)
        self._known: dict[str | None, dict[tuple[str, str], Subject]] = {}
        """Under None those that nothing places in a stream."""

    def enter(self, subject: Subject) -> None:
        """Files a subject under the ids it was seen with; those it is seen with later come to these."""
        place = (subject.machine, subject.key)
        names = self._names(subject)
        for name in names:
            self._known.setdefault(name, {})[place] = subject
        if names != [None]:
            self._drop(None, place)

    def leave(self, subject: Subject) -> None:
        for name in (*self._names(subject), None):
            self._drop(name, (subject.machine, subject.key))

    def lose(self, names: Names) -> Iterator[Subject]:
        """What something lost in a stream or, without a name, in any can concern; it is trusted no longer."""
        for name in (*names, None) if names else list(self._known):
            for subject in list(self._known.get(name, {}).values()):
                self.leave(subject)
                yield subject

    def _names(self, subject: Subject) -> list[str | None]:
        ids = subject.scope
        return [ids[key] for key in self._keys if key in ids] or [None]

    def _drop(self, name: str | None, place: tuple[str, str]) -> None:
        filed = self._known.get(name)
        if filed is not None and filed.pop(place, None) is not None and not filed:
            del self._known[name]
