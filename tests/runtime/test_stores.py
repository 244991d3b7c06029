"""Both stores keep the same promise."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from reference_runtime.errors import PositionConflict, StoreError, StoreFull, StoreLocked
from reference_runtime.facts.record import LINKS, Record
from reference_runtime.log.base import Change, Store
from reference_runtime.log.memory import MemoryStore
from reference_runtime.log.sqlite import SqliteStore


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path) -> Store:
    made = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "store.db")
    yield made
    made.close()


def change(store: Store, *events: str, records: tuple[Record, ...] = (), reply=None) -> Change:
    lines = [{"event_id": name, "session_id": "s"} for name in events]
    return Change(store.position(), store.ordinal() + len(records), lines, list(records), reply, ["s"] * len(lines))


def record(identity: str, ordinal: int, **more) -> Record:
    return Record("turn", identity, ordinal, session="s", thread="t", state="running", **more)


def test_a_change_is_kept_whole(store):
    store.commit(change(store, "e1", "e2", records=(record("a", 1),), reply=("k", "digest", {"outcome": "accepted"})))
    assert store.position() == 2
    assert [event["event_id"] for event in store.read()] == ["e1", "e2"]
    assert [event["event_id"] for event in store.read(after=1)] == ["e2"]
    assert list(store.read(session="other")) == []
    assert store.load("turn", "a") == record("a", 1)
    assert store.reply("k") == ("digest", {"outcome": "accepted"})
    assert store.ordinal() == 1


def test_a_stream_is_read_on_from_a_sequence_and_never_more_than_asked_for(store):
    for name, sequence in (("s", 1), ("other", 1), ("s", 2), ("s", 3), ("other", 2)):
        event = {"event_id": f"{name}{sequence}", "session_id": name, "sequence": sequence}
        store.commit(Change(store.position(), 0, [event], streams=[name]))

    def read(*asked):
        return [event["event_id"] for event in store.tail(*asked)]

    assert read("s", 0, 9) == ["s1", "s2", "s3"]
    assert read("s", 1, 1) == ["s2"]
    assert read("other", 1, 9) == ["other2"]
    assert read("s", 3, 9) == read("nobody", 0, 9) == []


def test_a_change_that_was_overtaken_keeps_nothing(store):
    late = change(store, "late", records=(record("late", 1),), reply=("late", "d", {}))
    store.commit(change(store, "e1"))
    with pytest.raises(PositionConflict):
        store.commit(late)
    assert [event["event_id"] for event in store.read()] == ["e1"]
    assert store.load("turn", "late") is None
    assert store.reply("late") is None


def test_records_are_found_by_the_ids_they_were_told_with_in_order(store):
    mine = {"scope": {"task_id": "k"}}
    store.commit(
        change(store, "e", records=(record("b", 2, **mine), record("a", 1, **mine), record("c", 3, open=False)))
    )
    assert [one.id for one in store.find("turn", {"session_id": "s"}, None)] == ["a", "b", "c"]
    assert [one.id for one in store.find("turn", {"session_id": "s"}, True)] == ["a", "b"]
    assert [one.id for one in store.find("turn", {"thread_id": "t", "task_id": "k"}, None)] == ["a", "b"]
    assert [one.id for one in store.find("turn", {}, False)] == ["c"]
    assert store.find("turn", {"task_id": "other"}, None) == []


@pytest.mark.parametrize("name", ["session_id", "thread_id", *LINKS, None])
def test_a_query_reads_no_records_but_those_it_asks_for(tmp_path, name):
    store, asked = SqliteStore(tmp_path / "store.db"), []
    store._db.set_trace_callback(asked.append)
    store.find("turn", {"session_id": "s", name: "x"} if name else {}, True)
    store._db.set_trace_callback(None)
    (sql,) = asked
    plan = store._db.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()[0][3]
    assert f"USING INDEX {f'by_{name}' if name else 'open_records'} (kind=?" in plan
    store.close()


def test_what_was_read_can_be_changed_without_changing_what_is_kept(store):
    store.commit(change(store, "e", records=(record("a", 1, data={"list": [1]}),)))
    store.load("turn", "a").data["list"].append(2)
    store.find("turn", {}, None)[0].state = "gone"
    assert store.load("turn", "a") == record("a", 1, data={"list": [1]})


def test_what_was_kept_is_not_changed_by_those_who_hold_a_part_of_it(store):
    told = {"worker": {"refs": ["a"]}, "title": "b"}
    store.commit(change(store, "e", records=(record("a", 1, data=dict(told)),)))
    told["worker"]["refs"].append("c")
    assert store.load("turn", "a").data == {"worker": {"refs": ["a"]}, "title": "b"}


def test_what_was_found_once_is_found_anew_when_it_changed(store):
    def found():
        return [(one.id, one.state) for one in store.find("turn", {"session_id": "s"}, None)]

    assert found() == []
    store.commit(change(store, "e1", records=(record("a", 1),)))
    assert found() == found() == [("a", "running")]
    store.commit(change(store, "e2", records=(Record("turn", "a", 1, session="s", state="done"), record("b", 2))))
    assert found() == [("a", "done"), ("b", "running")]
    with pytest.raises(PositionConflict):
        store.commit(Change(0, 3, [], [record("c", 3)]))
    assert found() == [("a", "done"), ("b", "running")]


def test_what_is_linked_to_a_subject_that_began_here_is_known_without_the_file(tmp_path):
    store, asked, task = SqliteStore(tmp_path / "store.db"), [], {"task_id": "k"}

    def calls(number):
        made = (Record("tool_call", f"c{n}", n + 2, session="s", scope=task) for n in range(number))
        store.commit(change(store, "e", records=(Record("task", "k", 1, session="s", scope=task), *made)))
        return [one.id for one in store.find("tool_call", {"session_id": "s", **task}, None)]

    assert (store.position(), store.load("task", "k"), store.find("tool_call", task, None)) == (0, None, [])
    store._db.set_trace_callback(lambda sql: asked.append(sql) if sql.startswith("SELECT") else None)
    assert (calls(0), calls(2)) == ([], ["c0", "c1"])
    assert (store.find("tool_call", task, False), store.find("job", task, None), asked) == ([], [], [])
    assert len(calls(80)) == 80
    assert asked, "so many are left to the file"
    store._db.set_trace_callback(None)
    store.close()


def test_what_another_writer_changed_is_noticed_with_the_position(tmp_path):
    first, second = SqliteStore(tmp_path / "store.db"), SqliteStore(tmp_path / "store.db")
    assert (first.position(), first.ordinal(), first.find("turn", {}, None)) == (0, 0, [])
    second.commit(change(second, "e1", records=(record("a", 1),)))
    with pytest.raises(PositionConflict):
        first.commit(Change(0, 1, [{}], [record("late", 1)], streams=["s"]))
    second.commit(change(second, "e2", records=(record("b", 2),)))
    assert (first.position(), first.ordinal()) == (2, 2)
    assert [one.id for one in first.find("turn", {}, None)] == ["a", "b"]
    first.close()
    second.close()


def test_a_file_is_still_there_when_it_is_opened_again(tmp_path):
    first = SqliteStore(tmp_path / "store.db")
    first.commit(change(first, "e1", records=(record("a", 1),)))
    first.close()
    second = SqliteStore(tmp_path / "store.db")
    assert (second.position(), second.ordinal(), second.load("turn", "a").state) == (1, 1, "running")
    second.close()


def refused(store: SqliteStore, error: type, act: Callable[[], None]) -> None:
    """The change is refused by name, and nothing of it is kept."""
    position = store.position()
    with pytest.raises(error):
        act()
    assert store.position() == position


def test_a_full_disk_loses_nothing_that_was_kept(tmp_path):
    store = SqliteStore(tmp_path / "store.db")
    store.commit(change(store, "e1"))
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count = {pages}")
    refused(store, StoreFull, lambda: store.commit(change(store, *(f"big{'x' * 9000}{n}" for n in range(4)))))
    assert [event["event_id"] for event in store.read()] == ["e1"]
    store._db.execute(f"PRAGMA max_page_count = {pages + 1000}")
    store.commit(change(store, "e2"))
    assert store.position() == 2
    store.close()


def test_a_locked_file_is_said_to_be_locked(tmp_path):
    store, other = SqliteStore(tmp_path / "store.db", wait_seconds=0), SqliteStore(tmp_path / "store.db")
    store.commit(change(store, "e1"))
    other._db.execute("BEGIN IMMEDIATE")
    refused(store, StoreLocked, lambda: store.commit(change(store, "e2")))
    other._db.execute("ROLLBACK")
    store.commit(change(store, "e2"))
    assert [event["event_id"] for event in other.read()] == ["e1", "e2"]
    store.close()
    other.close()


def test_a_record_that_another_writer_moved_meanwhile_is_written_whole(tmp_path):
    first, second = SqliteStore(tmp_path / "store.db"), SqliteStore(tmp_path / "store.db")
    first.commit(change(first, "e1", records=(record("a", 1),)))
    elsewhere = Record("turn", "a", 1, session="s", thread="u", state="running")
    second.commit(change(second, records=(elsewhere,)))
    first.commit(Change(1, 1, [{}], [record("a", 1, data={"title": "t"})], streams=["s"]))
    assert second.position() == 2
    assert [one.data for one in second.find("turn", {"thread_id": "t"}, None)] == [{"title": "t"}]
    assert second.find("turn", {"thread_id": "u"}, None) == []
    first.close()
    second.close()


_ELSEWHERE = [
    {"session": "x"}, {"session": None}, {"thread": "x"}, {"thread": None}, {"open": False}, {"scope": {}},
    {"scope": {"task_id": "x", "step_id": "z"}}, {"scope": {"task_id": "k", "step_id": "x"}},
    {"scope": {"run_id": "r", "task_id": "k", "step_id": "z"}, "thread": "x", "open": False},
]  # fmt: skip


@pytest.mark.parametrize("elsewhere", _ELSEWHERE, ids=str)
def test_a_record_that_moved_stands_in_the_file_as_one_that_began_there(elsewhere, tmp_path):
    began = replace(record("a", 1), scope={"task_id": "k", "step_id": "z"})
    moved, whole = SqliteStore(tmp_path / "moved.db"), SqliteStore(tmp_path / "whole.db")
    moved.commit(change(moved, "e1", records=(began,)))
    for store in (moved, whole):
        store.commit(change(store, "e2", records=(replace(began, **elsewhere),)))
    told = [store._db.execute("SELECT * FROM records").fetchall() for store in (moved, whole)]
    assert told[0] == told[1]
    assert moved._db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    moved.close()
    whole.close()


def test_a_change_that_failed_leaves_no_place_behind(tmp_path):
    store = SqliteStore(tmp_path / "store.db")
    store.commit(change(store, "e1", reply=("k", "digest", {})))
    with pytest.raises(StoreError):
        store.commit(change(store, "e2", records=(record("a", 1),), reply=("k", "digest", {})))
    store.commit(change(store, "e2", records=(record("a", 1),)))
    assert SqliteStore(tmp_path / "store.db").load("turn", "a") == record("a", 1)
    store.close()
