"""One capture judged by several processes, each of which judges sessions of its own.

Everybody cuts the whole capture into lines, and finds in the bytes of each which session it names. Lines of its own
sessions are judged in full, under the numbers they have; the others are passed by. Whatever the bytes say, the one who
judges a line reads it, and looks whether it really is an event of that session and type: where not, nothing is judged
apart (`InseparableError`), and the caller judges the capture in another way. So a quick look at the bytes can be wrong
and the report cannot.

What is judged apart is what would be judged together only as far as sessions have nothing to do with one another. That
is seen at the end, when everybody tells what it met:

* No event id, and no id of anything that events speak about, is met in sessions of two processes (`names.py`). State
  tables, ledgers and rules join events by such ids and by nothing else.
* An event lacks no id that its family has to carry: without one it would be joined with others that lack it.
* Ledgers keep entries by ids and lines alone, and forget by ids and lines alone (`world.py`). The few that do not
  `overhear` events of other sessions, or `tell` at the end what they know and `hear` what the others know, and say no
  when that could not be enough. `tests/conformance/test_apart.py` lists every ledger, and why it is safe.
* What a rule or ledger asks about all sessions at once makes the world `mingled`, and nothing is judged apart.
* Lines that cannot be read or have something wrong with how they are written, records other than the header, lines that
  name no session and names in another casing than that of the first event concern all sessions, and nothing is judged
  apart.
* Who still sleeps (`hearing.py`) learns nothing and says nothing until what it waits for comes, and that it came in
  another session is nothing to it.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

from validator.asking import Asker
from validator.capture.encode import unpack
from validator.capture.ndjson import Line
from validator.context import Options
from validator.echo import Echoes
from validator.engine import Validator
from validator.joining import Dated, InseparableError, Opened, Seal, Verdict, merged, summed
from validator.names import names, names_more
from validator.outcomes import Extent
from validator.protocol import casing
from validator.protocol.clauses import LEVELS
from validator.protocol.glance import glance, remembered
from validator.protocol.protocol import Protocol
from validator.protocol.wildcards import fitting
from validator.records import dataclass
from validator.replay import world as worlds
from validator.replay.order import Order
from validator.replay.readmodels.agent_runtime.recall import Replay
from validator.replay.seen import short
from validator.replay.step import Step
from validator.replay.subject import Subject
from validator.report import Report
from validator.samples import SESSIONS
from validator.session import Session
from validator.sharing import part_of

PROTOCOL = "agent-runtime"
"""The one protocol whose ledgers are known to keep sessions apart."""
OBSERVED = ("quota.blocked", "task.attempt.started")
"""Event types that rules ask for in all of the capture."""
COUNTS_REPEATS = "SNP001"
"""The rule that tells the replay of events that were delivered again."""
_TYPE = b'"type":'
_AFTER_TYPE = len(_TYPE)
_MOST = 1 << 16
"""Sessions of a capture, and kinds of events, that are told apart."""
_UNSORTED = 1 << 14
"""Ids that are remembered as they are; of the others a digest stays."""


@dataclass(slots=True)
class Stream:
    """A session, and who judges it."""

    name: str
    owner: int


class _Own(Session):
    """The judging of some sessions of a capture."""

    def __init__(self, file: str, protocol: Protocol, options: Options, header: dict[str, Any], first: bool):
        super().__init__(file, protocol, options, header)
        self._first = first
        self.tally = Dated(file, self.world, self.level, options.max_findings_per_rule)
        self.asker = Asker(self.tally, self.world, self.context)
        self.echoes = Echoes.fit(self)
        self.world.fold._open = {name: Opened() for name in protocol.machines}
        self._named, self._digests = set[str](), array("Q")
        self._placeless = False
        self._elsewhere = Order(protocol)
        """Events of other sessions that were overheard; one that comes again is not heard again."""
        self._wanted: dict[str | None, tuple[frozenset[str], frozenset[str]]] = {}
        self._ledgers = [self.world.ledger(kind) for kind in self.catalogue.ledgers]
        replays = Replay in self.catalogue.ledgers
        self.replay: Replay | None = self.world.ledger(Replay) if replays else None
        self._counts_repeats = not replays or any(rule.id == COUNTS_REPEATS for rule in self.catalogue.rules)

    # Lines of its own sessions.

    def take_header(self, line: Line) -> None:
        """Takes in the header; everybody does, and only the first says what is to be said about it."""
        tally, asker = self.tally, self.asker
        if not self._first:
            self.tally = Dated(self.file, self.world, self.level, 0)
            self.asker = Asker(self.tally, self.world, self.context)
        self.take(line)
        if self.tally.crashed:
            raise InseparableError
        self.tally, self.asker = tally, asker

    def _judge(self, line: Line, event: dict[str, Any] | None) -> Step | None:
        step = super()._judge(line, event)
        if step is None or self.context.foreign:
            raise InseparableError
        if step.kind == "event":
            self._note(step)
        return step

    def _note(self, step: Step) -> None:
        """Remembers what an event names."""
        world, scope = self.world, step.scope
        world.began = world.began or step.number
        if step.repeats is not None:
            world.mingled |= not self._counts_repeats
            return
        must, some = self._wanted.get(step.type) or self._want(step.type)
        if not must <= scope.keys() or (some and some.isdisjoint(scope)):
            raise InseparableError
        named = self._named
        if remembered(names_more, glance(step.line)[0]):
            named.update(names(step.line))
        else:
            named.update(scope.values())
        if len(named) > _UNSORTED:
            self._digest()
        if world.fold.faded.any:
            subjects = world.fold.subjects
            self._placeless |= not all(subjects[move.machine][move.subject].scope for move in step.moves)

    def _want(self, kind: str | None) -> tuple[frozenset[str], frozenset[str]]:
        """The ids that events of a type have to carry: all of some, and one of others."""
        protocol = self.protocol
        carries = protocol.families.get(protocol.family_of.get(kind or "", ""), {}).get("carries", {})
        some = frozenset(carries.get("any", ())) & protocol.identities.keys()
        found = frozenset(carries.get("must", ())), some
        if kind in protocol.events:
            self._wanted[kind] = found
        return found

    def _digest(self) -> None:
        self._digests.extend(map(short, self._named))
        self._named.clear()

    # Lines of others.

    def fade(self, number: int) -> None:
        """Forgets what is over and was not heard of lately, at a line that somebody else judges."""
        self._settle()
        self.world._fade(number)

    def _settle(self) -> None:
        if self.echoes is not None:
            self.echoes.settle()

    def listeners(self, kind: str) -> tuple[Callable[[Step], None], ...]:
        """Who overhears events of a type in other sessions."""
        words = ((one, word) for one in self._ledgers for word in getattr(one, "overhears", ()))
        found = dict.fromkeys(one for one, word in words if fitting(word, (kind,)))
        return (*(one.overhear for one in found), *((self._observe,) if kind in OBSERVED else ()))

    def _observe(self, step: Step) -> None:
        self.world.observed_types.setdefault(str(step.type), 0)

    def overhear(self, raw: bytes, number: int, kind: str, listeners: tuple[Callable[[Step], None], ...]) -> None:
        """Shows an event of another session to those whom it concerns all the same."""
        try:
            document = unpack(raw)
        except ValueError as error:
            raise InseparableError from error
        (reading,) = self.canonical.read(document)
        if reading.foreign:
            raise InseparableError
        document = reading.document
        if self._elsewhere.meet(document, number)[0] is None:
            self._settle()
            step = Step(document, number, type=kind, scope=self.protocol.lens.scope(document))
            for listen in listeners:
                listen(step)

    # The end.

    def seal(self) -> Seal:
        """What the others have to know of these sessions before the end."""
        self._settle()
        if self.tally.crashed:
            raise InseparableError
        self._digest()
        seen = self.world.order.seen
        told = {_name(one): one.tell() for one in self._ledgers if hasattr(one, "tell")}
        events = b"".join(keys.tobytes() for keys in seen._keys)
        return Seal(self._digests.tobytes(), events, self.world.tell(), told, self.world.mingled, self._placeless)

    def hear(self, seals: list[Seal]) -> bool:
        """Takes in what all know; False when that does not tell what they would know together."""
        self.world.hear(seal.doubt for seal in seals)
        answers = [
            one.hear([seal.told[_name(one)] for seal in seals], self._first)
            for one in self._ledgers
            if hasattr(one, "hear")
        ]
        return all(answers)

    def verdict(self, agrees: bool) -> Verdict:
        fold, machines = self.world.fold, self.protocol.machines
        opened = [
            (subjects.since[key], subject)
            for name, subjects in fold._open.items()
            if machines[name].work
            for key, subject in subjects.items()
        ]
        return Verdict(part_of(self.tally), self.tally.dates, self.events, self.world.observed_types, opened, agrees)

    def adopt(self, verdicts: list[Verdict]) -> None:
        """Takes what all found for its own."""
        tally = self.tally
        tally.findings = merged(verdicts, self.options.max_findings_per_rule)
        for name in ("counts", "looks", "rule_looks"):
            setattr(tally, name, summed(getattr(verdict.part, name) for verdict in verdicts))
        clauses = dict.fromkeys(clause for verdict in verdicts for clause in verdict.part.failed)
        tally.failed = {c: summed(verdict.part.failed.get(c, {}) for verdict in verdicts) for c in clauses}
        tally.weights = {}
        for clause, level in (entry for verdict in verdicts for entry in verdict.part.weights.items()):
            tally.weights[clause] = max(tally.weights.get(clause, level), level, key=LEVELS.index)
        self.events = sum(verdict.events for verdict in verdicts)
        self.world.observed_types = summed(verdict.observed for verdict in verdicts)
        opened: dict[str, dict[str, Subject]] = {name: {} for name in self.protocol.machines}
        everything = (entry for verdict in verdicts for entry in verdict.opened)
        for _, subject in sorted(everything, key=lambda entry: entry[0]):
            opened[subject.machine][subject.key] = subject
        self.world.fold._open = opened


class Reader(Validator):
    """Judges the sessions of a capture that fall to one of several judges."""

    def __init__(
        self, file: str, options: Options, index: int, count: int, stopped: Callable[[], bool] = lambda: False
    ):
        super().__init__(file, options)
        self._index, self._stopped = index, stopped
        self._mark = SESSIONS["snake_case"]
        self._signs: dict[bytes, Stream] = {}
        self._streams: dict[str, Stream] = {}
        self._loads = [0] * count
        self._kinds: dict[bytes, tuple[str, tuple[Callable[[Step], None], ...]]] = {}
        self._extent: Extent | None = None

    def feed(self, data: bytes | str) -> None:
        if self._stopped():
            raise InseparableError
        super().feed(data)

    def seal(self) -> Seal:
        """Reads the capture to its end; says what the other judges have to know."""
        self._extent = self._read_rest()
        if self._session is None or not self._extent.readable:
            raise InseparableError
        return self._session.seal()

    def finish(self, seals: list[Seal]) -> Verdict:
        """Judges the end, with what all met; says what was found."""
        agrees = self._session.hear(seals)
        self._session.end(self._extent)
        return self._session.verdict(agrees)

    def report_of(self, verdicts: list[Verdict]) -> Report:
        """The report of the whole capture."""
        if not all(verdict.agrees for verdict in verdicts) or any(verdict.part.crashes for verdict in verdicts):
            raise InseparableError
        self._session.adopt(verdicts)
        return self._session.report(self._extent)

    def _open(self, header: dict[str, Any]) -> None:
        if self._protocol.name != PROTOCOL or self.options.lines:
            raise InseparableError
        self._session = _Own(self.file, self._protocol, self.options, header, self._index == 0)
        self._splitter.passes, self._splitter.passes_on = self._passes, self._pass_on
        waiting, self._waiting = self._waiting, []
        for line in waiting:
            self._show(line)

    def _shorten(self) -> None:
        """Changes nothing: here lines are passed by from the first on."""

    def _passes(self, raw: bytes, number: int, offset: int) -> bool:
        """True for a line that is judged the short way, or by somebody else."""
        mark = self._mark
        start = raw.find(mark) + len(mark)
        stream = self._signs.get(raw[start : raw.find(b'"', start + 2)]) or self._find(raw)
        if stream is None:
            return False
        if stream.owner == self._index:
            echoes = self._session.echoes
            if echoes is None or not echoes.take(raw, number, offset):
                return False
            self._loads[stream.owner] += 1
            return True
        self._pass(stream, raw, number)
        return True

    def _pass_on(self, data: bytes, start: int, number: int, offset: int) -> tuple[int, int]:
        """The same of lines that follow one of its own, or none; all of them name the same session."""
        echoes = self._session.echoes
        if echoes is None or not echoes.is_latest(number - 1):
            return 0, start
        count, end = echoes.take_row(data, start, number, offset)
        self._loads[self._index] += count
        return count, end

    def _find(self, raw: bytes) -> Stream | None:
        """The session that a line names first; None for a line that names none."""
        start = raw.find(self._mark) + len(self._mark)
        if start < len(self._mark):
            return None
        sign = raw[start : raw.find(b'"', start + 2)]
        text = sign.lstrip()
        if text[:1] != b'"' or len(text) < 2 or b'"' in text[1:] or b"\\" in text or len(self._signs) >= _MOST:
            raise InseparableError
        try:
            name = text[1:].decode()
        except UnicodeDecodeError as error:
            raise InseparableError from error
        stream = self._streams.get(name)
        if stream is None:
            # Whoever has had least to do; everybody finds the same, because everybody has seen the same lines.
            stream = self._streams[name] = Stream(name, self._loads.index(min(self._loads)))
        self._signs[sign] = stream
        return stream

    def _kind(self, raw: bytes) -> tuple[str, tuple[Callable[[Step], None], ...]]:
        """The type that a line names first, and who overhears such events."""
        start = raw.find(_TYPE) + _AFTER_TYPE
        sign = raw[start : raw.find(b'"', start + 2)]
        found = self._kinds.get(sign)
        if found is None:
            text = sign.lstrip()
            told = start >= _AFTER_TYPE and text[:1] == b'"' and b"\\" not in text and text.isascii()
            if not told or len(self._kinds) >= _MOST:
                raise InseparableError
            kind = text[1:].decode()
            found = self._kinds[sign] = (kind, self._session.listeners(kind))
        return found

    def _pass(self, stream: Stream, raw: bytes, number: int) -> None:
        """Takes a line into account that somebody else judges."""
        session = self._session
        self._loads[stream.owner] += 1
        if number - session.world.faded_at >= worlds.RECENT:
            session.fade(number)
        start = raw.find(_TYPE) + _AFTER_TYPE
        kind, listeners = self._kinds.get(raw[start : raw.find(b'"', start + 2)]) or self._kind(raw)
        if listeners:
            session.overhear(raw, number, kind, listeners)
        if session.replay is not None:
            if session.echoes is not None:
                session.echoes.show_pending()
            session.replay.pass_by(stream.name)

    def _show(self, line: Line) -> None:
        raw = line.raw
        if not line.readable or line.problems or raw is None:
            raise InseparableError
        document = line.document
        if not self._streams and "record" not in document:
            # The first event tells in which casing names are written.
            self._mark = SESSIONS[casing.detect(document) or "snake_case"]
        stream = self._find(raw)
        if stream is None and line.number == 1 and document.get("record") == "header":
            self._session.take_header(line)
            return
        if stream is None:
            raise InseparableError
        if stream.owner != self._index:
            self._pass(stream, raw, line.number)
            return
        told = (document.get(self._mark[1:-2].decode()), document.get("type"))
        if "record" in document or told != (stream.name, self._kind(raw)[0]):
            raise InseparableError
        self._loads[stream.owner] += 1
        self._session.take(line)


def _name(ledger: Any) -> str:
    return f"{type(ledger).__module__}.{type(ledger).__qualname__}"
