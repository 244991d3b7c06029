"""What every test of the runtime asks: what does the judge find, and do the two readings agree?"""

from __future__ import annotations

import io
import json
from typing import Any

from tests.conformance.test_readmodels import built, by_word, differences
from validator.engine import Options, validate
from validator.protocol.protocol import load_protocol
from validator.replay.readmodels import ReadModels
from validator.replay.world import World
from validator.report import Report


def judge(text: str, expect: str = "prefix") -> Report:
    """The judge's report about a capture."""
    return validate(io.BytesIO(text.encode()), options=Options(expect=expect))


def findings(text: str, expect: str = "prefix") -> list[str]:
    """Everything the judge finds in a capture."""
    return words(judge(text, expect))


def words(report: Report) -> list[str]:
    """Every finding of a report, of any level, one line each; crashes of the judge included."""
    found = [f"{one.rule} {one.clause} line {one.line}: {one.expected} / {one.actual}" for one in report.findings]
    return found + [f"crash: {crash}" for crash in report.crashes]


def disagreements(text: str) -> list[Any]:
    """Where a snapshot in a capture differs from what the judge's own reading derives at that place."""
    world, found = World(load_protocol("agent-runtime/0.3"), [ReadModels]), []
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        document = json.loads(line)
        world.apply(document, number)
        for model, snapshot in shown(document):
            derived = by_word(built(world, model, snapshot))
            found += [(number, model, *entry) for entry in differences(derived, by_word(snapshot))]
    return found


def shown(line: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The whole read models that a capture line holds."""
    return [(line["model"], line["snapshot"])] if line.get("record") == "snapshot" else []
