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
