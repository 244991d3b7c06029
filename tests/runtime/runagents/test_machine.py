"""Random acts, legal and illegal, with crashes between them and in the middle of calls: the judge finds nothing."""

import pytest

from reference_runtime.lifecycles.runagents import stage
from tests.runtime.runagents.machine import PlatformMachine, TestPlatformMachine

__all__ = ["TestPlatformMachine"]


@pytest.mark.parametrize("granted", [False, True])
def test_what_was_granted_waits_while_its_run_waits_at_another_gate(granted):
    """Found by the machine: an agent may call again before the platform takes up what was granted (RA-80)."""
    state = PlatformMachine()
    state.begin(vocabulary="api")
    state.create(agent="foreign-agent", key=None, text="Hi")
    state.block(number=0, place=0, whole=False)
    state.decide(approve=True, key=None, late=False, pending=False, place=0, scope="once")
    state.call(call=stage.REFUND, place=0)
    state.work()
    assert [one["status"] for one in state.platform.runs()] == ["PAUSED_APPROVAL"]
    if granted:
        state.decide(approve=True, key=None, late=False, pending=True, place=0, scope="once")
        state.work()
        assert [one["status"] for one in state.platform.runs()] == ["RUNNING"]
        assert state.effects == ["stripe"]
    state.teardown()
