"""A Hypothesis machine that treats a ledger as hosts, workers, readers, sweepers and a power cut would.

Runs are begun, written, finalized and recovered in any order, several of them in a thread at once. Beside the ledger
the machine keeps a small account of what was acknowledged, and the ledger has to agree with it after every act.
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from hypothesis import settings as hypothesis_settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from reference_runtime.capture import LineCapture
from reference_runtime.contract import Contract
from reference_runtime.errors import CommandRejected
from reference_runtime.lifecycles.agent_threads.host import call, event, result
from reference_runtime.lifecycles.agent_threads.ledger import Ledger
from reference_runtime.lifecycles.agent_threads.observer import Observer
from reference_runtime.log.sqlite import SqliteStore
from reference_runtime.stamping import VirtualClock
from tests.runtime.agent_threads.reading import disagreements
from tests.runtime.judging import findings

CONTRACT = Contract("agent-threads/1")
THREADS = st.sampled_from(["t1", "t2"])
RUNS = st.integers(0, 7)
"""Which run: up to five one of those at work, counted back from the newest, else any."""
FORKS = st.sampled_from([0, 0, 1, 2, None])
"""Which message, counted from the first; runs meet at the same fork often."""
KEYS = st.none() | st.sampled_from(["k1", "k2"])
WHOLE = [event("step-started", stepIndex=0), event("step-finished", stepIndex=0, finishReason="stop")]
BATCHES = st.lists(
    st.sampled_from(
        [
            *[event("text-delta", delta=word) for word in ("", "a", "b c")],
            *[event("user-message", content="q"), event("reasoning", text="r"), event("acme-note", n=1)],
            *[event("file", mimeType="text/csv", url="store://f"), event("error", message="Slow.")],
            *[call("c1", "look"), call("c2", "read"), result("c1", 1), result("c2", "no", isError=True)],
            *[*WHOLE, event("step-started", stepIndex=1), event("text-delta", text="misshaped")],
        ]
    ),
    max_size=4,
)


class LedgerMachine(RuleBasedStateMachine):
    """Every rule is one act from outside; crashes come between any two of them."""

    @initialize()
    def begin_all(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.text, self.seen, self.clock = io.StringIO(), io.StringIO(), VirtualClock()
        self.store: SqliteStore | None = None
        self.account: dict[str, dict[str, Any]] = {}
        self.answers: dict[tuple[str, str], tuple[Any, Any]] = {}
        self.capture = LineCapture(self.text, CONTRACT, completeness="prefix")
        self.open()
        self.eye = Observer(self.ledger, LineCapture(self.seen, CONTRACT, completeness="prefix"))
        self.exchange()

    def open(self) -> None:
        self.store = SqliteStore(Path(self.folder.name) / "store.db")
        # A process that dies loses nothing that way, only a machine does; the time is spent on more acts.
        self.store._db.execute("PRAGMA synchronous=OFF")
        self.ledger = Ledger(self.store, self.clock, self.capture)
        self.other = Ledger(self.store, VirtualClock(), self.capture)

    def exchange(self) -> None:
        """A question and an answer, so that there is something to fork from."""
        run = self.keep(self.ledger.start("t1"))
        self.write(run, [event("user-message", content="q"), event("text-delta", delta="a")])
        self.end(run, "committed")
        assert self.account[run]["status"] == "committed"

    def keep(self, record: dict[str, Any]) -> str:
        self.account[record["runId"]] = {**record, "head": 0}
        return record["runId"]

    def chosen(self, run: int) -> str:
        working = [name for name, known in self.account.items() if known["status"] in {"created", "streaming"}]
        names = working if working and run <= 5 else list(self.account)
        return names[-1 - run % len(names)]

    def fork(self, thread: str, place: int | None) -> str | None:
        names = [record.id for record in self.store.find("message", {"thread_id": thread}, None)]
        return names[place] if place is not None and place < len(names) else None

    @contextlib.contextmanager
    def refusable(self):
        """An act may be refused, and then nothing of it is there."""
        before = self.store.position()
        try:
            yield
        except CommandRejected:
            assert self.store.position() == before

    def keyed(self, act: str, key: str | None, asked: Any, answer: Any, before: int) -> bool:
        """Notes an answer under its key; false when it was given before, and then nothing may have changed."""
        if key is None:
            return True
        if (act, key) in self.answers:
            assert (asked, answer) == self.answers[act, key]
            assert self.store.position() == before, "a repetition took effect"
            return False
        self.answers[act, key] = (asked, answer)
        return True

    @rule()
    def switch(self):
        """The next acts come from another process, whose clock is behind."""
        self.ledger, self.other = self.other, self.ledger

    @rule(thread=THREADS, place=FORKS, key=KEYS)
    def begin(self, thread, place, key):
        fork, before = self.fork(thread, place), self.store.position()
        with self.refusable():
            record = self.ledger.begin(thread, fork, key)
            if self.keyed("begin", key, [thread, fork], record, before):
                self.keep(record)

    @rule(thread=THREADS, place=FORKS)
    def start(self, thread, place):
        self.keep(self.ledger.start(thread, self.fork(thread, place)))

    @rule(run=RUNS)
    def activate(self, run):
        run = self.chosen(run)
        with self.refusable():
            self.account[run]["status"] = self.ledger.activate(run)["status"]

    @rule(run=RUNS, events=BATCHES, key=KEYS)
    def append(self, run, events, key):
        self.write(self.chosen(run), events, key)

    def write(self, run: str, events: list[dict[str, Any]], key: str | None = None) -> None:
        before = self.store.position()
        with self.refusable():
            answer = self.ledger.append(run, events, key)
            if self.keyed("append", key, [run, events], answer, before):
                assert answer["lastSeq"] == self.account[run]["head"] + len(events)
                self.account[run]["head"] = answer["lastSeq"]

    @rule(run=RUNS, text=st.sampled_from(["x", "y"]))
    def say(self, run, text):
        """What makes most streams fit to commit."""
        self.write(self.chosen(run), [WHOLE[0], event("text-delta", delta=text), WHOLE[1]])

    @rule(place=FORKS, words=st.lists(st.integers(0, 2), max_size=5), order=st.permutations(range(3)))
    def race(self, place, words, order):
        """Three runs at one fork take turns on their streams, and end in another order than they began."""
        fork = self.fork("t1", place)
        runs = [self.keep(self.ledger.start("t1", fork)) for _ in order]
        for number in words:
            self.write(runs[number], [event("text-delta", delta=str(number))])
        for number, status in zip(order, ("committed", "committed", "failed"), strict=True):
            self.end(runs[number], status)

    @rule(run=RUNS, status=st.sampled_from(["committed", "committed", "failed", "cancelled"]))
    def finalize(self, run, status):
        self.end(self.chosen(run), status)

    def end(self, run: str, status: str) -> None:
        with self.refusable():
            before = self.account[run]["status"]
            answer = self.ledger.finalize(run, status)
            assert answer["committed"] == (before in {"streaming", status})
            if before == "streaming":
                self.account[run]["status"] = status
            replaced = self.replaced(run) if (before, status) == ("streaming", "committed") else []
            assert sorted(answer["supersededRunIds"]) == sorted(replaced)
            for other in replaced:
                self.account[other]["status"] = "superseded"

    def replaced(self, run: str) -> list[str]:
        """The runs that a commit supersedes, by the account."""
        place = [self.account[run][name] for name in ("threadId", "forkFromMessageId")]
        return [
            name
            for name, other in self.account.items()
            if name != run and other["status"] == "committed" and place[1] is not None
            if [other[field] for field in ("threadId", "forkFromMessageId")] == place
        ]

    @rule(run=RUNS, action=st.sampled_from(["fail", "cancel"]))
    def recover(self, run, action):
        run = self.chosen(run)
        with self.refusable():
            answer = self.ledger.recover(run, action)
            assert answer["previousStatus"] == self.account[run]["status"]
            self.account[run]["status"] = answer["newStatus"]

    @rule(minutes=st.integers(0, 4))
    def wait(self, minutes):
        self.clock.advance(minutes * 60_000)

    @rule(action=st.sampled_from(["fail", "cancel"]), minutes=st.sampled_from([0, 5]))
    def sweep(self, action, minutes):
        swept = self.ledger.recover_stale(action, timedelta(minutes=minutes))
        assert swept["failed"] == []
        for entry in swept["succeeded"]:
            self.account[entry["runId"]]["status"] = entry["newStatus"]

    @rule(thread=THREADS, place=FORKS, child=st.integers(0, 3))
    def read(self, thread, place, child):
        self.ledger.tree(thread)
        fork, chosen = self.fork(thread, place), self.fork(thread, child)
        for branch in ("active", "all", {"selections": {fork: chosen} if fork and chosen else {}}):
            self.ledger.transcript(thread, branch)

    @rule(run=RUNS)
    def view(self, run):
        self.ledger.view(self.chosen(run))

    @rule(thread=THREADS, run=RUNS, back=st.integers(0, 3))
    def observe(self, thread, run, back):
        self.eye.reconnect(self.chosen(run), back)
        self.eye.look(thread)

    @rule()
    def crash(self):
        """The process is gone; the file is not. What was acknowledged is there when it comes back."""
        self.store.close()
        self.capture.restart("kill", "rt_threads", "2026-05-08T09:00:00Z")
        self.open()
        self.eye._ledger = self.ledger
        for (act, key), (asked, answer) in self.answers.items():
            assert getattr(self.ledger, act)(*asked, key) == answer

    @invariant()
    def the_ledger_agrees_with_the_account(self):
        for name, known in self.account.items():
            record = self.store.load("run", name)
            assert (record.state, record.data["lastSeq"]) == (known["status"], known["head"])

    def teardown(self) -> None:
        if not hasattr(self, "ledger"):
            return
        with self.folder, contextlib.closing(self.store):
            self.check_all()

    def check_all(self) -> None:
        for thread in ("t1", "t2"):
            self.read(thread=thread, place=0, child=1)
            self.eye.look(thread)
            self.eye.read(thread)
        for number in range(len(self.account)):
            self.view(run=number)
        told = [json.loads(line) for line in self.text.getvalue().splitlines()]
        kept = [line for line in told if line.get("record") in {None, "run"}]
        assert kept == list(self.store.read())
        assert findings(self.text.getvalue()) == []
        assert findings(self.seen.getvalue()) == []
        assert disagreements(self.text.getvalue()) == []


TestLedgerMachine = LedgerMachine.TestCase
TestLedgerMachine.settings = hypothesis_settings(stateful_step_count=30)
