"""Counts what rules looked at and what they found, and makes their findings fit to be read."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from validator import redact
from validator.capture.ndjson import Line
from validator.context import Context
from validator.protocol import casing
from validator.protocol.clauses import LEVELS
from validator.protocol.machine import Driver
from validator.protocol.profile import Shortfall
from validator.records import replace
from validator.replay.step import Step
from validator.replay.subject import Subject
from validator.replay.world import World
from validator.report import Crash
from validator.rules import Finding, Findings, Rule

Looked = dict[tuple[Rule, tuple[str, ...]], int]
"""Looks per rule and the clauses it named."""


class Tally:
    """Looks, findings and crashes of one capture."""

    def __init__(self, file: str, world: World, level: Callable[[str], str], most: int):
        self._file, self._world, self._level, self._most = file, world, level, most
        self.findings: list[Finding] = []
        self.counts: dict[str, int] = {}
        """Findings per rule."""
        self.failed: dict[str, dict[str, int]] = {}
        """Findings per clause and rule."""
        self.weights: dict[str, str] = {}
        """The level of the heaviest finding per clause."""
        self.demanded: list[tuple[Rule, Finding]] = []
        """In what the present line falls short of the profile, until every rule was asked about it."""
        self._told_apart: dict[tuple[str, str, str], tuple[int, str | None]] = {}
        """Where a rule last told a shortfall as its own: clause, pointer and key to line and part of it."""
        self.looks: dict[str, int] = {}
        """Looks per clause."""
        self.rule_looks: dict[str, int] = {}
        self.looked: Looked = {}
        """Looks without a finding, per rule and the clauses it named; counted into the others by `settle`."""
        self.told = 0
        """Findings so far, those that are not kept included."""
        self.crashes: list[Crash] = []
        self.crashed: set[str] = set()
        self._told: set[tuple[str, str, str]] = set()
        self._told_at = 0
        self._causes: dict[tuple[str, str], int] = {}
        self._stuck: dict[int, list[tuple[str, int]]] = {}
        """The line that last moved a subject to its machine and the line at which it was refused its next move."""

    def count(self, looked: Looked, times: int) -> None:
        """Counts looks as often as they were taken."""
        for mark, once in looked.items():
            self.looked[mark] = self.looked.get(mark, 0) + once * times

    def settle(self, protocol: str) -> None:
        """Counts the looks into those of rules and clauses; a look that names no clause is one at all of its rule."""
        for (rule, clauses), times in self.looked.items():
            _count(self.rule_looks, rule.id, times)
            for clause in clauses or rule.clauses[protocol]:
                _count(self.looks, clause, times)
        self.looked.clear()

    def crash(self, rule: Rule, step: Step | None, error: Exception) -> None:
        self.crashed.add(rule.id)
        self.crashes.append(Crash(rule.id, step.number if step else self._world.last_line, type(error).__name__))

    def report(self, rule: Rule, step: Step | None, found: Finding, clauses: tuple[str, ...], context: Context) -> None:
        """Takes a finding. What a profile demands is told by the rule that judges its clause, and weighs MUST there."""
        if found.level:
            self.demanded.append((rule, found))
            return
        words = f"{found.expected} {found.actual} {found.key}"
        for error in context.errors if step is not None else ():
            if isinstance(error, Shortfall) and error.clause in clauses and error.is_told_by(found.pointer, words):
                self._told_apart[error.clause, error.pointer, error.key] = (step.number, step.at)
                found = replace(found, level="MUST")
        self._tell(rule, step, found, clauses, context)

    def report_all(self, rule: Rule, step: Step, found: Findings, clauses: tuple[str, ...], context: Context) -> None:
        """Takes findings of one clause, if any; those that are not kept are counted without being made."""
        # Parts of exports are told apart by what is found, and so is what a profile demands.
        every = found.count and (step.at is not None or any(isinstance(error, Shortfall) for error in context.errors))
        made = found.count if every else min(found.count, max(self._most - self.counts.get(rule.id, 0), 0))
        for one in islice(found.each, made):
            self.report(rule, step, one, clauses, context)
        if made < found.count:
            self._note(rule, found.clause, self._level(found.clause), found.count - made)

    def release(self, step: Step, context: Context) -> None:
        """Tells what a line lacks for the profile and no rule has told as its own."""
        for rule, found in self.demanded:
            if self._told_apart.get((found.clause, found.pointer, found.key)) != (step.number, step.at):
                self._tell(rule, step, found, (found.clause,), context)
        self.demanded.clear()

    def _tell(self, rule: Rule, step: Step | None, found: Finding, clauses: tuple[str, ...], context: Context) -> None:
        """Counts a finding, and keeps it unless its rule has had its share."""
        clause = found.clause or clauses[0]
        level = found.level or self._level(clause)
        is_part = step is not None and step.at is not None
        if is_part:
            found = self._located(found, step, context)
            if self._told_before(rule, found):
                return
        self._note(rule, clause, level)
        cause = self._cause(rule, found)
        if self.counts[rule.id] <= self._most:
            found = found if is_part else self._located(found, step, context)
            entry = replace(found, clause=clause, rule=rule.id, level=level, cause=cause, fix=found.fix or rule.fix)
            self.findings.append(self._masked(entry, context.canaries))

    def _note(self, rule: Rule, clause: str, level: str, times: int = 1) -> None:
        self.told += times
        _count(self.rule_looks, rule.id, times)
        _count(self.looks, clause, times)
        _count(self.failed.setdefault(clause, {}), rule.id, times)
        _count(self.counts, rule.id, times)
        if self.weights.get(clause) != level:
            self.weights[clause] = max(self.weights.get(clause, level), level, key=LEVELS.index)

    def _cause(self, rule: Rule, found: Finding) -> int | None:
        """A subject that was refused a move is not where the next events expect it: later refusals follow from that.

        So do those of a subject that waits for it: an action that was refused its answer keeps its turn waiting.
        """
        if found.cause is not None or not rule.follows or found.entity is None:
            return found.cause
        subject = self._world.subjects(found.entity[0]).get(found.entity[1])
        moved = subject.history[-1] if subject and subject.history else 0
        first = self._causes.get(found.entity)
        if first is None or first < moved:
            first = self._held_by(subject, moved) if subject else None
            self._causes[found.entity] = first or found.line
            if moved and first is None:
                self._stuck.setdefault(moved, []).append((found.entity[0], found.line))
        return first if first and first < found.line else None

    def _held_by(self, subject: Subject, moved: int) -> int | None:
        """The line at which another subject, whose move brought this one to where it stands, was refused its next."""
        rows = self._world.protocol.machines[subject.machine].rows
        for machine, line in self._stuck.get(moved, ()):
            driver = Driver("move", machine)
            if any(row.driver == driver and row.target == subject.state for row in rows):
                return line
        return None

    def _told_before(self, rule: Rule, found: Finding) -> bool:
        """True when a part of an export told what the whole of it, or the same part read again, tells again."""
        if self._told_at != found.line:
            self._told_at = found.line
            self._told.clear()
        mark = (rule.id, found.pointer, found.key)
        before = mark in self._told
        self._told.add(mark)
        return before

    def _masked(self, found: Finding, canaries: tuple[str, ...]) -> Finding:
        return replace(
            found,
            pointer=redact.mask(found.pointer, canaries),
            expected=redact.mask(found.expected, canaries),
            actual=redact.mask(found.actual, canaries),
            entity=(found.entity[0], redact.mask(str(found.entity[1]), canaries)) if found.entity else None,
            event_id=redact.mask(found.event_id, canaries) if found.event_id else None,
            event_type=redact.mask(found.event_type, canaries) if found.event_type else None,
            file=self._file,
            witness=tuple(sorted(set(found.witness) - {found.line})),
        )

    def _located(self, found: Finding, step: Step | None, context: Context) -> Finding:
        if step is None or found.line != step.number:
            return found
        lens = self._world.protocol.lens
        event = step.line if step.kind == "event" else {}
        sequence, event_id = lens.get(event, "sequence"), lens.get(event, "event_id")
        return replace(
            found,
            pointer=self._pointer(step, found.pointer, context.line),
            offset=step.offset,
            sequence=sequence if isinstance(sequence, int) and not isinstance(sequence, bool) else None,
            event_id=event_id if isinstance(event_id, str) else None,
            event_type=step.type,
        )

    def _pointer(self, step: Step, pointer: str, line: Line | None) -> str:
        """A pointer into the line as it was read, whatever its casing and whatever it is part of."""
        if step.at is not None:
            return step.at + (pointer.removeprefix("/snapshot") if step.kind == "snapshot" else pointer)
        known = line is not None and line.readable and self._world.protocol.bindings
        return casing.spelt(line.document, pointer) if known else pointer


def _count(counts: dict[str, int], name: str, times: int = 1) -> None:
    counts[name] = counts.get(name, 0) + times
