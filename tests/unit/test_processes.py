"""How many processes a check takes that was not told."""

import os

import pytest

from tests.conformance.test_apart import asks, in_turn, session
from tests.properties.apart import written
from validator import dividing, judging, processes
from validator.engine import Options
from validator.processes import AUTO, fitting


@pytest.fixture
def machine(monkeypatch):
    """Says how many processors there are; captures of a few bytes are large."""

    def of(count):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _process: set(range(count)), raising=False)
        monkeypatch.setattr(processes, "WORTH", 100)
        monkeypatch.setattr(processes, "LARGE", 1)

    return of


def file_of(folder, size):
    path = folder / f"{size}.ndjson"
    path.write_bytes(b"x" * size)
    return str(path)


def test_small_captures_are_judged_by_one_process(machine, tmp_path):
    machine(4)
    assert fitting([file_of(tmp_path, 99)]) == 1
    assert fitting([file_of(tmp_path, 100)]) == 4
    assert fitting([file_of(tmp_path, 60), file_of(tmp_path, 40)]) == 4


def test_one_processor_has_one_process_and_many_have_not_too_many(machine, tmp_path):
    path = file_of(tmp_path, 100)
    machine(1)
    assert fitting([path]) == 1
    machine(64)
    assert fitting([path]) == processes.MOST


def test_what_has_no_size_counts_nothing(machine, tmp_path):
    machine(4)
    assert fitting(["-", str(tmp_path), str(tmp_path / "gone"), "a\0b"]) == 1


def test_where_nobody_says_which_processors_may_be_used_all_are(machine, monkeypatch, tmp_path):
    machine(4)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    for known, count in ((3, 3), (None, 1)):
        monkeypatch.setattr(os, "cpu_count", lambda known=known: known)
        assert fitting([file_of(tmp_path, 100)]) == count


def refused(*_arguments, **_more):
    raise AssertionError("another way was meant")


@pytest.fixture
def two(tmp_path):
    path = tmp_path / "two.ndjson"
    path.write_bytes(written(in_turn(session("a", *asks("a")), session("b", *asks("b")))))
    return path


def test_a_large_capture_is_divided_by_its_sessions(machine, two, monkeypatch):
    whole = judging.judge([str(two)], Options()).reports
    machine(2)
    monkeypatch.setattr(judging, "_one_by_one", refused)
    assert judging.judge([str(two)], Options(), AUTO).reports == whole


@pytest.mark.parametrize("end", [b"", b'{"cut\n'])
def test_a_capture_that_cannot_be_divided_is_judged_by_one_process_unless_more_are_asked_for(machine, two, end):
    """Two sessions that name the same thing are not divided at all; a line at the end is met too late for that."""
    if end:
        two.write_bytes(two.read_bytes() + end)
    else:
        two.write_bytes(two.read_bytes().replace(b'"b-', b'"a-'))
    whole = judging.judge([str(two)], Options()).reports
    machine(2)
    with pytest.MonkeyPatch.context() as patcher:
        patcher.setattr(dividing, "in_shares", refused)
        heard = []
        assert judging.judge([str(two)], Options(), AUTO, heard.append).reports == whole
        assert sum(heard) == two.stat().st_size
        with pytest.raises(AssertionError, match="another way"):
            judging.judge([str(two)], Options(), 2)


def test_several_large_captures_are_judged_at_the_same_time(machine, two, tmp_path, monkeypatch):
    other = tmp_path / "other.ndjson"
    other.write_bytes(two.read_bytes())
    paths = [str(two), str(other)]
    whole = judging.judge(paths, Options()).reports
    machine(2)
    monkeypatch.setattr(judging, "_one_by_one", refused)
    assert judging.judge(paths, Options(), AUTO).reports == whole
