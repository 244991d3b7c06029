"""What is over is forgotten but for little, and forgetting never makes a finding."""

import gc
import io
import tracemalloc
from itertools import islice

import pytest

from tests.bench.retold import CLOSED, retellings
from tests.bench.stream import lines
from validator import resources
from validator.engine import Options, Validator, validate
from validator.protocol.protocol import available
from validator.replay import world
from validator.replay.readmodels.agent_runtime import past
from validator.rules.redaction import redacted_here_plain_there
from validator.rules.snapshot import old_fact_told_anew

PER_EVENT = 48
"""Bytes that a further event of closed work may cost."""
MORE = {"agent-threads/1": 200}
"""A committed run may still be superseded, so it is not over: its records and digests of its messages stay."""
CACHES = (
    "*/redact/*",
    "*/asking.py",
    "*/replay/form.py",
    "*/replay/hearing.py",
    "*/sieve.py",
    "*/readings.py",
    "*/glance.py",
    "*/capture/*",
    "*/rules/snapshot/_compare.py",
    "*/functools.py",
)
"""What was looked at before is kept in caches of a fixed size, which a short stream does not fill."""


@pytest.fixture
def short_memory(monkeypatch):
    """What is over is remembered whole for a few lines only, so that a short stream stands for a long one."""

    def make(recent):
        monkeypatch.setattr(world, "RECENT", recent)
        monkeypatch.setattr(past, "TAKEN", recent)
        monkeypatch.setattr(old_fact_told_anew, "KEPT", recent)
        monkeypatch.setattr(redacted_here_plain_there, "_STEPS_KEPT", recent)

    return make


def _held(judge, told):
    for line in told:
        judge.feed(line)
    gc.collect()
    kept = [tracemalloc.Filter(True, "*/validator/*"), *(tracemalloc.Filter(False, name) for name in CACHES)]
    return sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces(kept).traces)


def _per_event(told, name="agent-runtime", first=4):
    """Bytes that each event after the first part costs, in a stream without a finding."""
    judge, part = Validator("told.ndjson", Options(protocol=name)), len(told) // first
    tracemalloc.start()
    try:
        once, whole = _held(judge, told[:part]), _held(judge, told[part:])
    finally:
        tracemalloc.stop()
    assert judge.close().findings == ()
    return (whole - once) / (len(told) - part)


def test_four_times_the_closed_work_costs_little_more(short_memory):
    short_memory(30)
    assert _per_event(list(lines(2400))) <= PER_EVENT


@pytest.mark.parametrize("name", CLOSED)
def test_stories_told_again_cost_little_more(name, short_memory):
    short_memory(30)
    told = list(islice(retellings(name), 2400))
    assert _per_event(told, name, first=2) <= MORE.get(name, PER_EVENT)


def test_without_forgetting_it_would_cost_more(short_memory):
    short_memory(100_000)
    assert _per_event(list(lines(900)), first=3) > 4 * PER_EVENT


def _findings(path):
    report = validate(io.BytesIO(path.read_bytes()), path.name)
    assert report.crashes == ()
    return {(found.rule, found.line) for found in report.findings}


@pytest.mark.parametrize("name", available())
def test_forgetting_at_once_finds_nothing_more(name, short_memory):
    paths = sorted((resources.fixtures() / name).rglob("golden/*.ndjson"))
    paths += sorted((resources.fixtures() / name).rglob("rules/*/near-*.ndjson"))[::3]
    known = {path: _findings(path) for path in paths}
    short_memory(1)
    more = {path.name: found for path in paths if (found := _findings(path) - known[path])}
    assert more == {}


def test_streams_that_are_over_are_compared_by_their_digests(short_memory):
    """What is found in agent-threads is the same however little is kept of a stream."""
    paths = sorted((resources.fixtures() / "agent-threads" / "1").rglob("rules/ATH*/trips-*.ndjson"))
    known = {path: _findings(path) for path in paths}
    short_memory(1)
    assert {path: _findings(path) for path in paths} == known
