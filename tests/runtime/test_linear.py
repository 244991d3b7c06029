"""What the runtime takes grows with what it is given, and not with what lies there already.

Counted are the lines of our own code that are run, so that no clock is asked.
"""

import json
from pathlib import Path

import pytest

import reference_runtime
from reference_runtime.__main__ import main
from reference_runtime.facts.record import Record
from reference_runtime.log import memory
from reference_runtime.log.base import Change
from tests.bench.limits import slow_inputs
from tests.bench.work import lines_run

HOME = str(Path(reference_runtime.__file__).parent)
FEW, TIMES, MOST = 400, 4, 4.4


@pytest.mark.parametrize("name", ["tasks within tasks", "many open calls", "many sessions"])
def test_four_times_the_capture_is_replayed_with_four_times_the_work(name, tmp_path, capsys):
    def work(events):
        path = tmp_path / "run.ndjson"
        path.write_bytes(b"".join(slow_inputs(events)[name]()))
        main(["replay", str(path)])
        return lines_run(lambda: main(["replay", str(path)]), HOME)

    assert work(FEW * TIMES) < MOST * work(FEW)
    capsys.readouterr()


def over(count):
    """A store in which so many turns of a thread are over and one is open."""
    store = memory.MemoryStore()
    turns = [Record("turn", f"t{number}", number + 1, "s", "t", "completed", open=False) for number in range(count)]
    store.commit(Change(0, count + 1, records=[*turns, Record("turn", "last", count + 1, "s", "t", "running")]))
    return store


@pytest.mark.parametrize("where", [{"session_id": "s", "thread_id": "t"}, {"thread_id": "t"}, {}])
def test_open_records_are_found_in_memory_without_those_that_are_over(where):
    def work(count):
        store = over(count)
        assert [record.id for record in store.find("turn", where, True)] == ["last"]
        return lines_run(lambda: store.find("turn", where, True), HOME)

    assert work(FEW) == work(1)


def test_a_record_that_is_opened_again_is_found_again():
    store = over(1)
    again = store.load("turn", "t0")
    again.open = True
    store.commit(Change(0, 3, records=[again]))
    assert [record.id for record in store.find("turn", {"thread_id": "t"}, True)] == ["t0", "last"]


def test_a_page_of_a_stream_is_read_in_memory_without_what_stands_before_it(monkeypatch):
    store, read = memory.MemoryStore(), []
    for number in range(1, FEW):
        events = [{"session_id": name, "sequence": number} for name in ("one", "two", "three")]
        store.commit(Change(store.position(), 0, events, streams=["one", "two", "three"]))
    monkeypatch.setattr(memory.json, "loads", lambda text, loads=json.loads: read.append(text) or loads(text))
    assert [event["sequence"] for event in store.tail("two", FEW - 10, 3)] == [FEW - 9, FEW - 8, FEW - 7]
    assert len(read) == 3


def test_a_stream_is_read_in_memory_without_the_others():
    def work(others):
        store, streams = memory.MemoryStore(), ["one", *["two"] * others]
        store.commit(Change(0, 0, [{"session_id": name} for name in streams], streams=streams))
        assert list(store.read(session="one")) == [{"session_id": "one"}]
        return lines_run(lambda: list(store.read(session="one")), HOME)

    assert work(FEW) == work(1)
