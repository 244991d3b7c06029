"""Runs every packaged fixture against its expectation.

Documents must fit or fail exactly as their case says; golden captures must pass their schemas and state tables line by
line, be judged conformant, and end in the states that are written beside them; exports of them must be judged without
a finding at MUST level; the streams of a rule must trip exactly their findings, or none while the rule looked. The
result also counts what the golden captures exercise: event types that occur, and table rows that are taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from validator import resources
from validator.capture.lines import line_errors, read_lines
from validator.datafile import read_json, shown
from validator.engine import validate
from validator.protocol.protocol import Protocol, available, load_protocol
from validator.records import dataclass, field
from validator.replay.fold import Fold
from validator.rulestreams import Failure, check_stream, rule_streams


@dataclass(slots=True)
class Coverage:
    """What the golden captures of one protocol exercise."""

    protocol: str
    captures: int = 0
    lines: int = 0
    documents: int = 0
    cases: int = 0
    streams: int = 0
    events: set[str] = field(default_factory=set)
    all_events: set[str] = field(default_factory=set)
    rows: set[str] = field(default_factory=set)
    states: set[str] = field(default_factory=set)
    all_rows: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Outcome:
    """Failures, and the coverage of each protocol."""

    failures: list[Failure] = field(default_factory=list)
    coverage: list[Coverage] = field(default_factory=list)


def run(names: list[str] | None = None, fixtures: Path | None = None, schemas: Path | None = None) -> Outcome:
    """Every fixture of every protocol, or of those named."""
    outcome = Outcome()
    base = fixtures or resources.fixtures()
    for name in names or available(schemas):
        protocol = load_protocol(name, schemas)
        coverage = Coverage(protocol.id, all_events=set(protocol.events), all_rows={row.id for row in protocol.rows()})
        outcome.coverage.append(coverage)
        folder = base / protocol.name / protocol.version
        for path in sorted((folder / "documents").rglob("*.json")):
            outcome.failures += check_document(protocol, path, coverage)
        for path in sorted((folder / "golden").glob("*.ndjson")):
            outcome.failures += check_golden(protocol, path, coverage)
        for path in sorted((folder / "exports").glob("*.ndjson")):
            outcome.failures += _judge_problems(shown(path), path)
        for rule, path, entry in rule_streams(folder, protocol):
            coverage.streams += 1
            outcome.failures += check_stream(protocol, rule, path, entry)
    return outcome


def check_document(protocol: Protocol, path: Path, coverage: Coverage) -> Iterator[Failure]:
    """One document fixture: its own shape, its id, and each of its cases."""
    fixture = read_json(path)
    for error in protocol.store.errors("fixture/1/document.schema.json", fixture):
        yield Failure(shown(path), f"{error.pointer or '/'} {error.message}")
        return
    kind, name = path.parent.name, path.stem
    if fixture["id"] != f"{protocol.id}/{kind}/{name}":
        yield Failure(shown(path), f"the id must be {protocol.id}/{kind}/{name}")
    reference = protocol.references().get(f"{kind}/{name}")
    if reference is None:
        yield Failure(shown(path), f"{protocol.id} has no {kind}/{name}")
        return
    coverage.documents += 1
    for case in fixture["cases"]:
        coverage.cases += 1
        reason = _case_problem(protocol, reference, case)
        if reason:
            yield Failure(f"{shown(path)}#{case['id']}", reason)


def _case_problem(protocol: Protocol, reference: str, case: dict[str, Any]) -> str | None:
    errors = protocol.store.errors(reference, case["document"])
    if case["valid"]:
        return f"is refused: {errors[0].pointer or '/'} {errors[0].message}" if errors else None
    if not errors:
        return "is accepted"
    expected = (case["error"]["pointer"], case["error"]["keyword"])
    found = [(error.pointer, error.keyword) for error in errors]
    return None if expected in found else f"fails at {found}, not at {expected}"


def check_golden(protocol: Protocol, path: Path, coverage: Coverage) -> Iterator[Failure]:
    """One golden capture: schemas, state tables, and the states and read models it ends in."""
    name = shown(path)
    expected = read_json(path.with_name(f"{path.stem}.readmodel.json"))
    for error in protocol.store.errors("fixture/1/golden.schema.json", expected):
        yield Failure(name, f"expectation {error.pointer or '/'} {error.message}")
        return
    if expected["id"] != f"{protocol.id}/golden/{path.stem}":
        yield Failure(name, f"the id must be {protocol.id}/golden/{path.stem}")
    fold = Fold(protocol)
    coverage.captures += 1
    for number, line in read_lines(path):
        coverage.lines += 1
        if "record" not in line:
            coverage.events.add(protocol.type_of(line) or "")
        for error in line_errors(protocol, line):
            yield Failure(f"{name}:{number}", f"{error.pointer or '/'} {error.message}")
        step = fold.apply(line)
        coverage.rows |= {move.row.id for move in step.taken()}
        coverage.states |= {f"{move.machine}.{move.target}" for move in step.moves}
        for refusal in step.refusals:
            reason = f"{refusal.driver} moves no {refusal.machine} {refusal.subject} that is {refusal.state}"
            yield Failure(f"{name}:{number}", f"{reason} ({refusal.clause})")
    yield from _state_problems(name, fold, expected["states"])
    yield from _judge_problems(name, path)
    for model, documents in expected.get("models", {}).items():
        for index, document in enumerate(documents):
            for error in protocol.store.errors(protocol.snapshots[model], document):
                yield Failure(name, f"expected {model} {index}: {error.pointer or '/'} {error.message}")


def _judge_problems(name: str, path: Path) -> Iterator[Failure]:
    with path.open("rb") as stream:
        report = validate(stream, path.name)
    for crash in report.crashes:
        yield Failure(name, f"{crash.rule} crashed at line {crash.line}: {crash.error}")
    for found in report.findings:
        if found.level == "MUST":
            yield Failure(f"{name}:{found.line}", f"{found.rule} {found.clause}: {found.actual}")


def _state_problems(name: str, fold: Fold, expected: dict[str, dict[str, str]]) -> Iterator[Failure]:
    actual = {
        machine: {key: subject.state for key, subject in subjects.items()}
        for machine, subjects in fold.subjects.items()
        if subjects
    }
    for machine in sorted(actual.keys() | expected.keys()):
        for key in sorted(actual.get(machine, {}).keys() | expected.get(machine, {}).keys()):
            ends = actual.get(machine, {}).get(key, "never seen")
            wanted = expected.get(machine, {}).get(key, "never seen")
            if ends != wanted:
                yield Failure(name, f"{machine} {key} ends {ends}, expected {wanted}")
