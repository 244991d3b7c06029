"""Incidents and warnings, and what a reader of a thread has to worry about."""

from __future__ import annotations

from typing import Any

from validator.records import dataclass, field
from validator.replay.readmodels.agent_runtime.context import Context
from validator.replay.readmodels.agent_runtime.environment import Processes
from validator.replay.readmodels.agent_runtime.facts import Collector, Fact, Facts
from validator.replay.readmodels.agent_runtime.records import present
from validator.replay.readmodels.agent_runtime.routing import Routing
from validator.replay.readmodels.agent_runtime.scope import EVERY_THREAD, NOWHERE, Origin, Scope, Scopes
from validator.replay.readmodels.agent_runtime.tasks import Tasks
from validator.replay.readmodels.agent_runtime.tools import Calls
from validator.replay.readmodels.agent_runtime.turns import Turns

STALLED = ("lost", "stale", "unknown")
DEFAULTS = {"runtime.warning": ("runtime_warning", "warning"), "runtime.error": ("runtime_error", "error")}
TOLD = {"incident_type": "incident_type", "severity": "severity", "code": "title", "message": "details"}


@dataclass(slots=True)
class Incident:
    """What events told of one incident."""

    said: dict[str, Any]
    origins: list[Origin] = field(default_factory=list)
    cleared: bool = False


class Incidents(Collector):
    """Incidents and warnings of a session."""

    listens = dict.fromkeys(DEFAULTS, "_told")

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.incidents: dict[str, Incident] = {}
        self.warnings = facts.log()

    def _told(self, fact: Fact) -> None:
        key = fact.payload.get("incident_id")
        if not isinstance(key, str):
            self._warned(fact)
            return
        kind, severity = DEFAULTS[fact.type]
        base = {"incident_id": key, "incident_type": kind, "severity": severity, "detected_at": fact.time}
        incident = self.incidents.setdefault(key, Incident(base))
        told = {name: fact.payload.get(source) for source, name in TOLD.items()}
        incident.said.update(present(**told))
        incident.origins.append(fact.origin)
        incident.cleared = incident.cleared or fact.payload.get("cleared") is True

    def _warned(self, fact: Fact) -> None:
        words = (fact.payload.get("message"), fact.payload.get("code"))
        if fact.type == "runtime.warning":
            self.warnings.add(fact.index, fact.origin, next((word for word in words if word is not None), None))

    def active(self, thread: str) -> list[dict[str, Any]]:
        """Incidents of a thread that still hold, those of the whole session included."""
        holding = (incident for incident in self.incidents.values() if not incident.cleared)
        return [{**incident.said, "status": "active"} for incident in holding if self._holds(incident, thread)]

    def scopes(self, key: str) -> Scopes:
        """The threads that show an incident; a session-wide one stands in all of them."""
        incident = self.incidents[key]
        if incident.cleared:
            return NOWHERE
        threads = {self.facts.belonging.thread(origin) for origin in incident.origins}
        return frozenset({EVERY_THREAD} if threads == {None} else (Scope(thread) for thread in threads if thread))

    def _holds(self, incident: Incident, thread: str) -> bool:
        threads = {self.facts.belonging.thread(origin) for origin in incident.origins}
        return thread in threads or threads == {None}


def diagnostics(facts: Facts, scope: Scope) -> dict[str, Any]:
    """What a reader of a thread has to worry about."""
    turns, tasks = facts.of(Turns), facts.of(Tasks)
    stalled_turns = [key for key in turns.in_view(scope) if facts.status("turn", key) in STALLED]
    return present(
        warnings=facts.of(Incidents).warnings.values(scope),
        failed_tool_call_ids=facts.of(Calls).failed(scope),
        failed_process_ids=facts.of(Processes).failed(scope),
        stalled_turn_ids=stalled_turns,
        stalled_task_ids=[key for key in tasks.known(scope) if facts.status("task", key) in STALLED],
        **hindrances(facts, scope),
    )


def hindrances(facts: Facts, scope: Scope) -> dict[str, Any]:
    """The worries about a thread that are no lists of its entries."""
    interrupted = any(
        facts.belonging.of("turn_id", key) == scope.thread and not facts.is_over("turn", key)
        for key in facts.of(Turns).interrupting
    )
    return present(
        lost_worker_ids=facts.of(Tasks).lost_workers(scope),
        interrupt_state="requested" if interrupted else "none",
        quota_blocks=_quota_blocks(facts, scope),
        context_gaps=facts.of(Context).gaps(scope),
    )


def _quota_blocks(facts: Facts, scope: Scope) -> list[Any]:
    blocks = facts.of(Routing).blocks.within(scope)
    holding = (told for told in blocks if facts.state("turn", told.origin.turn or "") == "blocked")
    return [told.value.get("message", told.value["event_kind"]) for told in holding]
