"""Reading: pages, windows and scopes."""

import pytest

from reference_runtime.facts.unit import Unit
from reference_runtime.log.memory import MemoryStore
from reference_runtime.projections import MODELS
from reference_runtime.service import Runtime
from reference_runtime.settings import Settings
from reference_runtime.work.engine import Worker
from tests.runtime.machine import SCRIPTS

PARTS = [{"kind": "text", "text": "hi"}]


@pytest.fixture(scope="module")
def runtime():
    made = Runtime(MemoryStore(), Settings(scripts=SCRIPTS))
    for name in ("a", "b", "c"):
        request = {"session_id": "s", "thread_id": "t", "turn_id": name, "input_parts": PARTS}
        made.handle("submit_turn", {**request, "options": {"script": "silent"}})
    Worker(made).run()
    for number in range(5):
        made.handle("create_task", {"session_id": "s", "task_id": f"k{number}", "objective": "o"})
    made.handle("start_task", {"task_id": "k3"})
    return made


def listed(answer):
    lists = ("active", "waiting", "blocked", "failed", "lost", "recent_terminal")
    return sorted(task["task_id"] for name in lists for task in answer["snapshot"][name])


def test_tasks_come_page_by_page_and_each_once(runtime):
    found, cursor = [], {}
    for _ in range(3):
        answer = runtime.handle("list_tasks", {"session_id": "s", "limit": 2, **cursor})
        found += listed(answer)
        cursor = {"cursor": answer["cursor"]} if "cursor" in answer else {}
    assert found == ["k0", "k1", "k2", "k3", "k4"]
    assert not cursor


def test_tasks_are_limited_to_the_statuses_asked_for(runtime):
    assert listed(runtime.handle("list_tasks", {"session_id": "s", "statuses": ["running"]})) == ["k3"]


def test_a_window_shows_the_latest_turns_and_says_that_there_are_older_ones(runtime):
    shown = runtime.handle("get_session", {"session_id": "s", "window": 1})["snapshot"]
    assert [turn["turn_id"] for turn in shown["recent_turns"]] == ["c"]
    assert shown["history_truncated"] is True
    older = runtime.handle("get_session", {"session_id": "s", "window": 1, "cursor": shown["history_cursor"]})[
        "snapshot"
    ]
    assert [turn["turn_id"] for turn in older["recent_turns"]] == ["b", "c"]
    whole = runtime.handle("get_session", {"session_id": "s", "window": 9})["snapshot"]
    assert ([turn["turn_id"] for turn in whole["recent_turns"]], whole["history_truncated"]) == (["a", "b", "c"], False)


def test_a_read_that_is_not_asked_for_a_window_writes_nothing(runtime):
    position = runtime.store.position()
    runtime.handle("get_session", {"session_id": "s"})
    runtime.handle("get_thread_read", {"session_id": "s", "thread_id": "t"})
    runtime.handle("list_tasks", {"session_id": "s"})
    assert runtime.store.position() == position


def test_a_model_of_the_whole_session_is_not_served_for_a_thread(runtime):
    with pytest.raises(ValueError, match="whole session"):
        runtime.snapshot("routing_limit_summary", "s", "t")


def test_what_no_event_has_to_remember_is_shown_by_no_read_model():
    assert Unit.unshown.isdisjoint(kind for model in MODELS.values() for kind in model.VIEWS)


def test_when_a_task_changed_is_shown_by_no_view_of_a_task(runtime):
    """So that noting it after the views were compared changes none of them."""
    views = [model.VIEWS["task"] for model in MODELS.values() if "task" in model.VIEWS]
    record = runtime.store.load("task", "k3")
    before = [view(record) for view in views]
    assert record.data.pop("updated_at")
    assert len(before) > 2
    assert [view(record) for view in views] == before
