"""The stream that is measured is conformant, always the same, and holds something of every family."""

import hashlib
import io
import json

from tests.bench.stream import lines
from validator.engine import validate

ONCE = 470
"""Events after which every story was told once."""


def test_it_is_conformant_and_holds_every_family(core):
    data = b"".join(lines(ONCE))
    report = validate(io.BytesIO(data), "bench.ndjson")
    assert [(found.line, found.rule, found.actual) for found in report.findings] == []
    assert report.verdict == "conformant"
    types = {json.loads(line)["type"] for line in data.splitlines()}
    assert {core.family_of[event] for event in types} == set(core.family_of.values())


def test_it_is_the_same_every_time_and_never_repeats_an_id():
    told = [hashlib.sha256(b"".join(lines(2000))).hexdigest() for _ in range(2)]
    assert told[0] == told[1]
    ids = [json.loads(line)["event_id"] for line in lines(2000)]
    assert len(ids) == len(set(ids)) >= 2000
