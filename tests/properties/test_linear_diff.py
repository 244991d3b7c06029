"""What a comparison takes grows with the captures, and no faster, whatever they differ in.

Counted are the lines of our own code that are run, and how often ids and numbers are looked up or compared.
"""

import pytest

from tests.bench.work import lines_run
from validator.diff import MODES, compare
from validator.diffsides import Heard, Side
from validator.protocol.protocol import load_protocol

FEW, TIMES, MOST = 200, 4, 4.5
"""Sorting and the longest rising run may take a little more than four times as long."""
_touches = 0


def _touched():
    global _touches
    _touches += 1


class Id(str):
    """An id that counts how often it is looked up."""

    def __hash__(self):
        _touched()
        return super().__hash__()


class Number(int):
    """A number that counts how often it is looked up or compared."""

    def __hash__(self):
        _touched()
        return super().__hash__()

    def __lt__(self, other):
        _touched()
        return super().__lt__(other)

    def __gt__(self, other):
        _touched()
        return super().__gt__(other)


def side(*events):
    found = Side("a.ndjson", load_protocol("agent-runtime"))
    for line, (stream, number) in enumerate(events, 1):
        found.take(Heard(Id(f"{stream} {number}"), "task.progress", line, Id(stream), Number(number), {}, ""))
    return found


def every_other_lost(count):
    return side(*(("s", n) for n in range(count))), side(*(("s", n) for n in range(0, count, 2)))


def pairs_swapped(count):
    return side(*(("s", n) for n in range(count))), side(*(("s", n ^ 1) for n in range(count)))


def read_backwards(count):
    return side(*(("s", n) for n in range(count))), side(*(("s", n) for n in reversed(range(count))))


def sessions_that_are_swapped(count):
    streams = [f"s{n}" for n in range(count // 2)]
    return side(*((s, n) for s in streams for n in (1, 2))), side(*((s, n) for s in streams for n in (2, 1)))


def sessions_with_a_gap(count):
    return side(*((f"s{n}", 1) for n in range(count))), side(*((f"s{n}", 3) for n in range(count)))


STORIES = [every_other_lost, pairs_swapped, read_backwards, sessions_that_are_swapped, sessions_with_a_gap]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_four_times_the_events_take_four_times_the_work(story, mode):
    assert _work(story(FEW * TIMES), mode) < MOST * _work(story(FEW), mode)


def _work(sides, mode):
    compare(*sides, mode)  # what is found out once
    before = _touches
    return lines_run(lambda: compare(*sides, mode)) + _touches - before
