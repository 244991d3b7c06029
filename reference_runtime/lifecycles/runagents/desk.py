"""What a decision has before it: the page, the settings, and the vocabulary of the run it is about."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

from reference_runtime.errors import CommandRejected
from reference_runtime.facts.record import Record
from reference_runtime.lifecycles.book import Page
from reference_runtime.lifecycles.runagents.lines import Change, Event, stored
from reference_runtime.lifecycles.runagents.policy import Call
from reference_runtime.lifecycles.runagents.settings import Settings
from reference_runtime.lifecycles.runagents.words import VOCABULARIES, Api, Drafts
from reference_runtime.stamping import read

Deciding = Generator[Event | Change, None, dict[str, Any] | None]
ENDED = ("COMPLETED", "FAILED")


@dataclass(frozen=True, slots=True)
class Desk:
    """One decision's view of everything."""

    page: Page
    settings: Settings

    def record(self, model: str, identity: str) -> dict[str, Any]:
        """A stored record of a subject that is known."""
        return stored(self.page.need(model, identity)) or {}

    def words(self, run_id: str) -> Api:
        return VOCABULARIES[self.page.need("run", run_id).data.get("vocabulary", self.settings.vocabulary)]

    def passed(self, moment: str | None) -> bool:
        """True when a moment lies behind."""
        return moment is not None and read(self.page.now()) > read(moment)

    def standing(self, run_id: str, *states: str) -> Record:
        """A run in one of the states; a wish about any other is refused."""
        run = self.page.need("run", run_id)
        if run.state not in states:
            raise wrong_state(f"The run is {run.state}.")
        return run

    def checkpoint(self, identity: str, run_id: str, **data: Any) -> Record:
        """Keeps what a gate stopped, beside the log and never in it."""
        record = self.page.edit("checkpoint", identity)
        record.scope = {"run_id": run_id}
        record.data.update(data)
        return record

    def is_open(self, kind: str, identity: str) -> bool:
        """True while a piece of work is on the list."""
        record = self.page.get(kind, identity)
        return record is not None and record.open

    def close(self, kind: str, identity: str) -> None:
        """Takes a piece of work off the list, and forgets the payload it held."""
        if self.page.get(kind, identity):
            record = self.page.edit(kind, identity)
            record.open = False
            record.data.pop("call", None)


def call_of(kept: dict[str, Any]) -> Call:
    """A call as a checkpoint keeps it."""
    return Call(**kept)


def wrong_state(message: str, code: str = "wrong_state") -> CommandRejected:
    return CommandRejected(code, message, category="conflict")


def ended(desk: Desk, run_id: str, drafts: Drafts) -> Iterator[Event | Change]:
    """Tells the end of a run; what was still blocked goes down with it (RA-70), and no work is left."""
    yield from drafts
    for action in desk.page.find("blocked_action", run_id=run_id):
        if action.state == "failed" and stored(action) and stored(action)["status"] in {"BLOCKED", "PENDING"}:
            yield Change("blocked_action", action.id, {"status": "FAILED"})
    for checkpoint in desk.page.find("checkpoint", is_open=True, run_id=run_id):
        desk.close("checkpoint", checkpoint.id)
    desk.close("plan", run_id)
