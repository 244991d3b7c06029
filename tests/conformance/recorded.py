"""What the judge says about every rule stream and golden capture, word by word, as it was last read by a person.

`python -m tests.conformance.recorded [RULE | golden-STORY ...]` writes the records anew; the difference is then read
like any other change. There is one file per rule, so that two rules never meet in one file, and one per golden capture.
"""

from __future__ import annotations

import io
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields
from pathlib import Path
from typing import Any

from tests.conformance import skews, variations
from validator import resources
from validator.engine import validate
from validator.protocol.protocol import Protocol, available, load_protocol
from validator.report import Report
from validator.rules import Finding
from validator.rules._catalog import load_rules
from validator.rulestreams import judge, rule_streams

HOME = Path(__file__).parent / "reports"
_LEFT_OUT = {"file", "line", "rule"}
_FIELDS = [field for field in fields(Finding) if field.name not in _LEFT_OUT]


def finding_words(found: Finding) -> dict[str, Any]:
    """All that a finding says, short of what is the same for every finding of its rule."""
    words = {field.name: getattr(found, field.name) for field in _FIELDS}
    told = {name: value for name, value in words.items() if value not in ("", None, ())}
    if found.fix == load_rules()[found.rule].fix:
        told.pop("fix", None)
    return {"rule": found.rule, "line": found.line, "fingerprint": found.fingerprint, **told}


def stream_record(rule: str, report: Report) -> dict[str, Any]:
    """What is said about a stream of a rule: its findings, and how often the rule looked."""
    told = {"looks": report.looks.get(rule, 0), "findings": [finding_words(found) for found in report.findings]}
    return told | ({"crashes": [crash.rule for crash in report.crashes]} if report.crashes else {})


def golden_record(report: Report) -> dict[str, Any]:
    """How each rule looked at a golden capture, and how each clause fared in it."""
    told = {rule: f"{looks} looks" for rule, looks in report.looks.items()}
    for entry in report.requirements:
        if entry.outcome not in ("not_observed", "not_judgeable"):
            told[entry.requirement] = f"{entry.outcome} {entry.looks}"
    return {"verdict": report.verdict, "events": str(report.events), **told}


def golden_captures(protocol: Protocol) -> list[Path]:
    return sorted((resources.fixtures() / protocol.id / "golden").glob("*.ndjson"))


def judge_golden(path: Path) -> Report:
    return validate(io.BytesIO(path.read_bytes()), path.name)


def record_path(protocol: Protocol, name: str) -> Path:
    return HOME / protocol.id / f"{name}.json"


def read_record(protocol: Protocol, name: str) -> dict[str, Any]:
    path = record_path(protocol, name)
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def plain(value: Any) -> Any:
    """A value as it comes back from a file."""
    return json.loads(json.dumps(value))


def record(name: str, rule: str) -> dict[str, Any]:
    """What is to be recorded about the streams of a rule."""
    protocol = load_protocol(name)
    found = {}
    for _, path, entry in rule_streams(resources.fixtures() / protocol.id, protocol, {rule}):
        told = stream_record(rule, judge(protocol, path, entry))
        found[path.stem] = told | {"varied": variations.answers(protocol, rule, path, entry)}
    return found


def record_golden(name: str, path: Path) -> dict[str, Any]:
    """What is to be recorded about a golden capture."""
    return golden_record(judge_golden(path)) | {"skewed": skews.answers(load_protocol(name), path)}


def main(names: list[str]) -> None:
    """Writes every record and takes away those of rules that have no streams; or writes those that are named."""
    written = {}
    with ProcessPoolExecutor() as pool:
        for protocol in map(load_protocol, available()):
            for path in sorted((resources.fixtures() / protocol.id / "rules").glob("*/expect.yaml")):
                rule = path.parent.name
                if names and rule not in names:
                    continue
                written[record_path(protocol, rule)] = pool.submit(record, protocol.id, rule)
            for path in golden_captures(protocol):
                name = f"golden-{path.stem}"
                if not names or name in names:
                    written[record_path(protocol, name)] = pool.submit(record_golden, protocol.id, path)
        for path, told in written.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(told.result(), indent=1, ensure_ascii=False) + "\n", "utf-8")
    for stale in set(HOME.rglob("*.json")) - written.keys() if not names else ():
        stale.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
