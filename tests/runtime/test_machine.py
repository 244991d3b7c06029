"""Random acts, legal and illegal, with crashes between them: the judge finds nothing and both readings agree."""

import pytest

from tests.runtime.machine import RuntimeMachine, TestRuntimeMachine

__all__ = ["TestRuntimeMachine"]


def test_a_job_of_a_task_that_gets_its_thread_later():
    """Found by the machine: the job is listed in the thread that its task turns out to be in (19.7)."""
    state = RuntimeMachine()
    state.begin()
    state.create_task(key=None, parent=None, task="task_a", thread=None)
    state.create_job(job="job_a", key=None, task="task_a")
    state.spawn(child="sub_a", task="task_a", turn=None)
    state.teardown()


def test_a_turn_that_is_routed_as_the_last_one_was_changes_nothing_that_is_shown():
    """Found by the machine: what is told of another turn is no other document (19.4, `updated_at`)."""
    state = RuntimeMachine()
    state.begin()
    state.interrupt(key=None, policy=None, thread="thr_1", turn=None)
    for script in ("reply", "fails"):
        state.submit(key=None, script=script, thread="thr_1", turn=None)
    state.work(steps=4)
    state.crash()
    state.work(steps=2)
    state.teardown()


def _two_tasks() -> RuntimeMachine:
    state = RuntimeMachine()
    state.begin()
    for task in ("task_a", "task_c"):
        state.create_task(key=None, parent=None, task=task, thread=None)
    return state


def test_a_task_that_work_was_handed_to_is_cancelled_with_its_parent():
    """Found by the machine: an edge makes a child as well as a birth does (ORC-9)."""
    state = _two_tasks()
    state.edge("task_a", "task_c", "child", link=True)
    state.send("cancel_task", task_id="task_a", reason="So.")
    assert state.store.load("task", "task_c").state == "cancelled"
    state.teardown()


def test_tasks_that_handed_work_to_each_other_are_cancelled_once_each():
    state = _two_tasks()
    state.edge("task_a", "task_c", "child", link=True)
    state.edge("task_c", "task_a", "child", link=True)
    state.send("cancel_task", task_id="task_a", reason="So.")
    assert [state.store.load("task", name).state for name in ("task_a", "task_c")] == ["cancelled", "cancelled"]
    state.teardown()


def test_a_task_whose_edge_was_taken_back_goes_on():
    state = _two_tasks()
    state.edge("task_a", "task_c", "child", link=True)
    state.edge("task_a", "task_c", "child", link=False)
    state.send("cancel_task", task_id="task_a", reason="So.")
    assert state.store.load("task", "task_c").state == "accepted"
    state.teardown()


def test_a_subagent_that_work_was_handed_to_ends_with_the_task():
    state = _two_tasks()
    state.spawn(child="sub_a", task=None, turn=None)
    state.edge("task_a", "sub_a", "spawned_subagent", link=True)
    assert state.send("complete_task", task_id="task_a")["error"]["code"] == "children_open"
    state.send("cancel_task", task_id="task_a", reason="So.")
    assert state.store.load("subagent", "sub_a").state == "cancelled"
    state.teardown()


def test_the_tools_of_a_session_name_the_turn_they_were_resolved_for():
    """Found by the machine: a catalogue for a wider scope stands between two of a turn (19.8)."""
    state = RuntimeMachine()
    state.begin()
    state.work(steps=3)
    state.crash()
    state.read(window=None)
    state.resume(thread="thr_1")
    state.work(steps=3)
    state.teardown()


def test_a_task_that_was_resumed_without_an_attempt_is_lost_with_the_process():
    """Found by the machine: what ran when the process went is not shown as running after it (HON-37)."""
    state = RuntimeMachine()
    state.begin()
    state.create_task(key=None, parent=None, task="task_a", thread=None)
    state.task(act="start_task", key=None, task="task_a")
    state.crash()
    state.move_task(act="resume_task", key=None, propagation=None, task="task_a")
    assert state.store.load("task", "task_a").state == "running"
    state.crash()
    assert state.store.load("task", "task_a").state == "lost"
    state.teardown()


@pytest.mark.parametrize("steps", [3, 4, 5])
def test_a_decision_about_a_call_that_has_not_started_names_its_turn(steps):
    """Found by the machine: a hook or a first decision has told where the call belongs (ENV-26)."""
    state = RuntimeMachine()
    state.begin()
    state.submit(key=None, script="read", thread="thr_1", turn=None)
    state.work(steps=9)
    state.crash()
    state.work(steps=steps)
    state.evaluate(number=1)
    told = [event for event in state.store.read() if event["type"].startswith("permission.")]
    assert all(event["turn_id"] == "turn_2" for event in told)
    assert told
    state.teardown()


def _about_to_ask() -> RuntimeMachine:
    """It was decided to ask about a call, and the question does not stand yet."""
    state = RuntimeMachine()
    state.begin()
    state.interrupt(key=None, policy=None, thread="thr_1", turn=None)
    state.submit(key=None, script="shell", thread="thr_2", turn=None)
    state.work(steps=4)
    return state


def test_a_permission_is_not_resolved_before_its_question_was_asked():
    """Found by the machine: the action that a decision names is required first (PERM-11)."""
    state = _about_to_ask()
    request = {"tool_call_id": "call_1", "decision": "allowed"}
    assert state.send("resolve_permission", **request)["error"]["code"] == "nothing_asked"
    state.work(steps=2)
    assert state.send("resolve_permission", **request)["outcome"] == "accepted"
    state.teardown()


def test_a_turn_is_interrupted_before_its_question_was_asked():
    """Found by the machine: what is cancelled before anybody was asked needs no action (PERM-11)."""
    state = _about_to_ask()
    state.interrupt(key=None, policy=None, thread="thr_2", turn=None)
    assert state.store.load("permission", "call_1").state == "cancelled"
    state.teardown()
