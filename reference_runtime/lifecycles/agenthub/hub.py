"""The Hub: what people, Edges and adapters ask of AgentHub, each one decision in the book.

Every command takes an idempotency key; under the same key the first answer is given again and nothing happens twice.
Applying is two decisions with the work between them: the intent is durable before a file is touched.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from reference_runtime.capture import Capture
from reference_runtime.errors import CommandRejected, ContractBroken, IllegalMove
from reference_runtime.facts.record import Record
from reference_runtime.lifecycles.agenthub import acts, applying, approvals, ends, phases
from reference_runtime.lifecycles.agenthub.acts import Action
from reference_runtime.lifecycles.agenthub.facts import learn
from reference_runtime.lifecycles.agenthub.folder import Folder
from reference_runtime.lifecycles.agenthub.lines import Draft, Payload, owned, stamp
from reference_runtime.lifecycles.agenthub.places import Edge, Habits, Wish
from reference_runtime.lifecycles.agenthub.views import run_view
from reference_runtime.lifecycles.book import Answer, Book, Line, Page
from reference_runtime.log.base import Store
from reference_runtime.stamping import Clock

PROTOCOL = "agenthub/1"
Drafts = Iterator[Draft]


class AgentHub:
    """All runs on one store, and the Edges that attempt them."""

    def __init__(
        self,
        store: Store,
        edges: Iterable[Edge],
        habits: Habits | None = None,
        clock: Clock | None = None,
        capture: Capture | None = None,
    ):
        self.book = Book(store, PROTOCOL, stamp, learn, clock, capture)
        self.edges, self.habits = {edge.id: edge for edge in edges}, habits or Habits()

    # Hub and Desktop

    def create(self, request: dict[str, Any], wish: Wish, key: str | None = None) -> Answer:
        if wish.edge not in self.edges:
            raise CommandRejected("unknown_edge", "There is no such Edge.", category="not_found")
        return self._take(key, ["create", request, wish.told()], lambda page: phases.create(page, request, wish))

    def again(self, run: str, key: str | None = None) -> Answer:
        return self._on_run(key, ["again", run], run, lambda page, record: phases.again(page, record))

    def cancel(
        self,
        run: str,
        actor: Payload,
        reason: str = "user_requested",
        message: str | None = None,
        key: str | None = None,
    ) -> Answer:
        said = ["cancel", run, actor, reason, message]
        return self._on_run(key, said, run, lambda page, record: ends.cancel(page, record, actor, reason, message))

    def view(self, run: str) -> dict[str, Any]:
        """The run as it is now, written into the capture as well."""
        return self.book.snapshot("run_view", run_view(self.book.page(), run), stream=run)

    def runs(self, state: str | None = None) -> list[str]:
        """The runs there are, oldest first; those in one state where one is named."""
        return [run.id for run in self.book.page().find("run") if state in {None, run.state}]

    def events(self, run: str, after: int = 0) -> list[Line]:
        """The events of a run behind a sequence: where a timeline goes on after a refresh."""
        return [line for line in self.book.read(stream=run) if line["sequence"] > after]

    def content(self, reference: str) -> Any:
        """What is kept behind a reference, or None."""
        record = self.book.store.load("blob", reference)
        return record.data["content"] if record else None

    # The Edge before the start

    def plan(self, run: str, key: str | None = None) -> Answer:
        return self._on_edge(key, ["plan", run], run, phases.plan)

    def accept(self, run: str, key: str | None = None) -> Answer:
        return self._on_edge(key, ["accept", run], run, phases.accept)

    def prepare(self, run: str, key: str | None = None) -> Answer:
        return self._on_edge(key, ["prepare", run], run, phases.prepare)

    def start(self, run: str, key: str | None = None) -> Answer:
        return self._on_edge(key, ["start", run], run, phases.start)

    def launch(self, run: str, key: str | None = None) -> Answer:
        """Everything up to the start at once, with the events that the habits leave."""

        def decision(page: Page, record: Record, edge: Edge) -> Drafts:
            return phases.launch(page, record, edge, self.habits)

        return self._on_edge(key, ["launch", run], run, decision)

    # The adapter

    def report(self, run: str, kind: str, payload: Payload, key: str | None = None) -> Answer:
        said = ["report", run, kind, payload]
        return self._on_run(key, said, run, lambda page, record: acts.report(page, record, kind, payload))

    def act(self, run: str, action: Action, key: str | None = None) -> Answer:
        def decision(page: Page, record: Record, edge: Edge) -> Drafts:
            return acts.act(page, record, edge, action)

        return self._on_edge(key, ["act", run, repr(action)], run, decision)

    def propose(self, run: str, changes: dict[str, str], summary: str, key: str | None = None) -> Answer:
        def decision(page: Page, record: Record, edge: Edge) -> Drafts:
            return acts.propose(page, record, edge, changes, summary)

        return self._on_edge(key, ["propose", run, changes, summary], run, decision)

    def complete(self, run: str, answer: str, usage: dict[str, Any] | None = None, key: str | None = None) -> Answer:
        said = ["complete", run, answer, usage]
        return self._on_run(key, said, run, lambda page, record: ends.complete(page, record, answer, usage or {}))

    # Reviewers

    def decide(
        self, approval: str, decision: str, actor: Payload, reason: str | None = None, key: str | None = None
    ) -> Answer:
        def decided(page: Page) -> Drafts:
            record = page.need("approval", approval)
            edge = self._edge(page.need("run", record.scope["run_id"]))
            return approvals.decide(page, record, edge, self.habits, decision, actor, reason)

        return self._take(key, ["decide", approval, decision, actor, reason], decided)

    def remind(self, approval: str, key: str | None = None) -> Answer:
        return self._take(
            key, ["remind", approval], lambda page: approvals.remind(page, page.need("approval", approval))
        )

    # The Edge at work

    def apply(self, approval: str, key: str | None = None) -> Answer:
        """Carries out what was approved, between its two events."""
        said = ["apply", approval]
        if (kept := self.book.kept(key, _digest(said))) is not None:
            return kept
        self._take(None, said, lambda page: applying.begin(page, page.need("approval", approval)))
        return self._settle(approval, applying.carry_out, key)

    def tick(self) -> list[str]:
        """Lets lapse what nobody answered, and ends runs that used up their time; says which runs ended."""
        due = [(run.id, self._on_run(None, [], run.id, self._due)) for run in self._open()]
        return [run for run, answer in due if answer["events"]]

    def lose(self, edge: str) -> list[str]:
        """The Edge is gone: its open runs fail, and it accepts no other."""
        self.edges[edge].online = False
        message, details = f"{self.edges[edge].name} does not answer.", {"edge": edge}

        def decision(page: Page, record: Record) -> Drafts:
            return ends.fail(page, record, "target_offline", message, details)

        lost = [run.id for run in self._open() if run.data["wish"]["edge"] == edge]
        for run in lost:
            self._on_run(None, [], run, decision)
        return lost

    def recover(self, reason: str = "crash") -> None:
        """After a restart: what was being applied is settled by what the files show, and runtimes at work are gone.

        A run that waits for a reviewer goes on waiting.
        """
        self.book.capture.restart(reason, "agenthub", self.book.page().now())
        for run in self._open("Applying"):
            self._settle(run.data["applying"], applying.found)

        def decision(page: Page, record: Record) -> Drafts:
            message = "The runtime went away when the Edge was restarted."
            return ends.unavailable(page, record, "adapter_unreachable", message)

        for run in self._open("Preparing", "Running"):
            self._on_run(None, [], run.id, decision)

    def _open(self, *states: str) -> list[Record]:
        found = self.book.page().find("run", is_open=True)
        return [run for run in found if not states or run.state in states]

    def _settle(self, approval: str, outcome: Callable[[Record, Folder], str], key: str | None = None) -> Answer:
        """Finds out how an application ended, and tells it."""
        page = self.book.page()
        record = page.need("approval", approval)
        run = page.need("run", record.scope["run_id"])
        edge, folder = self._edge(run), acts.workspace(run, self._edge(run))
        status = outcome(record, folder)

        def decision(page: Page) -> Drafts:
            return applying.finish(page, page.need("approval", approval), edge, status, folder)

        def without_event(page: Page) -> Drafts:
            applying.witness(page, page.need("approval", approval), edge, status, folder)
            yield from ()

        try:
            return self._take(key, ["apply", approval], decision)
        except IllegalMove:
            # The run was ended while the Edge worked; what was done is on record all the same.
            self._take(None, [], without_event)
            raise

    def _due(self, page: Page, run: Record) -> Drafts:
        now = page.now()
        for approval in owned(page, "approval", run.id):
            if run.open and approval.open and approvals.lapsed(approval, now):
                yield from approvals.lapse(page, approval, self._edge(run))
        spent = ends.elapsed(page, run)
        if run.open and spent is not None and spent > run.data["wish"]["timeout_ms"]:
            yield from ends.time_out(page, run, spent)

    def _edge(self, run: Record) -> Edge:
        return self.edges[run.data["wish"]["edge"]]

    def _on_edge(
        self, key: str | None, said: list[Any], run: str, decision: Callable[[Page, Record, Edge], Drafts]
    ) -> Answer:
        return self._on_run(key, said, run, lambda page, record: decision(page, record, self._edge(record)))

    def _on_run(self, key: str | None, said: list[Any], run: str, decision: Callable[[Page, Record], Drafts]) -> Answer:
        return self._take(key, said, lambda page: decision(page, page.need("run", run)))

    def _take(self, key: str | None, said: list[Any], decision: Callable[[Page], Drafts]) -> Answer:
        """Runs a decision; the answer names the run, its state, and the events that were written."""

        def answered(page: Page) -> Any:
            yield from decision(page)
            run = page.events[-1]["runId"] if page.events else None
            state = page.state("run", run)
            return {"runId": run, "state": state, "events": [line["id"] for line in page.events]}

        try:
            return self.book.take(answered, key, _digest(said))
        except ContractBroken as broken:
            raise CommandRejected("invalid_request", str(broken), category="invalid_request") from broken


def _digest(said: list[Any]) -> str:
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
