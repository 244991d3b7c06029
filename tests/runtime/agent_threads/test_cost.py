"""What an act on the ledger reads and writes does not grow with the log."""

from reference_runtime.lifecycles.agent_threads.host import Host, event
from reference_runtime.lifecycles.agent_threads.ledger import Ledger
from tests.runtime.test_cost import CountingStore


def test_an_exchange_costs_the_same_however_many_threads_there_are():
    store = CountingStore()
    ledger, costs = Ledger(store), []
    for number in range(20):
        before = store.crossed
        question, _ = Host(ledger, f"t{number}").exchange("q", "a")
        Host(ledger, f"t{number}").regenerate(question, "b")
        costs.append(store.crossed - before)
    assert set(costs[1:]) == {costs[1]}


def test_an_append_costs_the_same_however_long_the_stream_is():
    store = CountingStore()
    ledger = Ledger(store)
    run, costs = Host(ledger, "t").answer(None), []
    for _ in range(40):
        before = store.crossed
        ledger.append(run, [event("text-delta", delta="word ")])
        costs.append(store.crossed - before)
    assert set(costs) == {costs[0]}
