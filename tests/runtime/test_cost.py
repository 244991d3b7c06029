"""What a command reads and writes does not grow with the log; `tests.runtime.bench` measures how long it takes."""

from reference_runtime.log.memory import MemoryStore
from reference_runtime.service import Runtime
from reference_runtime.settings import Settings
from tests.runtime.bench import one_round
from tests.runtime.machine import SCRIPTS


class CountingStore(MemoryStore):
    """Counts every record and event that crosses its border."""

    def __init__(self):
        super().__init__()
        self.crossed = 0

    def load(self, kind, identity):
        self.crossed += 1
        return super().load(kind, identity)

    def find(self, kind, where, is_open):
        found = super().find(kind, where, is_open)
        self.crossed += 1 + len(found)
        return found

    def read(self, after=0, session=None):
        for event in super().read(after, session):
            self.crossed += 1
            yield event

    def commit(self, change):
        self.crossed += len(change.events) + len(change.records)
        super().commit(change)


def test_ten_times_the_log_costs_the_same():
    store = CountingStore()
    runtime, costs, lengths = Runtime(store, Settings(scripts=SCRIPTS)), [], []
    for number in range(22):
        before = store.crossed
        one_round(runtime, f"round_{number}")
        costs.append(store.crossed - before)
        lengths.append(store.position())
    assert lengths[21] >= 10 * lengths[1]
    assert costs[21] <= 1.2 * costs[1]


def test_the_count_would_show_a_scan():
    store = CountingStore()
    runtime = Runtime(store, Settings(scripts=SCRIPTS))
    for number in range(3):
        one_round(runtime, f"round_{number}")
    before = store.crossed
    list(store.read())
    assert store.crossed - before == store.position()
