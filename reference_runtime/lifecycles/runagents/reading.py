"""What a platform shows: records, the log, both read models, and the audit export."""

from __future__ import annotations

from typing import Any

from reference_runtime.errors import CommandRejected
from reference_runtime.lifecycles.book import Book
from reference_runtime.lifecycles.runagents import export
from reference_runtime.lifecycles.runagents.action_view import action_view
from reference_runtime.lifecycles.runagents.desk import Desk
from reference_runtime.lifecycles.runagents.history import History
from reference_runtime.lifecycles.runagents.lines import stored
from reference_runtime.lifecycles.runagents.run_view import run_view
from reference_runtime.lifecycles.runagents.settings import Settings
from reference_runtime.stamping import written

Stored = dict[str, Any]


class Reading:
    """Reads what is kept; changes nothing."""

    book: Book
    settings: Settings

    def now(self) -> str:
        return written(self.book.clock.now())

    def run(self, run_id: str) -> Stored:
        return Desk(self.book.page(), self.settings).record("run", run_id)

    def runs(self, limit: int = 100, after: str | None = None, **like: str | None) -> list[Stored]:
        """Runs in the order of their creation; those that are like what is asked for."""
        wanted = {name: value for name, value in like.items() if value is not None}
        found = [stored(run) or {} for run in self.book.page().find("run")]
        names = [run["id"] for run in found]
        if after is not None and after not in names:
            raise CommandRejected("unknown_run", "There is no such run.", category="not_found")
        found = found[names.index(after) + 1 :] if after is not None else found
        return [run for run in found if all(run.get(name) == value for name, value in wanted.items())][:limit]

    def events(self, run_id: str, after_seq: int = 0, limit: int = 1000) -> list[Stored]:
        """The log of a run in the order of seq."""
        return [event for event in self.history(run_id).events if event["seq"] > after_seq][:limit]

    def actions(self, run_id: str) -> list[Stored]:
        self.run(run_id)
        return [stored(action) or {} for action in self.book.page().find("blocked_action", run_id=run_id)]

    def action(self, run_id: str, action_id: str) -> Stored:
        found = next((one for one in self.actions(run_id) if one["action_id"] == action_id), None)
        if found is None:
            raise CommandRejected("unknown_action", "There is no such action in the run.", category="not_found")
        return found

    def request(self, request_id: str) -> Stored:
        return Desk(self.book.page(), self.settings).record("approval_request", request_id)

    def requests(self, status: str | None = None, run_id: str | None = None) -> list[Stored]:
        """Approval requests; as pending only those that somebody can still decide."""
        page = self.book.page()
        where = {"run_id": run_id} if run_id else {}
        found = [stored(request) or {} for request in page.find("approval_request", **where)]
        open_ones = [
            one
            for one in found
            if one["status"] != "PENDING" or page.state("blocked_action", one["action_id"]) == "blocked"
        ]
        return [one for one in (open_ones if status else found) if status in (None, one["status"])]

    def history(self, run_id: str) -> History:
        self.run(run_id)
        return History.of(self.book.read(stream=run_id))

    def run_view(self, run_id: str) -> Stored:
        run = self.book.page().need("run", run_id)
        view = run_view(run_id, run.state, run.data.get("ended_at"), self.history(run_id))
        return self.book.snapshot("run_view", view)

    def action_view(self, run_id: str, action_id: str) -> Stored:
        self.action(run_id, action_id)
        state = self.book.page().state("blocked_action", action_id)
        return self.book.snapshot("action_view", action_view(action_id, run_id, state, self.history(run_id)))

    def export(self, run_id: str) -> Stored:
        """The audit export as one document, written into the capture as well."""
        document = export.document(self.history(run_id), self.now())
        self.book.contract.check_record("audit_export", document)
        self.book.capture.snapshot("audit_export", document, self.now())
        return document

    def export_lines(self, run_id: str, schema: str = "runagents") -> str:
        """The audit export as lines: events and the run record, or events in Splunk's envelope."""
        history = self.history(run_id)
        if schema == "splunk_hec":
            return export.ndjson(export.hec(event, self.settings.host) for event in history.events)
        return export.ndjson(export.lines(history))

    def unconfirmed(self, destination: str) -> int:
        """How many events a destination has not confirmed."""
        cursor = self.book.store.load("cursor", destination)
        behind = self.book.read(after=cursor.data["position"] if cursor else 0)
        return sum("record" not in line for line in behind)
