"""The streams that are measured are conformant, always the same, and hold something of every family."""

import hashlib
import io
import json

import pytest

from tests.bench import stream, talk, threads
from tests.bench.writings import writings
from validator.engine import Validator, validate

STREAMS = [(stream.lines, 470), (talk.lines, 5500)]
"""With the events after which every story was told once."""


@pytest.mark.parametrize(("lines", "once"), STREAMS)
def test_it_is_conformant_and_holds_every_family(core, lines, once):
    data = b"".join(lines(once))
    report = validate(io.BytesIO(data), "bench.ndjson")
    assert [(found.line, found.rule, found.actual) for found in report.findings] == []
    assert report.verdict == "conformant"
    types = {json.loads(line)["type"] for line in data.splitlines()}
    assert {core.family_of[event] for event in types} == set(core.family_of.values())


@pytest.mark.parametrize(("lines", "once"), STREAMS)
def test_it_is_the_same_every_time_and_never_repeats_an_id(lines, once):
    told = [hashlib.sha256(b"".join(lines(2000))).hexdigest() for _ in range(2)]
    assert told[0] == told[1]
    ids = [json.loads(line)["event_id"] for line in lines(2000)]
    assert len(ids) == len(set(ids)) >= 2000


def test_most_of_the_talk_is_streamed():
    kinds = [json.loads(line)["type"] for line in talk.lines(5500)]
    assert 0.55 < kinds.count("model.delta") / len(kinds) < 0.65
    assert 0.08 < kinds.count("process.output") / len(kinds) < 0.12


def test_the_stream_of_agent_threads_is_conformant_and_takes_the_short_way():
    judge = Validator("bench.ndjson")
    judge.feed(b"".join(threads.lines(1500)))
    taken = judge._splitter.passed
    report = judge.close()
    assert (report.protocol, report.verdict, report.counts) == ("agent-threads/1", "conformant", {})
    assert taken > report.lines * 0.7


def test_every_other_writing_is_conformant_and_takes_the_short_way():
    for name, told in writings(1500).items():
        judge = Validator("bench.ndjson")
        judge.feed(b"".join(told))
        taken = judge._splitter.passed
        report = judge.close()
        assert (report.verdict, report.counts) == ("conformant", {}), name
        assert taken > report.lines / 2, name
