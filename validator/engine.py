"""The judge: lines in, a report out.

A pure function of bytes. `validate` reads a whole stream; `Validator` is the same machine fed by hand, line by line or
in chunks of any size, with the same result.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

from validator import redact
from validator.capture.lines import line_errors
from validator.capture.ndjson import Limits, Line, Splitter
from validator.errors import UsageError
from validator.protocol import casing
from validator.protocol.clauses import LEVELS
from validator.protocol.profile import Profile, load_profile
from validator.protocol.protocol import Protocol, available, load_capabilities, load_protocol
from validator.protocol.schemas import SchemaError
from validator.replay.step import Step
from validator.replay.world import World
from validator.report import Crash, Outcome, Report
from validator.requirements import Requirement, load_requirements
from validator.rules import Finding, Rule, Seen
from validator.rules._catalog import Catalogue, compile_rules, load_rules

FRAMING_AND_SCHEMA = ("FRM", "SCH")


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller asks for; options beat the header."""

    protocol: str | None = None
    profile: str = "default"
    expect: str | None = None
    """complete or prefix."""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: str = "MUST"
    canaries: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    max_findings_per_rule: int = 100


@dataclass(slots=True)
class Context:
    """What rules may ask beside the world: the line as it was read, its schema errors, and the caller's wishes."""

    options: Options
    line: Line | None = None
    errors: list[SchemaError] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    """Declared properties in the casing the capture is not written in."""
    canaries: tuple[str, ...] = ()
    schema_clauses: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Document kind to the clauses that its schema alone judges."""


class Validator:
    """Judges one capture; `feed` it bytes, then `close` it for the report."""

    def __init__(self, file: str = "-", options: Options | None = None):
        self.options = options or Options()
        self.file = file
        self._splitter = Splitter(self.options.limits)
        self._waiting: list[Line] = []
        self._protocol: Protocol | None = None
        self._session: _Session | None = None
        self._lines = 0
        self._readable = 0
        self._cut = False
        if self.options.protocol:
            self._open(load_protocol(self.options.protocol))

    def feed(self, data: bytes | str) -> None:
        """Takes bytes, or one line of text without its line feed."""
        raw = data.encode("utf-8", "surrogatepass") + b"\n" if isinstance(data, str) else data
        for line in self._splitter.feed(raw):
            self._take(line)

    def close(self) -> Report:
        """Ends the capture and says what it amounts to."""
        for line in self._splitter.close():
            if not line.readable and any(problem.name in {"not-json", "not-utf8"} for problem in line.problems):
                self._cut = True
                self._lines += 1
            else:
                self._take(line)
        if self._session is None:
            return self._undetected()
        return self._session.close(self._lines, self._readable, self._cut)

    def _take(self, line: Line) -> None:
        self._lines += 1
        self._readable += line.readable
        if self._session is None:
            self._waiting.append(line)
            if line.readable:
                found = detect(line.document)
                if found:
                    self._open(load_protocol(found))
            return
        self._session.take(line)

    def _open(self, protocol: Protocol) -> None:
        self._session = _Session(self.file, protocol, self.options)
        waiting, self._waiting = self._waiting, []
        for line in waiting:
            self._session.take(line)

    def _undetected(self) -> Report:
        reasons = ["the capture is empty"] if not self._lines else ["no line names or looks like a protocol we know"]
        if self._cut:
            reasons.append("the last line is cut")
        verdict = "unreadable" if self._lines and not self._readable else "incomplete"
        incomplete = () if verdict == "unreadable" else tuple(reasons)
        return Report(self.file, None, None, None, verdict, self._lines, 0, (), incomplete=incomplete)


def detect(document: dict[str, Any]) -> str | None:
    """The protocol a line names (a header) or looks like (an event); None when it cannot be told."""
    if document.get("record") == "header":
        name, version = document.get("protocol"), document.get("version")
        known = [f"{name}/{version}", str(name)]
        matches = [entry for entry in available() if entry in known or entry.split("/")[0] in known]
        return matches[-1] if matches else None
    for entry in available():
        protocol = load_protocol(entry)
        for keys in protocol.data["detect"]:
            forms = [keys, [casing.camel(key) for key in keys]] if protocol.bindings else [keys]
            if any(all(key in document for key in form) for form in forms):
                return entry
    return None


def validate(stream: BinaryIO, file: str = "-", options: Options | None = None) -> Report:
    """Judges a whole capture."""
    judge = Validator(file, options)
    while data := stream.read(1 << 16):
        judge.feed(data)
    return judge.close()


class _Session:
    """The judging of one capture in one protocol under one profile."""

    def __init__(self, file: str, protocol: Protocol, options: Options):
        self.file, self.protocol, self.options = file, protocol, options
        self.profile: Profile = load_profile(protocol, options.profile)
        self.requirements = load_requirements(protocol)
        self.suppressed = {rule.id for rule in load_rules().values() if not _wanted(rule, options)}
        active = tuple(rule for rule in load_rules().values() if rule.id not in self.suppressed)
        self.catalogue: Catalogue = compile_rules(protocol, active)
        self.world = World(protocol, (ledger for rule in self.catalogue.rules for ledger in rule.ledgers))
        self.context = Context(options, canaries=options.canaries, schema_clauses=self._schema_clauses())
        self.findings: list[Finding] = []
        self.counts: dict[str, int] = {}
        self.failed: dict[str, dict[str, int]] = {}
        self.looks: dict[str, int] = {}
        self.rule_looks: dict[str, int] = {}
        self.crashes: list[Crash] = []
        self.crashed: set[str] = set()
        self.casing: str | None = None
        self.events = 0

    def _schema_clauses(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for requirement in self.requirements.values():
            for kind in requirement.by if requirement.way == "schema" else ():
                found.setdefault(kind, []).append(requirement.id)
        kinds = self.protocol.references()
        named = {kind: [kind, *(word for word in found if fnmatch.fnmatchcase(kind, word))] for kind in kinds}
        return {
            kind: tuple(dict.fromkeys(clause for word in words for clause in found.get(word, ())))
            for kind, words in named.items()
        }

    def take(self, line: Line) -> None:
        """Judges one line."""
        self.context.line = line
        step = self._step(line) if line.readable else Step({}, line.number, line.offset, kind="unreadable")
        for rule in self.catalogue.on_line:
            self._ask(rule, step)
        if not line.readable:
            if any(problem.name != "blank-line" for problem in line.problems):
                self.world.doubt(line.number)
            return
        if step.repeats is not None:
            rules = tuple(rule for rule in self.catalogue.rules if "repeat" in rule.on)
        elif step.kind == "event":
            rules = self.catalogue.for_event(step.type)
        else:
            rules = self.catalogue.by_record.get(step.kind, ())
        for rule in rules:
            self._ask(rule, step)

    def _step(self, line: Line) -> Step:
        document = self._canonical(line.document)
        self.context.errors = line_errors(self.protocol, document)
        if "record" not in document:
            self.events += 1
            kind = f"events/{self.protocol.type_of(document)}"
            self.context.errors += list(self.profile.errors(kind, document))
        elif document.get("record") == "header":
            words = document.get("canaries")
            self.context.canaries += tuple(
                word for word in (words if isinstance(words, list) else ()) if isinstance(word, str)
            )
        return self.world.apply(document, line.number, line.offset)

    def _canonical(self, document: dict[str, Any]) -> dict[str, Any]:
        self.context.foreign = []
        if "record" in document or not self.protocol.bindings:
            return document
        if self.casing is None:
            self.casing = casing.detect(document)
        if self.casing != "camelCase":
            return document
        kind = document.get("type")
        reference = self.protocol.schema_for(kind if isinstance(kind, str) else None)
        converted = casing.to_canonical(self.protocol.store, reference, document)
        self.context.foreign = converted.foreign
        return converted.document

    def _ask(self, rule: Rule, step: Step | None) -> None:
        if rule.id in self.crashed:
            return
        clauses = rule.clauses[self.protocol.name]
        try:
            for answer in rule.check(step, self.world, self.context):
                self.rule_looks[rule.id] = self.rule_looks.get(rule.id, 0) + 1
                if isinstance(answer, Seen):
                    for clause in answer.clauses or clauses:
                        self.looks[clause] = self.looks.get(clause, 0) + 1
                else:
                    self._report(rule, step, answer)
        except Exception as error:  # a rule's own fault is reported, never hidden
            self.crashed.add(rule.id)
            self.crashes.append(Crash(rule.id, step.number if step else self.world.last_line, type(error).__name__))

    def _report(self, rule: Rule, step: Step | None, found: Finding) -> None:
        clause = found.clause or rule.clauses[self.protocol.name][0]
        self.looks[clause] = self.looks.get(clause, 0) + 1
        per_rule = self.failed.setdefault(clause, {})
        per_rule[rule.id] = per_rule.get(rule.id, 0) + 1
        self.counts[rule.id] = self.counts.get(rule.id, 0) + 1
        if self.counts[rule.id] > self.options.max_findings_per_rule:
            return
        own = step is not None and found.line == step.number
        lens = self.protocol.lens
        event = step.line if own and step is not None and step.kind == "event" else {}
        sequence, event_id = lens.get(event, "sequence"), lens.get(event, "event_id")

        def mask(text: str) -> str:
            return redact.mask(text, self.context.canaries)

        self.findings.append(
            replace(
                found,
                pointer=mask(found.pointer),
                expected=mask(found.expected),
                actual=mask(found.actual),
                entity=(found.entity[0], mask(found.entity[1])) if found.entity else None,
                clause=clause,
                rule=rule.id,
                level=self.level(clause),
                file=self.file,
                fix=found.fix or rule.fix,
                offset=step.offset if own and step is not None else None,
                sequence=sequence if isinstance(sequence, int) else None,
                event_id=mask(event_id) if isinstance(event_id, str) else None,
                event_type=step.type if own and step is not None else None,
                witness=tuple(sorted(set(found.witness) - {found.line})),
            )
        )

    def level(self, clause: str) -> str:
        """The weight of a clause: its keyword, unless the profile raises it."""
        requirement = self.requirements.get(clause)
        keyword = requirement.clause.level if requirement else "MUST"
        return self.profile.levels.get(clause, keyword)

    def close(self, lines: int, readable: int, cut: bool) -> Report:
        """Asks the rules that wait for the end, and sums up."""
        for rule in self.catalogue.at_end:
            self._ask(rule, None)
        off = self._switched_off()
        outcomes = tuple(self._outcome(requirement, off) for requirement in self.requirements.values())
        incomplete = tuple(self._incomplete(lines, cut, outcomes))
        verdict = self._verdict(lines, readable, incomplete)
        return Report(
            file=self.file,
            protocol=self.protocol.id,
            profile=self.profile.name,
            profile_digest=self.profile.digest,
            verdict=verdict,
            lines=lines,
            events=self.events,
            findings=tuple(sorted(self.findings, key=lambda entry: (entry.line, entry.rule, entry.pointer))),
            counts=dict(sorted(self.counts.items())),
            looks=dict(sorted(self.rule_looks.items())),
            requirements=outcomes,
            incomplete=() if verdict == "unreadable" else incomplete,
            crashes=tuple(self.crashes),
            fail_on=self.options.fail_on,
        )

    def _verdict(self, lines: int, readable: int, incomplete: tuple[str, ...]) -> str:
        weight = LEVELS.index(self.options.fail_on)
        if lines and not readable:
            return "unreadable"
        if any(LEVELS.index(self.level(clause)) >= weight for clause in self.failed):
            return "violations"
        return "incomplete" if incomplete else "conformant"

    def _incomplete(self, lines: int, cut: bool, outcomes: tuple[Outcome, ...]) -> Iterable[str]:
        if not self.events and not any(self.world.observed_types):
            yield "the capture is empty" if not lines else "no event was seen"
        elif self.events and not self.world.observed_types.keys() & self.protocol.events.keys():
            yield "no event of a type that the protocol lists was seen"
        if cut:
            yield "the last line is cut"
        expected = self.options.expect or self.world.header.get("completeness")
        if expected != "prefix":
            for subject in self.world.fold.open_work():
                if not subject.doubted:
                    key = redact.mask(subject.key, self.context.canaries)
                    yield f"{subject.machine} {key} is still {subject.state}"
        judged = sum(entry.outcome in {"pass", "fail", "warn"} and _beyond_schema(entry) for entry in outcomes)
        if judged < self.profile.at_least:
            wanted = self.profile.at_least
            yield f"{judged} requirements beyond framing and schema were judged, the profile asks for {wanted}"
        missing = {entry.requirement for entry in outcomes if entry.outcome == "not_observed"}
        for clause in self.profile.clauses:
            if clause in missing:
                yield f"{clause} was not observed, and the profile requires it"

    def _outcome(self, requirement: Requirement, off: set[str]) -> Outcome:
        clause, level = requirement.id, self.level(requirement.id)
        looks, failed = self.looks.get(clause, 0), self.failed.get(clause, {})
        base = Outcome(clause, level, "not_observed", looks, sum(failed.values()), requirement.by, requirement.reason)
        if failed:
            return replace(base, outcome="fail" if level == "MUST" else "warn")
        if requirement.way in {"kit", "excluded", "open"}:
            return replace(base, outcome="not_judgeable", reason=requirement.reason or "no rule judges it yet")
        if requirement.way == "rules":
            if set(requirement.by) & self.crashed:
                return replace(base, outcome="error")
            if set(requirement.by) <= self.suppressed:
                return replace(base, outcome="suppressed")
        if looks:
            return replace(base, outcome="pass")
        if clause in off:
            return replace(base, outcome="not_applicable", reason="the capability was neither declared nor observed")
        return base

    def _switched_off(self) -> set[str]:
        """Clauses of capabilities that were neither declared nor observed."""
        off: set[str] = set()
        for name, entry in load_capabilities(self.protocol.store.root).items():
            clauses = entry["requirements"].get(self.protocol.id, ())
            signs = entry.get("observed_by", {}).get(self.protocol.id, ())
            if name not in self.world.capabilities and not any(sign in self.world.observed_types for sign in signs):
                off |= set(clauses)
        return off


def _beyond_schema(outcome: Outcome) -> bool:
    return any(not rule.startswith(FRAMING_AND_SCHEMA) for rule in outcome.rules)


def _wanted(rule: Rule, options: Options) -> bool:
    """True when a rule is selected and not ignored; a prefix names a family."""
    if options.select and not rule.id.startswith(options.select):
        return False
    return not (options.ignore and rule.id.startswith(options.ignore))


def check_options(options: Options) -> None:
    """Refuses selections that name no rule."""
    for word in (*options.select, *options.ignore):
        if not any(rule.startswith(word) for rule in load_rules()):
            raise UsageError(f"no rule is called {word!r}", hint="runtime-validate rules lists them")
