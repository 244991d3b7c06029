"""What can notice a planted fault: rule streams and golden captures, held against their records, and tests."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

KERNEL = {
    "authority": ("bundle", "fastpath"),
    "bundle": ("bundle",),
    "casing": ("casing",),
    "clauses": ("clauses",),
    "definition": ("schemas",),
    "digest": ("digest",),
    "envelope": ("lens", "protocol"),
    "fastpath": ("fastpath", "schemas"),
    "formats": ("formats",),
    "gate": ("gate",),
    "glance": ("casing",),
    "keep": ("keep",),
    "lock": ("lock",),
    "loosen": ("gate",),
    "machine": ("machine", "protocol"),
    "profile": ("profile",),
    "protocol": ("lens", "protocol"),
    "schemas": ("fastpath", "schemas"),
    "view": ("view",),
    "wildcards": ("wildcards",),
}
"""Module or folder of the kernel to the unit tests that are about it."""
RULES = {"redaction": ("redaction_patterns",), "snapshot": ("snapshot_compare",), "command": ("commands_kept",)}
"""Family to the unit tests of what its rules share, beside those of parts that few streams can tell apart."""
REPLAY = ("engine", "fold", "kin", "past", "replay", "seen", "world", "asking")
MODELS = ("readmodels", "readmodels_untold")
_PARTS = ("varied", "skewed")
UNIT, WHOLE = "tests/unit/test_{}.py", "tests/conformance/test_{}.py"


def tests_of(path: str) -> list[str]:
    """The tests that are about a module, beside the streams."""
    _, package, *rest = Path(path).with_suffix("").parts
    if package == "protocol":
        return [UNIT.format(name) for name in KERNEL.get(rest[0], ("protocol",))]
    if package == "rules":
        return [UNIT.format(name) for name in ("rule_parts", *RULES.get(rest[0], ()))]
    if rest[0] != "readmodels":
        return [UNIT.format(name) for name in REPLAY]
    dialect = "_".join(("readmodels", *{"agent_threads", "agenthub", "runagents"}.intersection(rest)))
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


def told_otherwise(stream: Stream) -> str | None:
    """How what is said about a stream departs from the record."""
    from tests.conformance import recorded
    from validator.protocol.protocol import load_protocol
    from validator.rulestreams import judge

    protocol, rule, path, record = load_protocol(stream.protocol), stream.rule, stream.path, _record(stream)
    if not rule:
        same = recorded.golden_record(recorded.judge_golden(path)) == record
        return None if same else "is looked at otherwise"
    same = recorded.plain(recorded.stream_record(rule, judge(protocol, path, stream.entry))) == record
    return None if same else "is told in other words"


def varied_otherwise(stream: Stream) -> str | None:
    """How what is said about a stream when it is changed, or about skewed documents behind it, departs from it."""
    from tests.conformance import skews, variations
    from validator.protocol.protocol import load_protocol

    protocol, rule, path = load_protocol(stream.protocol), stream.rule, stream.path
    if not rule:
        same = skews.answers(protocol, path) == _record(stream, "skewed")
        return None if same else "is told otherwise when skewed"
    same = variations.answers(protocol, rule, path, stream.entry) == _record(stream, "varied")
    return None if same else "is told otherwise when varied"


def _record(stream: Stream, part: str = "") -> Any:
    """One part of what is recorded of a stream, or what is recorded of it as it is."""
    from tests.conformance import recorded
    from validator.protocol.protocol import load_protocol

    protocol = load_protocol(stream.protocol)
    if stream.rule:
        record = recorded.read_record(protocol, stream.rule)[stream.path.stem]
    else:
        record = recorded.read_record(protocol, f"golden-{stream.path.stem}")
    return record[part] if part else {name: said for name, said in record.items() if name not in _PARTS}


def run_tests(names: Iterable[str]) -> str | None:
    """Runs tests until one fails."""
    chosen = sorted(names)
    if not chosen:
        return None
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain", *chosen])
    return f"a test fails (exit {int(code)})" if code else None
