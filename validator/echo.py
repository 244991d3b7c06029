"""The short way for streamed text: a line that repeats one judged before, but for its id, place, time and text.

Most of a long stream is text in small pieces. Once such a line has been judged and moved nothing, the next one teaches
nothing either except that it was the last: its place, its time and its text. So it is matched against the bytes of the
first, its holes are checked for what rules would look at (the next sequence, a time that does not run back, an id never
met, a text that leaks and hides nothing), and the looks are counted. It may differ in more that nobody reads, once two
lines were seen to (`varying.py`). That a ledger is left as it was by a further such line is what `alike` denies where
it does not hold; rules know a line, and what ledgers keep once they have heard it.

The lines between are not shown to ledgers, except those that keep every event (`echo`, several at a time); the last of
them is shown to those that heed it, before anything that could tell the difference: another line of the stream, a line
that names what the stream has to do with, a record, a line that could not be read or says two things, the end; and
after a line of another stream that moved such a thing without naming it. Where lines of one stream follow one another,
they are looked at in rows: cut into columns, each of which is looked at as a whole. As soon as that leaves a doubt, the
row ends before the line in question. With the fast path off there is no short way, and the report is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from validator.capture.encode import escaped, unpack
from validator.capture.ndjson import Line
from validator.filling import Fillings
from validator.holes import NAMES, Layouts, Read, Template, goes_on, in_order
from validator.names import names, names_more
from validator.protocol.fastpath import mode
from validator.protocol.glance import glance, remembered
from validator.protocol.profile import Demand
from validator.records import dataclass
from validator.replay import world as worlds
from validator.replay.order import named_by_place
from validator.replay.step import Move, Place, Step, Stretch
from validator.rows import Holes, going_on, reached
from validator.rules.reference._outputs import LONGEST
from validator.streamed import STREAMED, Path, frame_of
from validator.tally import Looked
from validator.varying import Varying

if TYPE_CHECKING:
    from validator.session import Session

_DISTURBING = "output."
"""Events of this family set a budget for the text of every stream."""
_SHARED = frozenset({"runtime_id"})
"""Ids that streams share without speaking about each other."""
_STAMP, _EVENT_ID = NAMES.index("timestamp"), NAMES.index("event_id")
_OWN = len(NAMES)
"""The holes that every line of a stream has."""
_STREAMS = 4_096
"""Streams whose lines are matched; the others take the long way."""
_ALONE = 64
"""Streams of which a line waits to be compared with the next one."""
SEVERAL, _SHORT, _LONG = 5, 16, 128
"""Lines of one stream that followed one another before a row of them is tried, and about how many the first and the
longest have: to begin a row takes as long as to look at two or three lines alone."""
_PENDING = 256
"""Lines that wait to be shown to those who keep every one."""


@dataclass(slots=True)
class _Echo:
    """A line that others may repeat, and the last that did."""

    step: Step
    looked: Looked
    counted: list[list[Any]]
    """What was looked at in it."""
    group: str
    """What it shares with the other lines of its stream."""
    stream: str
    """In what its sequence counts; its session, unless it says otherwise."""
    sign: bytes
    """By what lines that may repeat it are found."""
    ids: tuple[str, ...]
    keepers: tuple[Any, ...]
    raw: bytes
    """Its bytes, or those of the last line that repeated it as the tables spell it."""
    line: int
    sequence: int
    offset: int = 0
    times: int = 0
    before: int = 0
    """The line before the last."""
    next: bytes = b""
    """The sequence that has to follow, as it is written."""
    stamp: bytes = b""
    position: int = 0
    template: Template | None = None
    """Where its holes are; found when the first line comes that may repeat it."""
    body: bytes = b""
    """The line with its keys in order, to be filled in."""
    order: Any = None
    """Picks what fills it."""
    kind: int = 0
    fits: Any = None
    """Says that what fills its holes may stand there."""
    fits_row: Any = None
    """Says of how many of some lines that is so."""


class Echoes:
    """The lines of one capture that repeat others."""

    def __init__(self, session: Session):
        self._session, self._world, self._tally = session, session.world, session.tally
        self._repeat = session.world.order.repeat
        protocol, demands = session.protocol, session.profile.demands
        self._frame, lens = frame_of(protocol), protocol.lens
        known = STREAMED[protocol.name].types
        self._types = {
            kind: fields for kind, fields in known.items() if not any(_narrows(kind, self._frame.own(fields), demands))
        }
        self._kind, self._event_id = lens.type, lens.reader("event_id")
        self._is_named = "event_id" in self._frame.envelope
        """Whether events have ids; in other protocols their places in their streams tell them apart."""
        self._fillings = Fillings(session)
        self._layouts: Layouts | None = None
        """Made when the first line is remembered: then it is known how the capture spells names."""
        self._respelt = False
        """Whether that is another way than that of the tables."""
        self._read: Read = _as_it_stands
        self._mark, self._start = b"", 0
        """What stands before the name of a group, and how long that is."""
        self._signs: dict[bytes, _Echo] = {}
        self._by_group: dict[str, _Echo] = {}
        self._owned: dict[str, dict[str, None]] = {}
        """Ids to the groups whose echoes carry them."""
        self._varying = Varying(protocol)
        self._alone: dict[str, dict[str, Any]] = {}
        """By group, a line that the next one did not repeat."""
        self._latest: _Echo | None = None
        """What the last line that was taken in repeated, and how many before it did without another between them."""
        self._streak = 0
        self._longest = min(LONGEST, session.options.limits.line_bytes)
        self._pending: list[Stretch] = []
        """Lines that were taken in, how many they are, and who keeps them."""
        self._waiting = 0
        self._keepers: tuple[Any, ...] = ()
        self._known_keepers: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    @staticmethod
    def fit(session: Session) -> Echoes | None:
        """The short way for a capture, where there is one."""
        options = session.options
        if mode() == "off" or options.lines or options.canaries or session.protocol.name not in STREAMED:
            return None
        return Echoes(session)

    # The short way.

    def take(self, raw: bytes, number: int, offset: int) -> bool:
        """Takes a line in when it certainly repeats another; False leaves it to the long way."""
        start = raw.find(self._mark) + self._start
        echo = self._signs.get(raw[start : raw.find(b'"', start + 2)])
        if echo is None or number - self._world.faded_at >= worlds.RECENT or self._tally.crashed:
            return False
        if echo.template is None and not self._prepare(echo):
            self._drop(echo)
            return False
        holes = echo.template.holes(raw)
        if holes is None or holes[0] != echo.next or len(raw) > self._longest:
            return False
        _, stamp, event_id, text, grows, size = holes[:_OWN]
        if b"\\" in text and (b"\\u" in text or b"\\/" in text):
            text = escaped(text)
            holes = (*holes[:3], text, *holes[4:])
        position = reached(echo.position, grows, size, text) if grows or size else 0
        if position is None or not (stamp == echo.stamp or goes_on(echo.stamp, stamp)):
            return False
        if not echo.fits(event_id, text, holes[_OWN:]):
            return False
        body = echo.body % echo.order(holes)
        name = event_id or named_by_place(echo.stream, echo.sequence + 1)
        if not self._repeat(name, body, echo.kind, echo.stream, echo.sequence + 1, number):
            return False
        self._streak = self._streak + 1 if echo is self._latest and echo.line == number - 1 else 0
        self._latest = echo
        told = body if self._respelt else raw
        if echo.keepers is not self._keepers or self._waiting >= _PENDING:
            self.show_pending()
            self._keepers = echo.keepers
        sequence = echo.sequence + 1
        if self._streak and self._pending:
            self._pending[-1].lines.append(told)
        else:
            self._pending.append(Stretch(echo.step, number, sequence, [told]))
        self._waiting += 1
        self._world.last_line = number
        echo.sequence, echo.next, echo.stamp, echo.position = sequence, b"%d" % (sequence + 1), stamp, position
        echo.before, echo.line, echo.raw, echo.offset = echo.line, number, told, offset
        echo.times += 1
        return True

    def take_row(self, data: bytes, start: int, number: int, offset: int) -> tuple[int, int]:
        """Takes in lines that follow the last one and certainly repeat it too; how many, and where the next begins."""
        echo, streak = self._latest, self._streak
        if streak < SEVERAL or echo is None:
            return 0, start
        self._streak = streak // 2
        end = data.rfind(b"\n", start, start + min(max(streak, _SHORT), _LONG) * (len(echo.raw) + 1))
        if end < 0 or self._tally.crashed:
            return 0, start
        lines = data[start:end].split(b"\n")
        if number + len(lines) > self._world.faded_at + worlds.RECENT:
            return 0, start
        holes = echo.template.rows(lines, self._longest)
        count = self._add_row(echo, lines, holes, number) if holes else 0
        if not count:
            return 0, start
        if count < len(lines):
            end = start + sum(map(len, lines[:count])) + count - 1
        echo.offset = offset + end - start - len(lines[count - 1])
        self._streak = streak + count
        return count, end + 1

    def _add_row(self, echo: _Echo, lines: list[bytes], holes: list[Holes], number: int) -> int:
        """Takes in those of some lines, by what fills their holes, that certainly go on from the last; how many."""
        first = echo.sequence + 1
        holes, positions = going_on(holes, echo.stamp, echo.position, first)
        if not holes or not (count := echo.fits_row(holes)):
            return 0
        body, order = echo.body, echo.order
        if count < len(holes):
            holes = holes[:count]
        bodies = [body % filled for filled in map(order, holes)]
        if self._is_named:
            ids = [filled[_EVENT_ID] for filled in holes]
        else:
            ids = [named_by_place(echo.stream, sequence) for sequence in range(first, first + count)]
        count = self._world.order.repeat_row(ids, bodies, echo.kind, echo.stream, first, number)
        if not count:
            return 0
        told = (bodies if self._respelt else lines)[:count]
        self._pending.append(Stretch(echo.step, number, first, told))
        self._waiting += count
        if self._waiting >= _PENDING:
            self.show_pending()
        sequence, last = first + count - 1, number + count - 1
        self._world.last_line = last
        echo.sequence, echo.next, echo.stamp = sequence, b"%d" % (sequence + 1), holes[count - 1][_STAMP]
        echo.position = positions[count - 1] if positions else 0
        echo.before, echo.line, echo.raw = last - 1, last, told[-1]
        echo.times += count
        return count

    def is_latest(self, number: int) -> bool:
        """True for the line that was taken in last."""
        return self._latest is not None and self._latest.line == number

    def show_pending(self) -> None:
        """Shows those who keep every line what came since they were last shown something."""
        told, self._pending, self._waiting = self._pending, [], 0
        for keep in self._keepers if told else ():
            keep(told)

    # What ends it.

    def before(self, line: Line, event: dict[str, Any] | None) -> None:
        """Shows ledgers what was left out, before a line that could tell the difference; no event always could.

        So could an event that reveals a loss: what is in doubt from then on is cleared up by the next piece about it,
        whatever stream that piece is of.
        """
        if self._pending:
            self.show_pending()
        if not self._by_group:
            return
        group, kind = (None, None) if event is None else (event.get(self._frame.group), self._kind(event))
        forgets = line.number - self._world.faded_at >= worlds.RECENT
        if forgets or line.torn or type(group) is not str or type(kind) is not str or self._disturbs(kind, event):
            self.settle()
            return
        named = self._owned.keys() & glance(event)[1]
        if named or group in self._by_group:
            self._interrupt({group}.union(*(self._owned[name] for name in named)))

    def moved(self, step: Step | None) -> None:
        """Shows what was left out of streams that a line has to do with by what it moved, and not by its own ids."""
        if step is None or not self._owned:
            return
        owned, subjects = self._owned, self._world.fold.subjects
        for move in step.moves:
            named = owned.keys() & {move.subject, *subjects[move.machine][move.subject].scope.values()}
            if named:
                self._interrupt(set().union(*(owned[name] for name in named)))

    def _interrupt(self, groups: set[str]) -> None:
        """Shows what was left out of some streams."""
        found = [self._by_group[name] for name in groups if name in self._by_group]
        for echo in sorted(found, key=lambda entry: entry.line):
            self._drop(echo)

    def _disturbs(self, kind: str, document: dict[str, Any]) -> bool:
        """True for an event that concerns every stream, reveals a loss, or wakes somebody who has slept so far."""
        world = self._world
        is_heard = kind.startswith(_DISTURBING) or world.attention.rouses(kind, glance(document)[0])
        return is_heard or world.order.leaps(document)

    def settle(self) -> None:
        """Shows ledgers the last of all lines that were left out, in their order."""
        self.show_pending()
        for echo in sorted(self._by_group.values(), key=lambda entry: entry.line):
            self._drop(echo)

    def _drop(self, echo: _Echo) -> None:
        del self._by_group[echo.group]
        if self._signs.get(echo.sign) is echo:
            del self._signs[echo.sign]
        for name in echo.ids:
            self._owned[name].pop(echo.group)
            if not self._owned[name]:
                del self._owned[name]
        if not echo.times:
            if len(self._alone) >= _ALONE:
                self._alone.clear()
            self._alone[echo.group] = echo.step.line
            return
        session, kept = self._session, echo.step
        session.events += echo.times
        self._tally.count(echo.looked, echo.times)
        for entry in echo.counted:
            entry[1] += echo.times
        place = Place(echo.stream, echo.sequence, echo.sequence - 1, "next", echo.before)
        step = Step(unpack(echo.raw), echo.line, echo.offset, type=kept.type, place=place, form=kept.form)
        step.moves, step.scope = kept.moves, kept.scope
        self._world.resume(step, echo.times)

    # What begins it.

    def minds(self, line: Line, event: dict[str, Any]) -> bool:
        """True for a line that others may repeat, as far as its type tells."""
        kind, raw = self._kind(event), line.raw
        if type(kind) is not str or kind not in self._types or raw is None or line.problems or len(raw) > LONGEST:
            return False
        if not self._is_named and self._event_id(event) is not None:
            return False
        return type(event.get(self._frame.group)) is str and len(self._by_group) < _STREAMS

    def after(self, line: Line, step: Step | None, looked: Looked, counted: list[Any]) -> None:
        """Remembers a line that was judged as one that may be repeated, unless something was found (no step)."""
        if step is None or not self._is_settled(step):
            return
        if self._layouts is None:
            self._learn_to_read()
        group, kind = step.line[self._frame.group], step.type
        before = self._alone.pop(group, None)
        if before is not None and self._kind(before) == kind:
            self._varying.learn(before, step.line, kind, self._types[kind])
        audience = self._world.audience(step)
        for more in audience.further:
            looked = looked | self._marks(step, more(step))
        echo = _Echo(
            step,
            looked,
            counted,
            group=group,
            stream=step.place.stream,
            sign=_sign(line.raw, self._mark),
            ids=tuple(self._ids(step)),
            keepers=self._known_keepers.setdefault(audience.echo, audience.echo),
            raw=line.raw,
            line=step.number,
            sequence=step.place.sequence,
        )
        self._signs[echo.sign] = self._by_group[echo.group] = echo
        for name in echo.ids:
            self._owned.setdefault(name, {})[echo.group] = None

    def _ids(self, step: Step) -> set[str]:
        """What a line has to do with: what it names, and what the subjects that it names were seen with."""
        scopes = [step.scope, *(subject.scope for subject in self._world.named(step.scope))]
        found = {value for scope in scopes for name, value in scope.items() if name not in _SHARED}
        return found.union(names(step.line)) if remembered(names_more, glance(step.line)[0]) else found

    def _learn_to_read(self) -> None:
        canonical, name = self._session.canonical, self._frame.group
        spelt = canonical.spell(name)
        self._layouts, self._respelt = Layouts(canonical.spell, self._frame), spelt != name
        self._read = canonical.event if self._respelt else _as_it_stands
        self._mark, self._start = b'"%b":' % spelt.encode(), len(spelt) + 3

    def _marks(self, step: Step, told: tuple[tuple[str, tuple[str, ...]], ...]) -> Looked:
        """Looks by the ids of rules."""
        woken = self._session.catalogue.woken_by(step) if told else ()
        return {(rule, clauses): 1 for name, clauses in told for rule in woken if rule.id == name}

    def _is_settled(self, step: Step) -> bool:
        """True when a line moved nothing and a further one like it would be judged the same."""
        place, session = step.place, self._session
        if place is None or place.verdict != "next" or step.repeats is not None or step.reused is not None:
            return False
        if step.refusals or self._tally.crashed or not all(map(_is_still, step.moves)):
            return False
        if session.context.errors or session.context.foreign or any(session.context.canaries):
            return False
        return all(alike(step) for alike in self._world.audience(step).alike)

    def _prepare(self, echo: _Echo) -> bool:
        """Finds the holes of a line that another may repeat; False when it cannot be repeated."""
        document, raw, kind = echo.step.line, echo.raw, echo.step.type
        fields = self._types[kind]
        found = self._layouts.match(document, kind, fields, self._varying.holes(document, kind), raw)
        written = in_order(*found, document, self._read) if found else None
        if written is None:
            return False
        template = Template(*found)
        holes = template.holes(raw)
        following, echo.stamp, event_id, text, grows, _ = holes[:_OWN]
        text = escaped(text) if b"\\" in text else text
        echo.template, echo.body, echo.order = template, written.body, written.order
        echo.next, echo.position = b"%d" % (int(following) + 1), int(grows or 0)
        echo.kind = self._world.order.kind_of(document)
        filling = self._fillings.of(kind, found[0], written.probed)
        echo.fits, echo.fits_row = filling.fits, filling.fits_row
        return echo.fits(event_id, text, holes[_OWN:])


def _as_it_stands(document: dict[str, Any]) -> dict[str, Any]:
    return document


def _sign(raw: bytes, mark: bytes) -> bytes:
    """The bytes in which a line first names a group: lines of a stream that are written alike share them."""
    start = raw.find(mark) + len(mark)
    return raw[start : raw.find(b'"', start + 2)]


def _is_still(move: Move) -> bool:
    """True when a move led nowhere, and the next step like it takes the same row: not by what a loss may hide."""
    return move.source == move.target and move.source in move.row.sources and move.machine != "channel"


def _narrows(kind: str, own: Iterable[Path], demands: Iterable[Demand]) -> Iterator[bool]:
    """Whether demands of a profile limit what may fill the holes of a type of line."""
    names = {path[-1] for path in own}
    for demand in demands:
        yield demand.document == f"events/{kind}" and bool(demand.values) and demand.path[-1] in names
