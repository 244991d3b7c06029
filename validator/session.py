"""The judging of one capture in one protocol under one profile."""

from __future__ import annotations

import functools

from validator.asking import Asker
from validator.capture.canonical import Canonical, Reading
from validator.capture.lines import line_errors, planted
from validator.capture.ndjson import Line
from validator.context import Context, Options
from validator.outcomes import Extent, Summing
from validator.places import load_places
from validator.protocol.profile import Profile, load_profile, shipped
from validator.protocol.protocol import Protocol
from validator.protocol.schemas import SchemaError
from validator.protocol.wildcards import fitting, is_pattern
from validator.records import replace
from validator.replay.heads import Heads
from validator.replay.step import Step
from validator.replay.world import World
from validator.report import Report
from validator.requirements import load_requirements
from validator.rules._catalog import Catalogue, compile_rules, load_rules
from validator.sharing import Share, shared
from validator.tally import Looked, Tally

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from validator.echo import Echoes

_NOTHING: dict[str, bool] = {}


class Session:
    """Shows every line to the world and to the rules it wakes; `close` sums up."""

    def __init__(
        self, file: str, protocol: Protocol, options: Options, header: dict[str, Any], share: Share | None = None
    ):
        self.file, self.protocol, self.options = file, protocol, options
        self.profile, unknown = profile_of(protocol, options, header)
        self.requirements = load_requirements(protocol)
        known = load_rules(protocol.name).values()
        self.suppressed = {rule.id for rule in known if not options.wants(rule)}
        active = tuple(rule for rule in known if rule.id not in self.suppressed and protocol.name in rule.clauses)
        if share is not None:
            # What a profile demands is told by one rule for others, so there all of them stay together.
            active = shared(active, share, whole=bool(self.profile.demands))
        self.catalogue: Catalogue = compile_rules(protocol, active)
        self.world = World(protocol, self.catalogue.ledgers)
        self.world.attention.mind(self.catalogue.given, self.catalogue.since)
        self.context = Context(
            options,
            self.level,
            find_errors=self._errors,
            canaries=options.canaries,
            schema_clauses=schema_clauses(protocol),
            schema_places=load_places(protocol),
            unknown_profile=unknown,
        )
        self.tally = Tally(file, self.world, self.level, options.max_findings_per_rule)
        self.asker = Asker(self.tally, self.world, self.context)
        self.canonical, self.heads = Canonical(protocol), Heads(self.world)
        self.events = 0
        self.echoes: Echoes | None = None

    def level(self, clause: str) -> str:
        """The weight of a clause: its keyword, unless the profile raises it."""
        requirement = self.requirements.get(clause)
        keyword = requirement.clause.level if requirement else "MUST"
        return self.profile.levels.get(clause, keyword)

    def shorten(self) -> Echoes | None:
        """Begins the short way for streamed text, where there is one."""
        from validator.echo import Echoes  # a capture of few lines goes without

        self.echoes = Echoes.fit(self)
        return self.echoes

    def take(self, line: Line) -> None:
        """Judges one line."""
        echoes = self.echoes
        if echoes is None:
            for due in self.heads.due(line):
                self._judge(due, self._event(due))
            return
        event = self._event(line)
        echoes.before(line, event)
        if event is not None and echoes.minds(line, event):
            echoes.after(line, *self._watched(line, event))
        else:
            echoes.moved(self._judge(line, event))

    def _event(self, line: Line) -> dict[str, Any] | None:
        """The event that a line is, in canonical form, where that needs no further look."""
        return self.canonical.event(line.document) if type(line.document) is dict else None

    def _watched(self, line: Line, event: dict[str, Any]) -> tuple[Step | None, Looked, list[Any]]:
        """Judges a line, and says what was looked at; there is no step when something was found."""
        tally, asker = self.tally, self.asker
        told, counted, before = tally.told, [], tally.looked
        tally.looked, asker.heard = {}, counted
        step = self._judge(line, event)
        looked, tally.looked, asker.heard = tally.looked, before, None
        tally.count(looked, 1)
        self.echoes.moved(step)
        return step if tally.told == told else None, looked, counted

    def _judge(self, line: Line, event: dict[str, Any] | None) -> Step | None:
        """Judges one line, of which the event may be known; the step it was, unless it is unreadable or several."""
        self.context.line = line
        if event is not None:
            return self._judge_event(line, event)
        if not line.readable:
            self.context.take({}, [])
            self.asker.ask(self.catalogue.on_line, Step({}, line.number, line.offset, kind="unreadable"))
            self._doubt(line)
            return None
        step = None
        for place, reading in enumerate(self.canonical.read(line.document)):
            if place:
                # How a line is written is judged with its first part.
                self.context.line = replace(line, problems=[])
            step = self._envelope(reading, line) if reading.export else self._step(reading, line)
            self.asker.ask(self.catalogue.woken_by(step), step)
            if self.tally.demanded:
                self.tally.release(step, self.context)
        if line.torn:
            self.world.doubt(line.number)
        return step if reading.at is None and not reading.export else None

    def _judge_event(self, line: Line, document: dict[str, Any]) -> Step:
        """Judges an event that needs no other reading than its own."""
        context, tally = self.context, self.tally
        context.document, context.found, context.foreign = document, None, _NOTHING
        self.events += 1
        # Read again, bytes without a problem give the same document, unless it was respelt.
        raw = line.raw if document is line.document and not line.problems else None
        step = self.world.apply(document, line.number, line.offset, raw)
        self.asker.ask(self.catalogue.woken_by(step), step)
        if tally.demanded:
            tally.release(step, context)
        if line.torn:
            self.world.doubt(line.number)
        return step

    def pass_over(self, line: Line) -> None:
        """Takes a line's place in the order into account, and nothing else that it says."""
        if not line.readable:
            self._doubt(line)
            return
        for reading in self.canonical.read(line.document):
            if not reading.export:
                self.world.pass_over(reading.document, line.number)
        if line.torn:
            self.world.doubt(line.number)

    def _doubt(self, line: Line) -> None:
        if any(problem.name != "blank-line" for problem in line.problems):
            self.world.doubt(line.number)

    def _step(self, reading: Reading, line: Line) -> Step:
        document, self.context.foreign = reading.document, reading.foreign
        self.context.take(document)
        if "record" not in document:
            self.events += 1
        elif document["record"] == "header":
            self.context.canaries += planted(document)
        # Read again, bytes without a problem give the same document.
        raw = line.raw if document is line.document and not line.problems else None
        step = self.world.apply(document, line.number, line.offset, raw)
        step.at = reading.at
        return step

    def _errors(self, document: dict[str, Any]) -> list[SchemaError]:
        found = line_errors(self.protocol, document)
        return found + self._shortfalls(document) if self.profile.demands else found

    def _shortfalls(self, document: dict[str, Any]) -> list[SchemaError]:
        """In what an event, a run record or what a snapshot holds falls short of the profile."""
        record, inner = document.get("record"), document.get("snapshot")
        if record is None:
            return list(self.profile.errors(f"events/{self.protocol.type_of(document)}", document))
        if record == "snapshot" and isinstance(inner, dict):
            kinds = (f"{folder}/{document.get('model')}" for folder in ("snapshots", "records"))
            found = (error for kind in kinds for error in self.profile.errors(kind, inner))
            return [replace(error, pointer=f"/snapshot{error.pointer}") for error in found]
        return list(self.profile.errors(f"records/{record}", document))

    def _envelope(self, reading: Reading, line: Line) -> Step:
        """What stands around the events of an export moves nothing, but has a shape and may leak."""
        self.context.foreign = {}
        found = self.protocol.store.errors(self.protocol.records[reading.export], reading.document)
        self.context.take(reading.document, found)
        return Step(reading.document, line.number, line.offset, reading.at, "export", reading.export)

    def end(self, extent: Extent) -> None:
        """Asks the rules that wait for the end, and counts what was looked at."""
        if self.echoes is not None:
            self.echoes.settle()
        for line in self.heads.rest():
            self._judge(line, self._event(line))
        self.context.cut = extent.cut or bool(extent.damage)
        if self.context.cut:
            # What the lost end told is unknown, so nothing that might stand in it is missing.
            self.world.cut(extent.lines)
        self.asker.ask(self.catalogue.at_end, None)
        self.asker.settle()
        self.tally.settle(self.protocol.name)

    def report(self, extent: Extent) -> Report:
        """Sums up."""
        extent = replace(extent, events=self.events)
        summing = Summing(self.context, self.profile, self.requirements, self.suppressed, self.world, self.tally)
        outcomes = summing.outcomes()
        unmet = tuple(summing.unmet(outcomes))
        incomplete = (*summing.incomplete(extent), *unmet)
        verdict = summing.verdict(extent, incomplete)
        return Report(
            file=self.file,
            protocol=self.protocol.id,
            profile=self.profile.name,
            profile_digest=self.profile.digest,
            verdict=verdict,
            lines=extent.lines,
            events=extent.events,
            findings=tuple(sorted(self.tally.findings, key=lambda entry: (entry.line, entry.rule, entry.pointer))),
            counts=dict(sorted(self.tally.counts.items())),
            looks=dict(sorted(self.tally.rule_looks.items())),
            requirements=outcomes,
            incomplete=() if verdict == "unreadable" else incomplete,
            unmet=unmet,
            crashes=tuple(self.tally.crashes),
            fail_on=self.options.fail_on,
        )


def profile_of(protocol: Protocol, options: Options, header: dict[str, Any]) -> tuple[Profile, bool]:
    """The caller's profile, else the one the header claims, else the default; and whether the claim is unknown.

    A header names a shipped profile and never a path: a capture does not choose which files are read.
    """
    if options.profile is not None:
        return load_profile(protocol, options.profile), False
    claim = header.get("profile")
    if not isinstance(claim, str):
        return load_profile(protocol), False
    known = claim in shipped(protocol)
    return load_profile(protocol, claim if known else "default"), not known


@functools.lru_cache(maxsize=16)
def schema_clauses(protocol: Protocol) -> dict[str, tuple[str, ...]]:
    """Document kind to the clauses that its schema alone judges."""
    found: dict[str, list[str]] = {}
    for requirement in load_requirements(protocol).values():
        for kind in requirement.by if requirement.way == "schema" else ():
            found.setdefault(kind, []).append(requirement.id)
    named = {kind: [kind] for kind in protocol.references()}
    for word in filter(is_pattern, found):
        for kind in fitting(word, named):
            named[kind].append(word)
    return {
        kind: tuple(dict.fromkeys(clause for word in words for clause in found.get(word, ())))
        for kind, words in named.items()
    }
