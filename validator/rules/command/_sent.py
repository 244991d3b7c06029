"""A command as it was sent and answered, and the events that can be its effects."""

from __future__ import annotations

from validator.protocol.honest import known
from validator.protocol.protocol import Command
from validator.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

REFUSALS = frozenset({"rejected", "unavailable"})
DONE = frozenset({"accepted", "queued"})
TARGETS = ("tool_call_id", "process_id", "action_id", "peer_task_id")
SUBJECTS = {
    "interrupt_turn": ("turn_id", "turn"),
    "resume_thread": ("thread_id", "thread"),
    "update_task": ("task_id", "task"),
    "start_task": ("task_id", "task"),
    "append_task_progress": ("task_id", "task"),
    "pause_task": ("task_id", "task"),
    "resume_task": ("task_id", "task"),
    "cancel_task": ("task_id", "task"),
    "retry_task": ("task_id", "task"),
    "complete_task": ("task_id", "task"),
    "fail_task": ("task_id", "task"),
    "link_tasks": ("task_id", "task"),
    "unlink_tasks": ("task_id", "task"),
    "respond_action": ("action_id", "action"),
    "remove_queued_turn": ("queued_turn_id", "queue"),
    "promote_queued_turn": ("queued_turn_id", "queue"),
    "send_subagent_input": ("subagent_id", "subagent"),
    "resume_subagent": ("subagent_id", "subagent"),
    "close_subagent": ("subagent_id", "subagent"),
    "write_process_stdin": ("process_id", "process"),
    "terminate_process": ("process_id", "process"),
    "cancel_job": ("job_id", "job"),
    "reconnect_channel": ("channel_id", "channel"),
    "ack_events": ("channel_id", "channel"),
}
"""The field that names what an existing-subject command is about, and the state table of that subject."""
CREATES = {
    "submit_turn": ("turn_id", "turn.submitted"),
    "create_task": ("task_id", "task.created"),
    "create_job": ("job_id", "job.created"),
    "spawn_subagent": ("subagent_id", "subagent.spawned"),
    "start_task": ("run_id", "task.attempt.started"),
    "retry_task": ("run_id", "task.attempt.started"),
}
"""The id a caller may choose, and the event that brings its bearer into being."""
LOOSE = frozenset({"evaluate_permission", "resolve_permission"})
"""Commands whose subject may stand under one of several names."""
OPERATIONS = {"remove_queued_turn": {"removed", "cleared"}, "promote_queued_turn": {"promoted"}}


@dataclass(frozen=True, slots=True)
class Effect:
    """An event that a command can have written."""

    line: int
    type: str
    event_id: str | None
    scope: dict[str, str]
    payload: dict[str, Any]


@dataclass(slots=True)
class Sent:
    """A command with its answer and its first effects."""

    key: str
    line: int
    name: str
    request: dict[str, Any]
    definition: Command | None
    state: str | None = None
    """The state of its subject when it was sent; None for one never seen."""
    highest: int | None = None
    """The highest sequence seen when it was sent, and its line."""
    highest_line: int = 0
    past: tuple[int, ...] = ()
    """The lines that had moved its subject when it was sent."""
    repeats: Sent | None = None
    """The command before it with the same idempotency key and content."""
    clashes: Sent | None = None
    """The command before it with the same key and other content."""
    chosen: Sent | None = None
    """The command before it for which the caller had chosen the same id."""
    answered: int | None = None
    outcome: str | None = None
    result: dict[str, Any] = field(default_factory=dict)
    first: Effect | None = None
    created: Effect | None = None
    """The event that uses the id which the caller chose."""
    recovered: bool = False
    """Facts of recovery were written since the last restart before it was sent."""
    told: int = 0
    """Events before the answer that can be its effects."""
    doubtful: bool = False
    """Something was lost before it was sent, or came before the capture, that may have told its subject."""
    again: bool = False
    """Its idempotency key was used by a command that was let go of."""

    @property
    def subject(self) -> str | None:
        """The id of what it is about, as the request or the answer names it."""
        name = SUBJECTS.get(self.name, CREATES.get(self.name, ("", "")))[0]
        value = self.request.get(name) or self.result.get(name)
        return value if isinstance(value, str) else None

    @property
    def scope(self) -> dict[str, str]:
        """The ids that the request names."""
        return {name: value for name, value in self.request.items() if name.endswith("_id") and isinstance(value, str)}

    @property
    def may_repeat(self) -> bool:
        """True when the command of which this one is a repetition may stand where nobody can look any more."""
        return self.again or (self.doubtful and "idempotency_key" in self.request)

    @property
    def listed(self) -> list[str]:
        """The events its answer lists."""
        ids = known(self.result.get("event_ids"))
        return [entry for entry in ids if isinstance(entry, str)] if isinstance(ids, list) else []


def settled(sent: Sent) -> bool:
    """True when no more has to be known about a command's effects."""
    if sent.outcome in REFUSALS or sent.outcome == "no_op":
        return not waits(sent)
    return sent.first is not None and sent.answered is not None and not waits(sent)


def waits(sent: Sent) -> bool:
    """True when the caller chose an id that nothing bears yet."""
    return CREATES.get(sent.name, ("", ""))[0] in sent.request and sent.created is None


def value_of(effect: Effect, name: str) -> Any:
    return effect.scope.get(name) or known(effect.payload.get(name))


def told_under(sent: Sent) -> str:
    """The name under which the effects of a command tell its subject."""
    if sent.name in {"start_task", "retry_task"}:
        return "task_id"
    return SUBJECTS.get(sent.name, CREATES.get(sent.name, ("", "")))[0]


def may_be(sent: Sent, effect: Effect) -> bool:
    """True when an event can be an effect of a command: about the same subject, or silent about its subject."""
    allowed = OPERATIONS.get(sent.name)
    if allowed and str(effect.payload.get("operation")) not in allowed:
        return False
    if sent.name in LOOSE:
        wanted = [sent.request[name] for name in TARGETS if isinstance(sent.request.get(name), str)]
        found = [effect.payload.get("approval_action_id"), *(effect.scope.get(name) for name in TARGETS)]
        return any(key in found for key in wanted) or effect.type.startswith("action.")
    name = told_under(sent)
    if name == "queued_turn_id":
        many = effect.payload.get("queued_turn_ids")
        if isinstance(many, list):
            return sent.request.get(name) in many
    value = value_of(effect, name)
    if name == "action_id" and value is None:
        value = known(effect.payload.get("approval_action_id"))
    subject = sent.request.get(name) or sent.result.get(name)
    if subject is not None and value is not None:
        return value == subject
    session = sent.request.get("session_id") or sent.request.get("parent_session_id")
    return session is None or effect.scope.get("session_id") in (None, session)


def may_create(sent: Sent, effect: Effect, name: str) -> bool:
    """True when an event that brings something into being under an id can be an effect of a command."""
    if sent.outcome in REFUSALS or sent.outcome == "no_op" or sent.definition is None:
        return False
    named = {value for value in (sent.request.get(name), known(sent.result.get(name))) if isinstance(value, str)}
    return effect.type in sent.definition.writes and named <= {value_of(effect, name)} and may_be(sent, effect)
