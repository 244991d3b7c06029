"""All replay state of one capture: subjects, order, doubt, and the ledgers that rules ask for.

A ledger is a small class that keeps what one kind of check has to remember (who asked for an approval, which command is
unanswered). A rule names the ledgers it reads; the world makes each once and shows it every step, in the order of their
names. So rules stay pure functions of a step and the world, and nothing is remembered twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

from validator.protocol.protocol import Protocol as Dialect
from validator.replay.fold import Fold, Subject
from validator.replay.order import Order
from validator.replay.step import Place, Step


class Ledger(Protocol):
    """What a check has to remember."""

    def __init__(self, world: World) -> None: ...

    def apply(self, step: Step) -> None:
        """Learns from one step, before rules see it."""


L = TypeVar("L")


class World:
    """The state of one capture after every line so far."""

    def __init__(self, protocol: Dialect, ledgers: Iterable[type] = ()):
        self.protocol = protocol
        self.fold = Fold(protocol)
        self.order = Order(protocol)
        self.header: dict[str, Any] = {}
        self.capabilities: set[str] = set()
        self.observed_types: dict[str, int] = {}
        self.last_line = 0
        self.starts_in_the_middle = False
        """The first sequence seen is not the first of its stream, so something came before the capture."""
        self.unproved_since: int | None = None
        """The line after which open work is in doubt: a gap, or a line that could not be read."""
        self._ledgers: dict[type, Any] = {}
        self._failed: dict[type, Exception] = {}
        for ledger in sorted(set(ledgers), key=lambda entry: entry.__name__):
            self._ledgers[ledger] = ledger(self)
        self._teachers = [(kind, ledger.apply) for kind, ledger in self._ledgers.items()]

    def ledger(self, kind: type[L]) -> L:
        """The one ledger of a kind; one that failed is not read again, so the rules that need it fail openly."""
        if kind in self._failed:
            raise self._failed[kind]
        return self._ledgers[kind]

    def subjects(self, machine: str) -> dict[str, Subject]:
        return self.fold.subjects.get(machine, {})

    def state(self, machine: str, key: str | None) -> str | None:
        """The state of a subject, or None when it was never seen."""
        subject = self.subjects(machine).get(key or "")
        return subject.state if subject else None

    def apply(self, document: dict[str, Any], number: int = 0, offset: int = 0) -> Step:
        """Takes one line in: order first, then moves, then what the ledgers remember."""
        self.last_line = number
        record = document.get("record")
        if record is not None:
            step = self._record(document, str(record), number, offset)
        else:
            step = self._event(document, number, offset)
        if step.repeats is None:
            self._teach(step)
        return step

    def pass_over(self, document: dict[str, Any], number: int) -> None:
        """Takes the place of an event in its stream into account, and nothing else that it says."""
        if "record" not in document and self.order.meet(document, number)[0] is None:
            self._place(document, number)

    def _place(self, document: dict[str, Any], number: int) -> Place:
        place = self.order.place(document, number)
        # The event that reveals a gap is itself heard after it, so what it speaks about is in doubt no longer.
        if place.verdict == "gap" and self.protocol.order["gaps"] in {"repair_marker", "forbidden"}:
            self.doubt(number)
        return place

    def _teach(self, step: Step) -> None:
        for kind, apply in self._teachers:
            try:
                apply(step)
            except Exception as error:  # a ledger's own fault is reported by the rules that need it
                self._failed[kind] = error
        if self._failed:
            self._teachers = [entry for entry in self._teachers if entry[0] not in self._failed]

    def _record(self, document: dict[str, Any], record: str, number: int, offset: int) -> Step:
        if record == "header":
            self.header = document
            claimed = document.get("capabilities")
            self.capabilities |= {
                word for word in (claimed if isinstance(claimed, list) else ()) if isinstance(word, str)
            }
        step = self.fold.apply(document, number)
        step.offset = offset
        step.kind = record
        step.type = str(document.get("model")) if record == "snapshot" else record
        self.observed_types[step.type] = self.observed_types.get(step.type, 0) + 1
        return step

    def _event(self, document: dict[str, Any], number: int, offset: int) -> Step:
        repeats, reused = self.order.meet(document, number)
        if repeats is not None:
            return Step(document, number, offset, type=self.protocol.type_of(document), repeats=repeats)
        place = self._place(document, number)
        step = self.fold.apply(document, number)
        step.offset, step.place, step.reused = offset, place, reused
        step.type = self.protocol.type_of(document)
        if step.type:
            self.observed_types[step.type] = self.observed_types.get(step.type, 0) + 1
        if place.verdict == "first" and (place.sequence or 0) > 1:
            self.starts_in_the_middle = True
        return step

    def doubt(self, number: int) -> None:
        """Open work can no longer be proved to stand where it stood."""
        self.unproved_since = number
        for subject in self.fold.open_subjects():
            subject.doubted = True
