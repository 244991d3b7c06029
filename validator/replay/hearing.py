"""Which ledgers a step concerns.

A ledger that learns only from some steps says so in `hears`: event types or patterns, `record:<kind>`, `unlisted` for
types that the catalogue does not list, and `move:<machine>` for whatever can move or refuse a subject of a machine. The
last is worked out from the tables: an event reaches the machines that list it, and those that list their moves.
Without `hears` a ledger is shown every step, and so is every ledger when the fast path is off.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from validator.protocol.fastpath import mode
from validator.protocol.machine import Driver
from validator.protocol.protocol import Protocol
from validator.protocol.wildcards import fitting, is_pattern
from validator.replay.step import Step

Teacher = tuple[type, Callable[[Step], None]]
_MOST = 4096
"""Types that are remembered; a stream may make up as many as it likes."""


class Hearing:
    """Kind and type of a step to the ledgers that hear it."""

    def __init__(self, protocol: Protocol, ledgers: dict[type, Any]):
        self._protocol = protocol
        self._teachers: list[Teacher] = [(kind, ledger.apply) for kind, ledger in ledgers.items()]
        self._words = {kind: getattr(kind, "hears", None) for kind in ledgers if mode() != "off"}
        self._patterns = sorted({word for words in self._words.values() for word in words or () if is_pattern(word)})
        self._known: dict[tuple[str, str | None], tuple[Teacher, ...]] = {}

    def of(self, step: Step) -> tuple[Teacher, ...]:
        """The ledgers to show a step to, in the order of their names."""
        key = (step.kind, step.type)
        found = self._known.get(key)
        if found is None:
            meant = self._meant(step.kind, step.type or "")
            found = tuple(entry for entry in self._teachers if _hears(self._words.get(entry[0]), meant))
            if len(self._known) < _MOST:
                self._known[key] = found
        return found

    def silence(self, failed: Iterable[type]) -> None:
        """Shows nothing more to ledgers that failed."""
        self._teachers = [entry for entry in self._teachers if entry[0] not in failed]
        self._known.clear()

    def _meant(self, kind: str, name: str) -> set[str]:
        """Every word that means a step of a kind and type."""
        driver = Driver("event" if kind == "event" else "record", name)
        meant = {f"move:{machine}" for machine in reached_by(self._protocol).get(driver, ())}
        if kind != "event":
            return {*meant, f"record:{kind}"}
        meant.update(word for word in self._patterns if fitting(word, (name,)))
        # A vendor may call an event whatever it likes, even like one of the words above.
        return {*meant, name if name in self._protocol.events else "unlisted"}


def _hears(words: tuple[str, ...] | None, meant: set[str]) -> bool:
    return words is None or not meant.isdisjoint(words)


@functools.lru_cache(maxsize=16)
def reached_by(protocol: Protocol) -> dict[Driver, frozenset[str]]:
    """Event or record to the machines that it can drive, at once or through moves."""
    return {driver: frozenset(_reached(protocol, driver)) for driver in protocol.listeners if driver.kind != "move"}


def _reached(protocol: Protocol, driver: Driver) -> set[str]:
    found: set[str] = set()
    waiting = [machine.name for machine in protocol.listeners[driver]]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [machine.name for machine in protocol.listeners.get(Driver("move", name), ())]
    return found
