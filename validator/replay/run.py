"""Replays a capture to its end, or to a place in it, and says what it amounts to there.

The replay does not judge. It reads lines as the judge does, applies the state tables, and rebuilds read models; what
it cannot prove after a gap, an unreadable line or a cut is stale or unknown in them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

from validator.capture.canonical import Canonical
from validator.capture.detect import protocol_of
from validator.capture.lines import planted
from validator.capture.ndjson import Limits, Line, Splitter
from validator.errors import CaptureError, UsageError
from validator.protocol.protocol import Protocol, load_protocol
from validator.redact import mask
from validator.replay.documents import Document, documents, ledgers
from validator.replay.heads import Heads
from validator.replay.place import Target, parse
from validator.replay.world import World

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller asks for."""

    protocol: str | None = None
    at: str | None = None
    line: int | None = None
    models: tuple[str, ...] = ()
    id: str | None = None
    every_scope: bool = False
    """Also documents limited to less than the widest thing their model can speak about."""
    canaries: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Replayed:
    """A capture as it stands at one place."""

    file: str
    protocol: Protocol | None
    line: int = 0
    """The last line taken in."""
    stream: str | None = None
    sequence: int | None = None
    """The sequence asked for, and its stream."""
    lines: int = 0
    events: int = 0
    unreadable: int = 0
    refused: int = 0
    """Moves that no row allows; they moved nothing."""
    cut: bool = False
    """The last line is half a line."""
    told: bool = False
    """A line of a kind that the protocol lists was taken in."""
    states: dict[str, dict[str, str]] = field(default_factory=dict)
    doubted: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Subjects of which nothing was heard since a line was lost."""
    documents: tuple[Document, ...] = ()
    canaries: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """4 when nothing could be read, 3 when nothing was told or the end is cut, else 0."""
        if (self.lines or self.cut) and self.lines == self.unreadable:
            return 4
        return 3 if self.cut or not self.told else 0


def replay(stream: BinaryIO, options: Options | None = None, file: str = "-") -> Replayed:
    """Replays a whole capture, or the part before the place asked for."""
    run = _Run(options or Options(), file)
    splitter = Splitter(run.options.limits)
    try:
        while data := stream.read(_CHUNK):
            for line in splitter.feed(data):
                run.take(line)
    except CaptureError:  # what stands before the damage is replayed
        run.cut = run.folding is None or not run.folding.reached
    for line in splitter.close():
        run.take(line)
    return run.close()


class _Run:
    """The replay of one capture; lines wait until its protocol is known."""

    def __init__(self, options: Options, file: str):
        self.options, self.file = options, file
        self.target: Target = parse(options.at, options.line)
        self.waiting: list[Line] = []
        self.lines = self.unreadable = 0
        self.cut = False
        """The bytes end because the rest of them cannot be had."""
        self.folding = None if options.protocol is None else self._open(load_protocol(options.protocol))

    def _open(self, protocol: Protocol) -> _Folding:
        unknown = [name for name in self.options.models if name not in protocol.snapshots]
        if unknown:
            reason = f"{protocol.id} has no read model {unknown[0]!r}"
            raise UsageError(reason, hint=f"known: {', '.join(protocol.snapshots)}")
        return _Folding(protocol, self.target, self.options.canaries)

    def take(self, line: Line) -> None:
        """Takes one line in."""
        self.lines += 1
        self.unreadable += not line.readable
        if self.folding is not None:
            self.folding.take(line)
            return
        self.waiting.append(line)
        found = protocol_of(line.document) if line.readable else None
        if found:
            self.folding = self._open(found)
            for early in self.waiting:
                self.folding.take(early)
            self.waiting.clear()

    def close(self) -> Replayed:
        """Ends the capture and builds what was asked for."""
        folding = self.folding
        if folding is not None:
            folding.end()
        if folding and self.cut:
            folding.world.doubt(self.lines + 1)
        canaries = folding.canaries if folding else self.options.canaries
        self.target.check(folding is not None and folding.reached, self.lines, canaries)
        whole = Replayed(self.file, None, lines=self.lines, unreadable=self.unreadable, cut=self.cut, canaries=canaries)
        return replace(whole, **self._fields(folding)) if folding else whole

    def _fields(self, folding: _Folding) -> dict[str, Any]:
        world, key = folding.world, self.options.id
        states, doubted = _states(world), _doubted(world)
        told = bool(states) or not world.protocol.events.keys().isdisjoint(world.observed_types)
        found = tuple(document for document in documents(world) if self._wanted(document))
        if key is not None:
            states, doubted = _of(states, key), _of(doubted, key)
            if not found and not states:
                raise UsageError(f"nothing up to there is called {mask(key, folding.canaries)!r}")
        return {
            "protocol": world.protocol,
            "line": folding.line,
            "stream": folding.stream,
            "sequence": self.target.sequence,
            "events": folding.events,
            "refused": folding.refused,
            "cut": folding.cut or self.cut,
            "told": told,
            "states": states,
            "doubted": {machine: tuple(keys) for machine, keys in doubted.items()},
            "documents": found,
        }

    def _wanted(self, document: Document) -> bool:
        wish = self.options
        if wish.models and document.model not in wish.models:
            return False
        if wish.id is not None:
            return wish.id in (document.ids if wish.every_scope else document.ids[-1:])
        return wish.every_scope or not document.narrow


class _Folding:
    """The lines of a capture on their way into the world, up to the place asked for."""

    def __init__(self, protocol: Protocol, target: Target, canaries: tuple[str, ...]):
        self.world = World(protocol, ledgers(protocol.name))
        self.target, self.canaries = target, canaries
        self.canonical, self.heads = Canonical(protocol), Heads(self.world)
        self.line = self.events = self.refused = 0
        self.cut = self.reached = False
        self.stream: str | None = None

    def take(self, line: Line) -> None:
        """Takes one line in, and what waited for it; beyond the place asked for, only sequences are noted."""
        for due in self.heads.due(line):
            self._fold(due)
        if not self.reached:
            self.line = line.number
            self.reached = line.number == self.target.line

    def end(self) -> None:
        """Takes in what waited for the end."""
        for line in self.heads.rest():
            self._fold(line)

    def _fold(self, line: Line) -> None:
        if not line.readable:
            self._lost(line)
        for reading in self.canonical.read(line.document) if line.readable else ():
            self._read(reading.document, line)
        if line.torn and not self.reached:
            self.world.doubt(line.number)

    def _read(self, document: dict[str, Any], line: Line) -> None:
        hit = "record" not in document and self._meets(document)
        if not self.reached:
            self.line = max(self.line, line.number)
            self._apply(document, line)
        self.reached = self.reached or hit

    def _lost(self, line: Line) -> None:
        """What an unreadable line told is lost; a last one without a line feed was cut."""
        if self.reached:
            return
        names = {problem.name for problem in line.problems}
        self.cut = not line.ended and bool(names & {"not-json", "not-utf8"})
        if names != {"blank-line"}:
            self.world.doubt(line.number)

    def _meets(self, event: dict[str, Any]) -> bool:
        stream, sequence = self.world.order.stream(event), self.world.protocol.lens.get(event, "sequence")
        counted = sequence if isinstance(sequence, int) and not isinstance(sequence, bool) else None
        hit = self.target.meets(stream, counted)
        if hit and not self.reached:
            self.stream = stream
        return hit

    def _apply(self, document: dict[str, Any], line: Line) -> None:
        if document.get("record") == "header":
            self.canaries += planted(document)
        step = self.world.apply(document, line.number, line.offset)
        self.events += step.kind == "event"
        self.refused += len(step.refusals)


def _states(world: World) -> dict[str, dict[str, str]]:
    found = {
        name: {key: subject.state for key, subject in world.subjects(name).items()} for name in world.protocol.machines
    }
    return {name: subjects for name, subjects in found.items() if subjects}


def _doubted(world: World) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for subject in world.fold.open_subjects():
        if subject.doubted:
            found.setdefault(subject.machine, {})[subject.key] = subject.state
    return found


def _of(states: dict[str, dict[str, str]], key: str) -> dict[str, dict[str, str]]:
    return {name: {key: subjects[key]} for name, subjects in states.items() if key in subjects}
