"""Runs the streams of a rule: each trips exactly its findings, each near miss nothing while the rule looked."""

from __future__ import annotations

import io
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

from validator.capture.ndjson import Limits
from validator.datafile import shown
from validator.engine import Options, validate
from validator.protocol.definition import read_definition
from validator.protocol.protocol import Protocol
from validator.records import dataclass
from validator.report import Report


@dataclass(frozen=True, slots=True)
class Failure:
    """A fixture that did not behave as it says."""

    fixture: str
    reason: str


def rule_streams(
    folder: Path, protocol: Protocol, rules: Container[str] | None = None
) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    """Rule id, stream and expectation of every rule fixture of a protocol, or of some rules."""
    for path in sorted(folder.glob("rules/*/expect.yaml")):
        if rules is not None and path.parent.name not in rules:
            continue
        data = read_definition(path, "expect", protocol.store)
        for name, entry in data["streams"].items():
            yield data["rule"], path.with_name(f"{name}.ndjson"), entry


def options_of(protocol: Protocol, entry: dict[str, Any]) -> Options:
    """What an expectation asks of the judge."""
    wishes = entry.get("options", {})
    return Options(
        protocol=protocol.id,
        profile=wishes.get("profile"),
        expect=wishes.get("expect"),
        canaries=tuple(wishes.get("canaries", ())),
        limits=Limits(line_bytes=wishes.get("max_line_bytes", Limits().line_bytes)),
    )


def judge(protocol: Protocol, path: Path, entry: dict[str, Any]) -> Report:
    """Judges one stream as its expectation asks."""
    return validate(io.BytesIO(path.read_bytes()), path.name, options_of(protocol, entry))


def check_stream(protocol: Protocol, rule: str, path: Path, entry: dict[str, Any]) -> Iterator[Failure]:
    """How a stream's report departs from its expectation."""
    if not path.exists():
        yield Failure(shown(path), "the stream is missing")
        return
    report = judge(protocol, path, entry)
    for crash in report.crashes:
        yield Failure(shown(path), f"{crash.rule} crashed at line {crash.line}: {crash.error}")
    found = [(entry.rule, entry.line, entry.pointer) for entry in report.findings if entry.cause is None]
    expected = [(item.get("rule", rule), item["line"], item.get("pointer", "")) for item in entry.get("findings", ())]
    if path.name.startswith("trips-") and not expected:
        yield Failure(shown(path), "a stream that trips lists its findings")
    for missing in [item for item in expected if item not in found]:
        yield Failure(shown(path), f"expected {missing}, found {found}")
    for extra in [item for item in found if item not in expected]:
        yield Failure(shown(path), f"did not expect {extra}")
    wanted = {(item["line"], item["clause"]) for item in entry.get("findings", ()) if "clause" in item}
    for line, clause in wanted - {(entry.line, entry.clause) for entry in report.findings}:
        yield Failure(shown(path), f"line {line} does not cite {clause}")
    if path.name.startswith("near-") and not report.looks.get(rule):
        yield Failure(shown(path), f"{rule} looked at nothing")
