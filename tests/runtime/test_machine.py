"""Random acts, legal and illegal, with crashes between them: the judge finds nothing and both readings agree."""

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
