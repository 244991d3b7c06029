"""Random acts, legal and illegal, with crashes between them: the judge finds nothing and both readings agree."""

import pytest

from tests.runtime.agenthub.machine import HubMachine, TestHubMachine

__all__ = ["TestHubMachine"]


@pytest.mark.parametrize("told", [[], ["plan"], ["plan", "accept"]])
def test_a_run_that_reports_its_phases_fails_in_one_that_the_failure_can_come_from(told):
    """Found by the machine: a runtime that is missing is noticed while preparing, told or not (AH-123)."""
    state = HubMachine()
    state.begin()
    state.ask_for_a_run(access=False, gate="allow", phase="Created")
    state.change_the_edge(online=True, trouble="cli_missing")
    for step in (*told, "start"):
        state.step(key=None, run="run_2", step=step)
    assert state.store.load("run", "run_2").state == "Failed"
    state.teardown()
