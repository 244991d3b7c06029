"""Random acts on a ledger, legal and illegal, with crashes between: the judge finds nothing, both readings agree."""

from tests.runtime.agent_threads.machine import LedgerMachine, TestLedgerMachine

__all__ = ["TestLedgerMachine"]


def test_an_observer_tells_commits_in_the_order_in_which_they_superseded_one_another():
    """Found by the machine: the younger of two runs committed first, and both commits are read at once (AT-73)."""
    state = LedgerMachine()
    state.begin_all()
    for _ in range(2):
        state.start(place=0, thread="t1")
    state.observe(back=0, run=0, thread="t1")
    for _ in range(2):
        state.finalize(run=0, status="committed")
    for _ in range(2):
        state.observe(back=0, run=0, thread="t1")
    statuses = [record["status"] for record in state.ledger.runs("t1")]
    assert statuses == ["committed", "committed", "superseded"]
    state.teardown()
