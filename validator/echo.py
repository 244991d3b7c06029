"""The short way for streamed text: a line that repeats one judged before, but for its id, place, time and text.

Most of a long stream is text in small pieces. Once two such lines of a stream have been judged and the second moved
nothing, a third one teaches nothing either except that it was the last: its place, its time and its text. So it is
matched against the bytes of the second, its holes are checked for what rules would look at (the next sequence, a
time that does not run back, an id never met, a text that leaks and hides nothing), and the looks are counted.

The lines between are not shown to ledgers, except those that keep every event (`echo`); the last of them is shown to
all, before anything that could tell the difference: another line of the stream, a line that names one of its ids, a
record, a line that could not be read, the end. A ledger for which one more such line counts says so (`alike`).
With the fast path off there is no short way, and the report is the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from validator.capture.encode import NATIVE
from validator.capture.ndjson import Line
from validator.holes import ENVELOPE, Fields, Key, Layout, Layouts, in_order, proves
from validator.protocol.fastpath import mode
from validator.protocol.glance import glance
from validator.protocol.profile import Demand
from validator.records import dataclass
from validator.redact import is_marker, vocabulary
from validator.replay import world as worlds
from validator.replay.seen import hashed
from validator.replay.step import Place, Step
from validator.rules.redaction._leaks import Leaks
from validator.rules.reference._outputs import LONGEST
from validator.tally import Looked

if TYPE_CHECKING:
    from validator.session import Session

STREAMED: dict[str, dict[str, Fields]] = {
    "agent-runtime": {
        "model.delta": {"delta": "text"},
        "reasoning.delta": {"text": "text"},
        "process.output": {"text": "text", "offset": "grows", "size_bytes": "size"},
    }
}
"""Per protocol, the fields of a payload in which such lines may differ: text, a position in it, its size in bytes."""
_DISTURBING = "output."
"""Events of this family set a budget for the text of every stream."""
_SHARED = frozenset({"runtime_id"})
"""Ids that streams share without speaking about each other."""
_LONGEST_ID = 512
_STREAMS = 4_096
"""Streams whose lines are matched; the others take the long way."""


@dataclass(slots=True)
class _Echo:
    """A line that others may repeat, and the last that did."""

    layout: Layout
    key: Key
    step: Step
    stream: str
    sequence: int
    stamp: bytes
    line: int
    looked: Looked
    counted: list[list[Any]]
    body: bytes
    """The line with its keys in order, to be filled in."""
    order: tuple[int, ...]
    """What fills it, by groups of the layout."""
    kind: int
    position: int | None = None
    raw: bytes = b""
    offset: int = 0
    times: int = 0
    ids: frozenset[str] = frozenset()
    listeners: tuple[Any, ...] = ()
    free: str = "text"
    field_name: bytes = b""
    last: Place | None = None


class Echoes:
    """The lines of one capture that repeat others."""

    def __init__(self, session: Session):
        self._session, self._world = session, session.world
        known, demands = STREAMED[session.protocol.name], session.profile.demands
        self._types = {kind: fields for kind, fields in known.items() if not any(_narrows(kind, fields, demands))}
        self._sieve = vocabulary(session.protocol).sieve
        self._scans = Leaks in session.catalogue.ledgers
        """Whether a rule looks for what leaks or hides."""
        self._layouts = Layouts()
        self._echoes: dict[Key, _Echo] = {}
        self._by_stream: dict[str, _Echo] = {}
        self._owned: dict[str, dict[str, None]] = {}
        """Ids to the streams whose echoes carry them."""
        self._firsts: dict[str, Key] = {}

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
        if not self._echoes or number - self._world.faded_at >= worlds.RECENT or self._session.tally.crashed:
            return False
        for layout in self._layouts.all:
            match = layout.match(raw) if layout.sign in raw else None
            if match is not None:
                echo = self._echoes.get(match.group(*layout.constant))
                if echo is not None:
                    return self._repeat(echo, match, raw, number, offset)
        return False

    def _repeat(self, echo: _Echo, match: Any, raw: bytes, number: int, offset: int) -> bool:
        digits, stamp, event_id, text = match.group(*echo.layout.always)
        sequence = int(digits)
        if sequence != echo.sequence + 1 or not _goes_on(echo.stamp, stamp) or len(raw) > LONGEST:
            return False
        position = echo.layout.number(match, "grows")
        if (position is not None and position <= echo.position) or not self._is_plain(echo, match, event_id, text):
            return False
        body = self._world.order.body(hashed(echo.body % match.group(*echo.order)), echo.kind)
        if not self._world.order.repeat(hashed(event_id), body, echo.stream, sequence, number):
            return False
        place = Place(echo.stream, sequence, echo.sequence, "next", echo.line)
        for ledger in echo.listeners:
            ledger.echo(echo.step, place, raw, number)
        self._world.last_line = number
        echo.sequence, echo.stamp, echo.line, echo.position = sequence, stamp, number, position
        echo.raw, echo.offset, echo.last = raw, offset, place
        echo.times += 1
        return True

    def _is_plain(self, echo: _Echo, match: Any, event_id: bytes, text: bytes) -> bool:
        """True when what is new in a line leaks nothing, does not say that something was hidden, and is all there."""
        size = echo.layout.number(match, "size")
        if size is not None and size != len(text) - _escapes(text):
            return False
        if not text or len(event_id) > _LONGEST_ID:
            return False
        if not NATIVE and not (text.isascii() and event_id.isascii()):
            return False  # the digest of a line depends on how its writer escapes
        try:
            name, told = event_id.decode(), text.decode()
        except UnicodeDecodeError:
            return False
        if not self._scans:
            return True
        told = json.loads(f'"{told}"') if "\\" in told else told
        if "redact" in told.lower() or is_marker(told) or is_marker(name):
            return False
        small = b'{"event_id":"%b","%b":"%b"}' % (event_id, echo.field_name, text)
        return self._sieve.is_clean(small, echo.free, name, told)

    # What ends it.

    def before(self, line: Line) -> None:
        """Shows ledgers what was left out, before a line that could tell the difference."""
        document = line.document if line.readable else None
        stream = document.get("session_id") if document is not None and "record" not in document else None
        kind = document.get("type") if isinstance(stream, str) else None
        forgets = line.number - self._world.faded_at >= worlds.RECENT
        if forgets or not isinstance(kind, str) or self._disturbs(kind):
            self.settle()
            self._firsts.clear()
            return
        concerned = {stream: None} if stream in self._by_stream else {}
        if self._owned:
            for text in glance(document)[1]:
                if text in self._owned:
                    concerned |= self._owned[text]
        for echo in sorted((self._by_stream[name] for name in concerned), key=lambda entry: entry.line):
            self._drop(echo)
        for name in concerned:
            if name != stream:
                self._firsts.pop(name, None)

    def _disturbs(self, kind: str) -> bool:
        """True for a type of event that concerns every stream, or wakes somebody who has slept so far."""
        return kind.startswith(_DISTURBING) or self._world.attention.rouses(kind)

    def settle(self) -> None:
        """Shows ledgers the last of all lines that were left out, in their order."""
        for echo in sorted(self._by_stream.values(), key=lambda entry: entry.line):
            self._drop(echo)

    def _drop(self, echo: _Echo) -> None:
        del self._echoes[echo.key], self._by_stream[echo.stream]
        for name in echo.ids:
            self._owned[name].pop(echo.stream)
            if not self._owned[name]:
                del self._owned[name]
        if not echo.times:
            return
        session, kept = self._session, echo.step
        session.events += echo.times
        session.tally.count(echo.looked, echo.times)
        for entry in echo.counted:
            entry[1] += echo.times
        step = Step(json.loads(echo.raw), echo.line, echo.offset, type=kept.type, place=echo.last)
        step.moves, step.scope = kept.moves, kept.scope
        self._world.resume(step, echo.times)

    # What begins it.

    def key(self, line: Line) -> Key | None:
        """What of a line stands between its holes; None for one that cannot be repeated."""
        document, raw = line.document, line.raw
        if raw is None or not line.readable or line.problems or not isinstance(document.get("type"), str):
            return None
        fields = self._types.get(document["type"])
        if fields is None or len(raw) > LONGEST or not isinstance(document.get("session_id"), str):
            return None
        layout = self._layouts.of(document, fields, raw)
        match = layout.match(raw) if layout else None
        return (match.group(*layout.constant)) if match else None

    def expects(self, line: Line, key: Key | None) -> bool:
        """True when a line is the second of its kind in a row."""
        return key is not None and self._firsts.get(line.document["session_id"]) == key

    def after(
        self, line: Line, key: Key | None, step: Step | None = None, looked: Looked | None = None, counted: Any = ()
    ) -> None:
        """Remembers a line that was judged: as one that may be repeated when it was the second in a row."""
        document = line.document if line.readable else {}
        stream = document.get("session_id")
        if not isinstance(stream, str):
            return
        if key is None or len(self._firsts) >= _STREAMS:
            self._firsts.pop(stream, None)
            return
        if step is not None and self._is_settled(step):
            self._begin(line, key, step, looked, counted)
        self._firsts[stream] = key

    def _is_settled(self, step: Step) -> bool:
        """True when a line moved nothing and a further one like it would be judged the same."""
        place, session = step.place, self._session
        if place is None or place.verdict != "next" or step.repeats is not None or step.reused is not None:
            return False
        if step.refusals or any(move.source != move.target or move.machine == "channel" for move in step.moves):
            return False
        if session.context.errors or session.context.foreign or any(session.context.canaries):
            return False
        minded = (ledger for ledger in self._world.heard_by(step) if hasattr(ledger, "alike"))
        return not session.tally.crashed and all(ledger.alike(step) for ledger in minded)

    def _begin(self, line: Line, key: Key, step: Step, looked: Looked, counted: list[Any]) -> None:
        document, raw = step.line, line.raw
        fields = self._types[step.type]
        layout = self._layouts.of(document, fields, raw)
        match = layout.match(raw)
        written = in_order(document, fields)
        if written is None or not proves(layout, key, document, fields):
            return
        body, order = written
        _, stamp, event_id, text = match.group(*layout.always)
        echo = _Echo(
            layout,
            key,
            step,
            document["session_id"],
            step.place.sequence,
            stamp,
            step.number,
            looked,
            counted,
            body,
            tuple(layout.groups[name] for name in order),
            kind=self._world.order.kind_of(document),
        )
        echo.position = layout.number(match, "grows")
        echo.ids = frozenset(value for name, value in step.scope.items() if name not in _SHARED)
        echo.listeners = tuple(ledger for ledger in self._world.heard_by(step) if hasattr(ledger, "echo"))
        echo.free = self._sieve.free(step.type)
        echo.field_name = next(name for name, kind in fields.items() if kind == "text").encode()
        if not self._is_plain(echo, match, event_id, text):
            return
        self._echoes[key] = self._by_stream[echo.stream] = echo
        for name in echo.ids:
            self._owned.setdefault(name, {})[echo.stream] = None


def _goes_on(before: bytes, stamp: bytes) -> bool:
    """True for a time of the same day, written alike, that is not earlier."""
    return len(stamp) == len(before) and stamp[:10] == before[:10] and stamp >= before


def _escapes(text: bytes) -> int:
    """How many bytes of a text are the signs of escapes."""
    if b"\\" not in text:
        return 0
    pairs = text.count(b"\\\\")
    return pairs + text.replace(b"\\\\", b"").count(b"\\")


def _narrows(kind: str, fields: Fields, demands: Iterable[Demand]) -> Iterator[bool]:
    """Whether demands of a profile limit what may fill the holes of a type of line."""
    for demand in demands:
        yield demand.document == f"events/{kind}" and bool(demand.values) and demand.path[-1] in {*fields, *ENVELOPE}
