"""All replay state of one capture: subjects, order, doubt, and the ledgers that rules ask for.

A ledger is a small class that keeps what one kind of check has to remember (who asked for an approval, which command is
unanswered). A rule names the ledgers it reads; the world makes each once and shows it the steps it hears, in the order
of their names (`hearing.py`). So rules stay pure functions of a step and the world, and nothing is remembered twice.

Memory grows with open work, not with the length of the stream. Every `RECENT` lines, subjects that are no open work and
were not heard of for as long fade: 28 bytes at most stay of each (`faded.py`). A ledger lists in `forgets` the tables
whose entries go when none of the ids in their keys is known two times in a row, so that what came lately stays; and in
`forgets_faded` those whose entries go only when a subject in their key fades, because a rule infers something from a
missing entry. What goes thus hangs on ids and lines, never on how much there is of other sessions. A step about a faded
subject is `unproved`, so nothing is missed only because it was forgotten. Beside that, each event costs at most 40
bytes (`seen.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from validator.protocol.protocol import Protocol as Dialect
from validator.records import dataclass
from validator.replay.doubt import Doubt
from validator.replay.faded import Lines, Subjects
from validator.replay.fold import Fold
from validator.replay.form import Given
from validator.replay.hearing import Hearing, Teacher
from validator.replay.order import Order
from validator.replay.step import Place, Step, Stretch
from validator.replay.subject import Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, Protocol, TypeVar

    L = TypeVar("L")
else:
    Protocol = object

About = Step | Subject | Mapping[str, str] | object | None
"""What a question is about: anything with a scope, or the ids themselves; None for the whole capture."""

RECENT = 10_000
"""Lines for which what is over is remembered whole."""


class Ledger(Protocol):
    """What a check has to remember."""

    hears: ClassVar[tuple[str, ...]]
    """The steps it learns from; all of them when absent."""
    given: ClassVar[Given] = ()
    """Keys of which a line has to hold one for it to learn anything; none when absent."""
    since: ClassVar[tuple[str, ...]] = ()
    """What has to come first; it learns from the beginning when absent."""
    forgets: ClassVar[tuple[str, ...]] = ()
    """Its tables, keyed by ids, whose entries are dropped when no id in their key is known; none when absent."""
    forgets_faded: ClassVar[tuple[str, ...]] = ()
    """Those whose entries are dropped only when a subject in their key has faded."""

    def __init__(self, world: World) -> None: ...

    def apply(self, step: Step) -> None:
        """Learns from one step, before rules see it.

        Of steps that differ only in id, place, time and text those between the first and the last may be left out
        (`echo.py`). A ledger that keeps every one has `echo`, which is shown stretches of them (`step.py`), and is
        then not shown the last. One for which it matters how many there were has `alike`, which is False when a further
        step like the one just applied would teach it something, or leave it otherwise than this one did. Where all that
        differs is that a rule looks at more in further steps, it has `further` in place of that: the id of the rule,
        and the clauses.
        """

    heeds_last: ClassVar[bool] = True
    """False when the last of such steps tells it no more than the first, so that it is not shown the last either."""


@dataclass(frozen=True, slots=True)
class Audience:
    """Those whom a step is shown to, by what further steps like it are to them."""

    teachers: tuple[Teacher, ...]
    alike: tuple[Callable[[Step], bool], ...]
    """The `alike` of those who have it."""
    further: tuple[Callable[[Step], tuple[tuple[str, tuple[str, ...]], ...]], ...]
    """The `further` of those who have it."""
    echo: tuple[Callable[[list[Stretch]], None], ...]
    """The `echo` of those who keep every step."""
    heed_last: tuple[Teacher, ...]
    """Those who have to be shown the last step."""


_AUDIENCES = 1_024
_PRESENT = 1 << 14


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
        self.losses = 0
        """How often something was lost, or a line could not be read."""
        self.last_event = 0
        """The line of the last event, and the session that was named last."""
        self.last_session: str | None = None
        self._doubt = Doubt(protocol.order["key"])
        self.fold.lost = self._doubt.since
        self._subjects_of: dict[str, list[Subjects]] = {}
        for name, machine in protocol.machines.items():
            for key in machine.subject:
                self._subjects_of.setdefault(key[0], []).append(self.fold.subjects[name])
        self.faded_at = 0
        self._present: set[tuple[str, str]] = set()
        """Ids of which it was seen, since something faded last, that nothing they name has."""
        self._spared: dict[tuple[Any, ...], set[Any]] = {}
        """By ledger and table, the keys of which no id was known when something last faded."""
        self.mingled = False
        """Something was asked whose answer may hang on more than one session."""
        self.began = 0
        """The line of the first event, where sessions are judged apart."""
        self._asked: tuple[Step | None, int | None] = (None, None)
        """The step that was asked about last, and the answer: several rules ask the same."""
        self._failed: dict[type, Exception] = {}
        self._ledgers = _Ledgers(self._failed)
        self.ledger: Callable[[type[L]], L] = self._ledgers.__getitem__
        """The one ledger of a kind; one that failed is not read again, so the rules that need it fail openly."""
        for ledger in sorted(set(ledgers), key=lambda entry: entry.__name__):
            self._ledgers[ledger] = ledger(self)
        self._hearing = Hearing(protocol, self._ledgers)
        self._audiences: dict[int, Audience] = {}
        self.attention = self._hearing.attention

    def subjects(self, machine: str) -> dict[str, Subject]:
        return self.fold.subjects.get(machine, {})

    def named(self, ids: Mapping[str, str]) -> Iterable[Subject]:
        """The subjects that some ids name, of those that are kept whole."""
        for name, value in ids.items():
            for subjects in self._subjects_of.get(name, ()):
                if (subject := dict.get(subjects, value)) is not None:
                    yield subject

    def state(self, machine: str, key: str | None) -> str | None:
        """The state of a subject, or None when it was never seen."""
        subject = self.subjects(machine).get(key or "")
        return subject.state if subject else None

    def apply(self, document: dict[str, Any], number: int = 0, offset: int = 0, raw: bytes | None = None) -> Step:
        """Takes one line in, that may have been read from some bytes: order, then moves, then what ledgers remember."""
        self.last_line = number
        if number - self.faded_at >= RECENT:
            self._fade(number)
        record = document.get("record")
        if record is not None:
            step = self._record(document, str(record), number, offset)
        else:
            step = self._event(document, number, offset)
        if step.repeats is None:
            step.raw = raw
            self._teach(step, self._hearing.of(step))
        return step

    def pass_over(self, document: dict[str, Any], number: int) -> None:
        """Takes the place of an event in its stream into account, and nothing else that it says."""
        if "record" not in document and self.order.meet(document, number)[0] is None:
            self._place(document, number)

    def _place(self, document: dict[str, Any], number: int) -> Place:
        place = self.order.place(document, number)
        # The event that reveals a gap is itself heard after it, so what it speaks about is in doubt no longer.
        if place.verdict == "gap" and self.protocol.order["gaps"] in {"repair_marker", "forbidden"}:
            self.doubt(number, self._stream_ids(document))
        return place

    def audience(self, step: Step) -> Audience:
        """The ledgers that a step is shown to; worked out once for steps of a form, type and place."""
        teachers = self._hearing.of(step)
        # What is known keeps the tuple alive, so that its identity stays its own.
        known = self._audiences.get(id(teachers))
        if known is None:
            if len(self._audiences) >= _AUDIENCES:
                self._audiences.clear()
            known = self._audiences[id(teachers)] = self._assemble(teachers)
        return known

    def _assemble(self, teachers: tuple[Teacher, ...]) -> Audience:
        ledgers = [self._ledgers[kind] for kind, _ in teachers if kind in self._ledgers]
        last = [entry for entry in teachers if not hasattr(entry[0], "echo") and getattr(entry[0], "heeds_last", True)]
        return Audience(
            teachers,
            tuple([ledger.alike for ledger in ledgers if hasattr(ledger, "alike")]),
            tuple([ledger.further for ledger in ledgers if hasattr(ledger, "further")]),
            tuple([ledger.echo for ledger in ledgers if hasattr(ledger, "echo")]),
            tuple([entry for entry in last if entry[0] in self._ledgers]),
        )

    def resume(self, step: Step, times: int) -> None:
        """Takes in the last of some steps that repeat one taken in before; who keeps every one heard it (`echo`)."""
        self.observed_types[step.type] = self.observed_types.get(step.type, 0) + times
        self.order.reach(step.place.sequence, step.number)
        if step.number > self.last_event:
            self.last_event, self.last_session = step.number, step.scope.get("session_id", self.last_session)
        for move in step.moves:
            subject = self.fold.subjects[move.machine][move.subject]
            subject.heard = max(subject.heard, step.number)
        self._teach(step, self.audience(step).heed_last)

    def _teach(self, step: Step, teachers: tuple[Teacher, ...]) -> None:
        for kind, apply in teachers:
            try:
                apply(step)
            except Exception as error:  # a ledger's own fault is reported by the rules that need it
                self._failed[kind] = error
                del self._ledgers[kind]
                self._hearing.silence(self._failed)
                self._audiences.clear()

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
        kind = self.protocol.type_of(document)
        repeats, reused = self.order.meet(document, number)
        if repeats is not None:
            return Step(document, number, offset, type=kind, repeats=repeats)
        place = self._place(document, number)
        step = self.fold.drive(document, number, "event", kind)
        step.offset, step.place, step.reused = offset, place, reused
        self.last_event, self.last_session = number, step.scope.get("session_id", self.last_session)
        if kind:
            observed = self.observed_types
            observed[kind] = observed.get(kind, 0) + 1
        if place.verdict == "first" and (place.sequence or 0) > 1:
            self._doubt.begin_midway(self._doubt.names(self._stream_ids(document)))
        return step

    def doubt(self, number: int, ids: dict[str, Any] | None = None) -> None:
        """Open work can no longer be proved to stand: that of the stream with these ids, or all of it."""
        names = self._doubt.names(ids or {})
        self.losses += 1
        self._asked = (None, None)
        self._doubt.lose(number, names)
        self.fold.lose(names)

    def tell(self) -> tuple[int | None, bool]:
        """What those who judge other sessions of the capture have to know at the end."""
        return self._doubt.tell()

    def hear(self, told: Iterable[tuple[int | None, bool]]) -> None:
        """Takes in what they know."""
        self._doubt.hear(told)

    def _stream_ids(self, document: dict[str, Any]) -> dict[str, Any]:
        return {key: self.protocol.lens.get(document, key) for key in self.protocol.order["key"]}

    def cut(self, number: int) -> None:
        """The end of the capture is lost: nothing that might stand in it is missing."""
        self._asked = (None, None)
        self._doubt.lose(number)

    def unproved(self, about: About = None) -> int | None:
        """The line before which something was lost that may concern a step or a subject; None: all of it is known.

        A gap concerns its own stream, an unreadable line all of them; without a step or subject every loss counts. For
        a step that names a faded subject what was forgotten of it is as good as lost.
        """
        if about is not None and about is self._asked[0]:
            return self._asked[1]
        since, ids = self.lost(about), _ids(about)
        if ids and self.fold.faded.any and (getattr(about, "faded", False) or self._is_faded(ids)):
            since = max(since or 0, self.faded_at)
        if isinstance(about, Step):
            self._asked = (about, since)
        return since

    def lost(self, about: About = None) -> int | None:
        """The same without what was only forgotten."""
        return self._doubt.since(_ids(about))

    def midway(self, about: About = None) -> bool:
        """True when the first sequence seen of a step's stream is not its first, so something came before."""
        return self._doubt.is_midway(_ids(about))

    def _is_faded(self, ids: Mapping[str, str]) -> bool:
        if self._present.issuperset(ids.items()):
            return False
        whole = dict.get
        for name, value in ids.items():
            for subjects in self._subjects_of.get(name, ()):
                # Most subjects are kept whole, and found at once.
                subject = whole(subjects, value) or subjects.get(value)
                if subject is not None and subject.faded:
                    return True
        if len(self._present) > _PRESENT:
            self._present.clear()
        self._present.update(ids.items())
        return False

    def _fade(self, number: int) -> None:
        """Forgets what is over and was not heard of lately."""
        line, self.faded_at = number - RECENT, number
        self._present.clear()
        known, gone = self.fold.fade(line, self.order.fade(line) | {""})
        gone -= known
        spared: dict[tuple[Any, ...], set[Any]] = {}
        for kind, ledger in self._ledgers.items():
            for name in getattr(ledger, "forgets", ()):
                for place, table in _tables((kind, name), getattr(ledger, name)):
                    unknown = _unknown(known, table)
                    before = self._spared.get(place, set())
                    _drop(table, [key for key in unknown if key in before])
                    spared[place] = {key for key in unknown if key not in before}
            for name in getattr(ledger, "forgets_faded", ()):
                for _, table in _tables((kind, name), getattr(ledger, name)):
                    _drop(table, _naming(gone, table))
        self._spared = spared


class _Ledgers(dict[type, object]):
    """The ledgers by kind; asking for one that failed raises what it failed with."""

    def __init__(self, failed: dict[type, Exception]):
        super().__init__()
        self._failed = failed

    def __missing__(self, kind: type) -> Any:
        raise self._failed.get(kind) or KeyError(kind)


def _ids(about: About) -> Mapping[str, str] | None:
    if type(about) is Step:  # what is asked about most, and the test below takes long
        return about.scope
    return about if about is None or isinstance(about, Mapping) else about.scope


def _unknown(ids: set[str], keys: Iterable[Any]) -> list[Any]:
    """The keys, ids or tuples with ids in them, in which none of some ids occurs."""
    if ids.issuperset(keys):  # as they are where most work is open
        return []
    return [key for key in keys if (ids.isdisjoint(key) if type(key) is tuple else key not in ids)]


def _naming(ids: set[str], keys: Iterable[Any]) -> list[Any]:
    """The keys in which one of some ids occurs."""
    return [key for key in keys if (not ids.isdisjoint(key) if type(key) is tuple else key in ids)]


def _tables(place: tuple[Any, ...], table: Any) -> list[tuple[tuple[Any, ...], Any]]:
    """A table, or those that it groups, each with what it is found by."""
    first = next(iter(table.values()), None) if isinstance(table, dict) else None
    if isinstance(first, Lines | set):
        return [((*place, group), part) for group, part in table.items()]
    return [(place, table)]


def _drop(table: Any, gone: list[Any]) -> None:
    """Drops the entries of a table with some keys."""
    if isinstance(table, Lines):
        table.fade(gone)
    else:
        for key in gone:
            table.pop(key) if isinstance(table, dict) else table.discard(key)
