"""What is over is forgotten but for little, and forgetting never makes a finding."""

import gc
import io
import multiprocessing
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from itertools import islice

import pytest

from tests.bench.retold import CLOSED, retold
from tests.bench.stream import STORIES, lines, template
from validator import resources
from validator.engine import Options, Validator, validate
from validator.protocol.protocol import available
from validator.replay import world
from validator.replay.readmodels.agent_runtime import recall
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
    "*/protocol/fastpath/*",
)
"""What was looked at before is kept in caches of a fixed size, which a short stream does not fill."""


MEMORIES = (
    (world, "RECENT"),
    (recall, "TAKEN"),
    (recall, "_AT_ONCE"),
    (old_fact_told_anew, "KEPT"),
    (redacted_here_plain_there, "_STEPS_KEPT"),
)


@pytest.fixture
def short_memory(monkeypatch):
    """What is over is remembered whole for a few lines only, so that a short stream stands for a long one."""

    def make(recent):
        for module, name in MEMORIES:
            monkeypatch.setattr(module, name, recent)

    return make


def _held(judge, told):
    for line in told:
        judge.feed(line)
    gc.collect()
    kept = [tracemalloc.Filter(True, "*/validator/*"), *(tracemalloc.Filter(False, name) for name in CACHES)]
    return sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces(kept).traces)


def _per_event(recent, told, turns, name="agent-runtime"):
    """Bytes that each event after the first turns costs, in a stream without a finding that tells the same in turns.

    Asked of a new process: what other tests left in caches would be dropped and made anew while it is measured. Turns
    are whole, so that what is open for the moment is the same at both ends.
    """
    first, every = turns
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measure, recent, told, len(told) * first // every, name).result()


def _measure(recent, told, part, name):
    for module, memory in MEMORIES:
        setattr(module, memory, recent)
    judge = Validator("told.ndjson", Options(protocol=name))
    tracemalloc.start()
    try:
        once, whole = _held(judge, told[:part]), _held(judge, told[part:])
    finally:
        tracemalloc.stop()
    assert judge.close().findings == ()
    return (whole - once) / (len(told) - part)


def _stories(turns):
    return list(lines(turns * sum(len(template(story)) for story in STORIES)))


def test_four_times_the_closed_work_costs_little_more():
    assert _per_event(30, _stories(12), (2, 12)) <= PER_EVENT


@pytest.mark.parametrize("name", CLOSED)
def test_stories_told_again_cost_little_more(name):
    told = [line for story in islice(retold(name, *CLOSED[name]), 24 * len(CLOSED[name])) for line in story]
    assert _per_event(30, told, (8, 24), name) <= MORE.get(name, PER_EVENT)


def test_without_forgetting_it_would_cost_more():
    assert _per_event(100_000, _stories(3), (1, 3)) > 4 * PER_EVENT


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
