"""Whether a decision came too late is told by times, and where one cannot be read nothing is told."""

import io
import json

import pytest

from validator import resources
from validator.engine import validate

FOLDER = resources.fixtures() / "agent-runtime" / "0.3" / "rules" / "GOV013"


@pytest.mark.parametrize("stream", ["late-answer", "late-run"])
@pytest.mark.parametrize("stamp", ["yesterday", 7, None])
def test_what_came_at_no_readable_time_did_not_come_too_late(stream, stamp):
    lines = [json.loads(line) for line in (FOLDER / f"trips-{stream}.ndjson").read_text().splitlines()]
    (late,) = [found.line for found in judged(lines).findings if found.rule == "GOV013"]
    lines[late - 1]["timestamp"] = stamp
    report = judged(lines)
    assert "GOV013" not in report.counts
    assert not report.crashes


def judged(lines):
    return validate(io.BytesIO("\n".join(map(json.dumps, lines)).encode()))
