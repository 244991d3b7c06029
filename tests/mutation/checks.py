"""What can notice a planted fault: rule streams and golden captures, held against their records, and tests."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KERNEL = {
    "bundle": ("bundle",),
    "casing": ("casing",),
    "clauses": ("clauses",),
    "envelope": ("lens", "protocol"),
    "fastpath": ("fastpath", "schemas"),
    "formats": ("formats",),
    "lock": ("lock",),
    "machine": ("machine", "protocol"),
    "profile": ("profile",),
    "protocol": ("lens", "protocol"),
    "schemas": ("fastpath", "schemas"),
    "view": ("view",),
}
"""Module or folder of the kernel to the unit tests that are about it."""
RULES = {"redaction": ("redaction_patterns", "rule_parts"), "snapshot": ("snapshot_compare",)}
"""Family to the unit tests of what its rules share."""
REPLAY = ("engine", "fold", "kin", "past", "replay", "seen")
MODELS = ("readmodels", "readmodels_untold")
UNIT, WHOLE = "tests/unit/test_{}.py", "tests/conformance/test_{}.py"


def tests_of(path: str) -> list[str]:
    """The tests that are about a module, beside the streams."""
    _, package, *rest = Path(path).with_suffix("").parts
    if package == "protocol":
        return [UNIT.format(name) for name in KERNEL.get(rest[0], ("protocol",))]
    if package == "rules":
        return [UNIT.format(name) for name in RULES.get(rest[0], ())]
    if rest[0] != "readmodels":
        return [UNIT.format(name) for name in REPLAY]
    dialect = f"readmodels_{rest[-1]}" if rest[-1] in {"agent_threads", "agenthub", "runagents"} else "readmodels"
    return [*(UNIT.format(name) for name in (*REPLAY, *MODELS)), WHOLE.format(dialect)]


@dataclass(frozen=True, slots=True)
class Stream:
    """A rule stream, or a golden capture, which belongs to no rule."""

    name: str
    protocol: str
    rule: str
    path: Path
    entry: dict[str, Any]


def all_streams() -> list[Stream]:
    """Every rule stream and golden capture."""
    from tests.conformance import recorded
    from validator import resources
    from validator.protocol.protocol import available, load_protocol
    from validator.rulestreams import rule_streams

    found = []
    for protocol in map(load_protocol, available()):
        for rule, path, entry in rule_streams(resources.fixtures() / protocol.id, protocol):
            found.append(Stream(f"stream {protocol.id} {rule} {path.stem}", protocol.id, rule, path, entry))
        for path in recorded.golden_captures(protocol):
            found.append(Stream(f"golden {protocol.id} {path.stem}", protocol.id, "", path, {}))
    return found


def check(stream: Stream) -> str | None:
    """How what is said about a stream, and about it when it is changed, departs from the record."""
    from tests.conformance import recorded, skews, variations
    from validator.protocol.protocol import load_protocol
    from validator.rulestreams import judge

    protocol, rule, path = load_protocol(stream.protocol), stream.rule, stream.path
    if not rule:
        record = recorded.read_record(protocol, f"golden-{path.stem}")
        skewed = record.pop("skewed")
        if recorded.golden_record(recorded.judge_golden(path)) != record:
            return "is looked at otherwise"
        return None if skews.answers(protocol, path) == skewed else "is told otherwise when skewed"
    record = recorded.read_record(protocol, rule)[path.stem]
    varied = record.pop("varied")
    if recorded.plain(recorded.stream_record(rule, judge(protocol, path, stream.entry))) != record:
        return "is told in other words"
    return None if variations.answers(protocol, rule, path, stream.entry) == varied else "is told otherwise when varied"


def run_tests(names: Iterable[str]) -> str | None:
    """Runs tests until one fails."""
    chosen = sorted(names)
    if not chosen:
        return None
    import pytest  # costs more than most trials do

    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain", *chosen])
    return f"a test fails (exit {int(code)})" if code else None
