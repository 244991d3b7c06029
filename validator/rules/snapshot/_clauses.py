"""Which clause a difference breaks, and which clauses a document without one has kept."""

from __future__ import annotations

from validator.replay.readmodels.agent_runtime.recall import Replay
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules.snapshot._claims import Claims
from validator.rules.snapshot._compare import Difference
from validator.rules.snapshot._comparisons import Compared
from validator.rules.snapshot._owners import restarted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MODEL_CLAUSES = {
    "session_snapshot": "RM-35",
    "thread_read_model": "RM-36",
    "tool_inventory_snapshot": "RM-41",
    "queue_snapshot": "RM-42",
    "task_snapshot": "RM-43",
    "context_boundary_snapshot": "RM-44",
    "artifact_checkpoint_summary": "RM-45",
    "evidence_summary": "RM-46",
    "permission_sandbox_summary": "RM-48",
    "execution_environment_snapshot": "RM-50",
    "routing_limit_summary": "RM-52",
    "subagent_job_summary": "RM-54",
    "channel_summary": "RM-56",
}
OCCURRENCES = ("decisions", "violations", "fallbacks", "limit_events", "audit_notes", "cost_state", "warnings")
"""Fields in which an event that is counted twice shows."""
COPIED = ("scope", "task_profile", "sandbox_profile", "limit_states", "candidates", "excluded", "routing_decision")
"""Fields that hold records copied from events."""


def note_repeat(world: World, step: Step) -> None:
    """Notes that an event was delivered again."""
    session = world.protocol.lens.scope(step.line).get("session_id")
    world.ledger(Claims).repeated.add(session)
    replay = world.ledger(Replay)
    replay.remember(session, step.number)
    replay.pass_by(session)


def clause_of(world: World, found: Compared, entry: Difference) -> str:
    """The clause that a difference breaks: the most telling one first."""
    claims, claim, names = world.ledger(Claims), found.claim, entry.names
    if restarted(world, found):
        return "RM-18"
    if claim.session in claims.repeated and names[0] in OCCURRENCES:
        return "RM-28"
    if names[0] == "decisions" and claim.session in claims.policies:
        return "POL-2"
    if names[-1] == "current_run_id":
        return "ATT-8"
    if claim.source == "result":
        return "CTL-61"
    if names[0] == "last_outcome":
        return "RM-59"
    if names[-1] == "status" and entry.entity:
        return "RM-30"
    if any(name in COPIED for name in names):
        return "RM-58"
    return "RM-33" if entry.entity else MODEL_CLAUSES.get(claim.model, "RM-2")


def situations(world: World, found: Compared) -> list[str]:
    """What a document that equals the replay shows to be kept."""
    claims, claim = world.ledger(Claims), found.claim
    kept = ["RM-2", "RM-27", "RM-29", *([MODEL_CLAUSES[claim.model]] if claim.model in MODEL_CLAUSES else ())]
    conditions: dict[str, Any] = {
        "RM-18": restarted(world, found),
        "RM-28": claim.session in claims.repeated,
        "RM-31": claim.session in claims.vendors,
        "RM-30": states(claim.document, "status"),
        "RM-33": states(claim.document, "status"),
        "RM-58": states(claim.document, *COPIED, "decisions"),
        "RM-59": states(claim.document, "last_outcome"),
        "CTL-61": claim.source == "result",
        "ATT-8": states(claim.document, "current_run_id"),
        "POL-2": bool(claim.document.get("decisions")) and claim.session in claims.policies,
    }
    return [*kept, *(clause for clause, met in conditions.items() if met)]


def states(value: Any, *names: str) -> bool:
    """True when a document states one of some fields, at whatever depth."""
    if isinstance(value, dict):
        return any(value.get(name) for name in names) or any(states(entry, *names) for entry in value.values())
    return isinstance(value, list) and any(states(entry, *names) for entry in value)
