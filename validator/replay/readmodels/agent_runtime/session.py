"""The shell of a session, and everything needed to show one thread."""

from __future__ import annotations

from typing import Any

from validator.replay.readmodels.agent_runtime import task_board
from validator.replay.readmodels.agent_runtime.artifacts import Artifacts
from validator.replay.readmodels.agent_runtime.channels import Channels
from validator.replay.readmodels.agent_runtime.context import Context, History
from validator.replay.readmodels.agent_runtime.environment import Processes
from validator.replay.readmodels.agent_runtime.evidence import Evidence, Outputs
from validator.replay.readmodels.agent_runtime.facts import STALE, Collector, Fact, Facts
from validator.replay.readmodels.agent_runtime.incidents import Incidents, diagnostics
from validator.replay.readmodels.agent_runtime.permissions import Actions
from validator.replay.readmodels.agent_runtime.queue import Queues
from validator.replay.readmodels.agent_runtime.records import Later, present
from validator.replay.readmodels.agent_runtime.scope import SESSION, Scope
from validator.replay.readmodels.agent_runtime.subagents import Jobs, Subagents
from validator.replay.readmodels.agent_runtime.tasks import Tasks
from validator.replay.readmodels.agent_runtime.tools import Calls
from validator.replay.readmodels.agent_runtime.turns import Turns


class Session(Collector):
    """What is said about the session itself."""

    listens = {"session.*": "_told", "session.created": "_created"}  # noqa: RUF012 - a table of the class
    carries = ("runtime_id", "trace_id", "span_id", "telemetry")

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.said: dict[str, Any] = {}
        self.telemetry: dict[str, Any] = {}

    def _told(self, fact: Fact) -> None:
        names = ["title", "workspace_id", "account_ref"]
        if fact.type == "session.updated":
            names += ["active_thread_id", "pinned_thread_ids"]
        self.said.update(present(**{name: fact.payload.get(name) for name in names}))

    def _created(self, fact: Fact) -> None:
        told = fact.payload.get("created_at")
        self.said["created_at"] = told if told is not None else fact.time

    def meet(self, fact: Fact) -> None:
        self.said.update(present(runtime_id=fact.line.get("runtime_id")))
        rest = {name: fact.side("telemetry").get(name) for name in ("span_kind", "request_log_refs")}
        ids = {name: fact.line.get(name) for name in ("trace_id", "span_id")}
        self.telemetry.update(present(**ids, **rest))

    def shell(self, scope: Scope) -> dict[str, Any]:
        """What is said about the session itself, and what of its history is loaded."""
        submitted = self.facts.belonging.of("turn_id", self.facts.of(Turns).last_submitted)
        return {
            **present(active_thread_id=submitted, telemetry=dict(self.telemetry) or None),
            **self.said,
            **self.facts.of(History).shown(),
            "status": "active",
        }

    def threads(self, scope: Scope) -> dict[str, Any]:
        threads = self.facts.of(Threads)
        return {"threads": Later(lambda: [threads.summary(key) for key in threads.ids()])}

    def recent(self, scope: Scope) -> dict[str, Any]:
        turns = self.facts.of(Turns)
        return {
            "recent_turns": Later(lambda: [turns.record(key) for key in turns.recent()]),
            "recent_steps": Later(turns.recent_steps),
        }

    def work(self, scope: Scope) -> dict[str, Any]:
        return {
            "task_summary": Later(lambda: task_board.counts(self.facts, SESSION)),
            "subagent_ids": Later(lambda: self.facts.of(Subagents).ids(SESSION)),
        }

    def results(self, scope: Scope) -> dict[str, Any]:
        return {
            "evidence_refs": Later(lambda: self.facts.of(Evidence).references(SESSION)),
            "artifact_ids": Later(lambda: self.facts.of(Artifacts).ids(SESSION)),
            "outputs": Later(self.facts.of(Outputs).entries),
        }


class Threads(Collector):
    """The threads of a session."""

    listens = {"thread.*": "_told"}  # noqa: RUF012 - a table of the class, never changed

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.titles: dict[str, Any] = {}
        self._reasons: dict[str, tuple[int, Any]] = {}

    def _told(self, fact: Fact) -> None:
        key = fact.ids["thread_id"]
        if (title := fact.payload.get("title")) is not None:
            self.titles[key] = title
        if fact.type == "thread.updated" and fact.payload.get("status") is not None:
            reasons = (fact.payload.get("reason"), fact.line.get("status_reason"))
            self._reasons[key] = (fact.index, next((reason for reason in reasons if reason is not None), None))

    def ids(self) -> list[str]:
        return self.facts.known("thread", "thread_id", SESSION)

    def status(self, key: str) -> str:
        """The state of a thread; one with work in doubt is in doubt as well."""
        return STALE if self.facts.work_in_doubt(key) else self.facts.state("thread", key) or "unknown"

    def _reason(self, key: str) -> Any:
        index, reason = self._reasons.get(key, (-1, None))
        return reason if index >= self.facts.changes.get(("thread", key), -1) else None

    def summary(self, key: str) -> dict[str, Any]:
        """A thread in a list."""
        return present(
            thread_id=key,
            status=self.status(key),
            title=self.titles.get(key),
            active_turn_id=self.facts.of(Turns).active(Scope(key)),
            updated_at=self.facts.last_time(key),
        )

    def exists(self, scope: Scope) -> bool:
        return scope.thread is not None and self.facts.state("thread", scope.thread) is not None

    def head(self, scope: Scope) -> dict[str, Any]:
        """Where a thread stands."""
        key = scope.thread or ""
        return present(
            status=self.status(key),
            status_reason=self._reason(key),
            title=self.titles.get(key),
            active_turn_id=self.facts.of(Turns).active(scope),
        )

    def turns(self, scope: Scope) -> dict[str, Any]:
        turns = self.facts.of(Turns)
        shown = Later(lambda: [turns.record(turn) for turn in turns.in_view(scope)])
        return present(turns=shown, last_outcome=turns.outcome(scope))

    def waiting(self, scope: Scope) -> dict[str, Any]:
        """What somebody waits for: questions and queued turns."""
        actions, queues = self.facts.of(Actions), self.facts.of(Queues)
        return {
            "pending_requests": Later(lambda: [actions.pending(action) for action in actions.unresolved(scope)]),
            "queued_turns": Later(lambda: queues.items(scope.thread)),
        }

    def standing(self, key: str) -> Any:
        """Where a thread stands and how its last turn came out; None before it exists."""
        scope = Scope(key)
        return (self.head(scope), self.facts.of(Turns).outcome(scope)) if self.exists(scope) else None

    def worries(self, scope: Scope) -> dict[str, Any]:
        incidents = self.facts.of(Incidents)
        return {
            "incidents": Later(lambda: incidents.active(scope.thread or "")),
            "diagnostics": Later(lambda: diagnostics(self.facts, scope)),
        }

    def tool_calls(self, scope: Scope) -> dict[str, Any]:
        turns, calls = self.facts.of(Turns), self.facts.of(Calls)
        return {"tool_calls": Later(lambda: calls.of_turns(scope, set(turns.in_view(scope))))}

    def processes(self, scope: Scope) -> dict[str, Any]:
        turns, processes = self.facts.of(Turns), self.facts.of(Processes)
        return {"processes": Later(lambda: processes.of_turns(scope, set(turns.in_view(scope))))}

    def tasks(self, scope: Scope) -> dict[str, Any]:
        tasks = self.facts.of(Tasks)
        return {"tasks": Later(lambda: [tasks.record(task) for task in tasks.known(scope)])}

    def results(self, scope: Scope) -> dict[str, Any]:
        """What a thread has led to, and who else takes part."""
        facts, key = self.facts, scope.thread or ""
        compactions = facts.of(Context).entries(key)
        return present(
            compaction=compactions[-1] if compactions else None,
            artifact_ids=Later(lambda: facts.of(Artifacts).ids(scope)),
            evidence_refs=Later(lambda: facts.of(Evidence).references(scope)),
            subagent_ids=Later(lambda: facts.of(Subagents).ids(scope)),
            job_ids=Later(lambda: facts.of(Jobs).ids(scope)),
            channel_ids=Later(lambda: facts.of(Channels).of_thread(key)),
        )
