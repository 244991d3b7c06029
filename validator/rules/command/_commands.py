"""What the rules of this family remember: commands, their answers, and the events that can be their effects."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from validator.protocol.honest import known
from validator.protocol.protocol import Command
from validator.replay import world as worlds
from validator.replay.faded import Lines
from validator.replay.step import Step
from validator.replay.world import World

REFUSALS = frozenset({"rejected", "unavailable"})
DONE = frozenset({"accepted", "queued"})
RECOVERY = ("history.window.loaded", "history.reconstructed", "snapshot.repaired")
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
    repeats: Sent | None = None
    """The command before it with the same idempotency key and content."""
    clashes: Sent | None = None
    """The command before it with the same key and other content."""
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


class Commands:
    """Commands by id in the order they were sent, and answers that answer nothing.

    A command that was answered, did what it said and was sent long ago is let go of, except the first of its kind: that
    one shows at the end of the capture that there were such.
    """

    forgets = ("let_go", "_used")

    def __init__(self, world: World):
        self._world = world
        self.sent: dict[str, Sent] = {}
        self.answers = 0
        self.last_answer = 0
        self.last_answered = 0
        """The line of the latest command that has an answer."""
        self.restarts: list[int] = []
        self.let_go = Lines()
        """Ids of commands of which nothing more is known."""
        self._used = Lines()
        """Their idempotency keys."""
        self._kinds: dict[tuple[Any, ...], str] = {}
        self._swept = 0
        self._keys: dict[tuple[str, str], tuple[Sent, str]] = {}
        self._live: dict[str, list[Sent]] = {}
        self._highest: tuple[int | None, int] = (None, 0)
        self._recovered = 0
        self.fresh: list[Sent] = []
        """Commands whose first effect the current step is."""
        self.current: Sent | None = None
        """The command that the current line is, or answers for the first time."""

    def event(self, event_id: str) -> tuple[int, str]:
        """The line and type of an event; zero and nothing for one that never came."""
        return self._world.order.find(event_id) or (0, "")

    def apply(self, step: Step) -> None:
        self.fresh, self.current = [], None
        if step.kind == "event":
            self._event(step)
        elif step.kind == "command":
            self._command(step)
        elif step.kind == "result":
            self._result(step)
        elif step.kind == "restart":
            self.restarts.append(step.number)

    def alike(self, step: Step) -> bool:
        return not self._live.get(step.type or "")

    def _command(self, step: Step) -> None:
        key, name, request = (step.line.get(part) for part in ("command_id", "command", "request"))
        if not isinstance(key, str) or not isinstance(name, str) or not isinstance(request, dict):
            return
        if key in self.sent or key in self.let_go:
            return
        if step.number - self._swept >= worlds.RECENT:
            self._sweep(step.number)
        definition = self._world.protocol.commands.get(name)
        field_name, machine = SUBJECTS.get(name, ("", ""))
        subject = request.get(field_name)
        state = self._world.state(machine, subject) if isinstance(subject, str) else None
        sent = Sent(key, step.number, name, request, definition, state, *self._highest)
        sent.doubtful = self._world.midway(sent) or self._world.lost(sent) is not None
        sent.recovered = bool(self.restarts) and self._recovered > self.restarts[-1]
        self._idempotency(sent)
        self.sent[key] = self.current = sent
        for event in definition.writes if definition else ():
            self._live.setdefault(event, []).append(sent)

    def _idempotency(self, sent: Sent) -> None:
        key = sent.request.get("idempotency_key")
        if not isinstance(key, str):
            return
        sent.again = _used(sent) in self._used
        content = _digest({name: value for name, value in sent.request.items() if name != "idempotency_key"})
        before = self._keys.setdefault((sent.name, key), (sent, content))
        if before[0] is not sent:
            if before[1] == content:
                sent.repeats = before[0]
            else:
                sent.clashes = before[0]

    def _sweep(self, number: int) -> None:
        """Lets go of what was sent long ago and came out as it had to."""
        old, self._swept = number - worlds.RECENT, number
        for sent in [sent for sent in self.sent.values() if sent.line < old and self._is_plain(sent)]:
            kind = (sent.name, sent.outcome, sent.first is None, not sent.listed, sent.state is None)
            if self._kinds.setdefault(kind, sent.key) != sent.key:
                del self.sent[sent.key]
                self.let_go.add(sent.key)
                if "idempotency_key" in sent.request:
                    self._keys.pop((sent.name, str(sent.request["idempotency_key"])), None)
                    self._used.add(_used(sent))
        self._live = {event: [sent for sent in live if sent.key in self.sent] for event, live in self._live.items()}

    def _is_plain(self, sent: Sent) -> bool:
        """True when no rule will have anything to say about a command at the end."""
        if sent.definition is None or sent.outcome is None or sent.repeats or sent.clashes:
            return False
        if sent.outcome not in DONE:
            return not sent.listed and (sent.created is None or self.created_by_another(sent))
        if _waits(sent):
            return False
        if sent.first is None and (sent.definition.writes or sent.state is None) and sent.definition.mutates:
            return False
        found = [self.event(key) for key in sent.listed]
        return all(line > sent.line and kind in sent.definition.writes for line, kind in found)

    def created_by_another(self, sent: Sent) -> bool:
        """True when another command that was not refused may have written the event that bears the chosen id."""
        made = sent.created
        name = CREATES[sent.name][0] if made else ""
        return made is not None and any(
            entry is not sent and entry.line < made.line and may_create(entry, made, name)
            for entry in self.sent.values()
        )

    def _result(self, step: Step) -> None:
        self.answers += 1
        self.last_answer = step.number
        sent = self.sent.get(str(step.line.get("command_id")))
        result = step.line.get("result")
        if sent is None or sent.answered is not None or not isinstance(result, dict):
            return
        self.current = sent
        self.last_answered = max(self.last_answered, sent.line)
        sent.answered, sent.result = step.number, result
        outcome = result.get("outcome")
        sent.outcome = outcome if isinstance(outcome, str) else None

    def _event(self, step: Step) -> None:
        if step.place and step.place.sequence is not None:
            self._highest = max(self._highest, (step.place.sequence, step.number), key=lambda at: (at[0] or 0, at[1]))
        if step.type in RECOVERY:
            self._recovered = step.number
        event_id = step.line.get("event_id")
        live = self._live.get(step.type or "")
        if not live:
            return
        payload = step.line.get("payload")
        body = payload if isinstance(payload, dict) else {}
        effect = Effect(step.number, step.type or "", event_id, step.scope, body)
        for sent in live:
            if may_be(sent, effect):
                self._attribute(sent, effect)
        self._live[effect.type] = [sent for sent in live if not _settled(sent)]

    def _attribute(self, sent: Sent, effect: Effect) -> None:
        if sent.first is None:
            sent.first = effect
            self.fresh.append(sent)
        if sent.answered is None:
            sent.told += 1
        name, event = CREATES.get(sent.name, ("", ""))
        chosen = sent.request.get(name)
        if effect.type == event and chosen is not None and value_of(effect, name) == chosen and sent.created is None:
            sent.created = effect


def _used(sent: Sent) -> str:
    return f"{sent.name}\n{sent.request.get('idempotency_key')}"


def _settled(sent: Sent) -> bool:
    """True when no more has to be known about a command's effects."""
    if sent.outcome in REFUSALS or sent.outcome == "no_op":
        return not _waits(sent)
    return sent.first is not None and sent.answered is not None and not _waits(sent)


def _waits(sent: Sent) -> bool:
    """True when the caller chose an id that nothing bears yet."""
    return CREATES.get(sent.name, ("", ""))[0] in sent.request and sent.created is None


def value_of(effect: Effect, name: str) -> Any:
    return effect.scope.get(name) or known(effect.payload.get(name))


def may_be(sent: Sent, effect: Effect) -> bool:
    """True when an event can be an effect of a command: about the same subject, or silent about its subject."""
    allowed = OPERATIONS.get(sent.name)
    if allowed and str(effect.payload.get("operation")) not in allowed:
        return False
    if sent.name in {"evaluate_permission", "resolve_permission"}:
        wanted = [sent.request[name] for name in TARGETS if isinstance(sent.request.get(name), str)]
        found = [effect.payload.get("approval_action_id"), *(effect.scope.get(name) for name in TARGETS)]
        return any(key in found for key in wanted) or effect.type.startswith("action.")
    name = SUBJECTS.get(sent.name, CREATES.get(sent.name, ("", "")))[0]
    if sent.name in {"start_task", "retry_task"}:
        name = "task_id"
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


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def around(world: World, sent: Sent) -> dict[str, str]:
    """The ids that a command names, and those that its subject was seen with."""
    machine = SUBJECTS.get(sent.name, ("", ""))[1]
    subject = world.subjects(machine).get(sent.subject or "")
    return {**(subject.scope if subject else {}), **sent.scope}


def completeness(world: World, context: Any) -> str | None:
    """What the caller, or else the header, says the capture is."""
    said = context.options.expect or world.header.get("completeness")
    return said if isinstance(said, str) else None


def is_prefix(world: World, context: Any) -> bool:
    return completeness(world, context) == "prefix"


def came_to_rest(world: World, context: Any, sent: Sent, line: int) -> bool:
    """True when what was to follow a line about a command would be in the capture.

    The capture holds the whole run, or a later command was answered; and nothing was lost after the line.
    """
    if is_prefix(world, context) or (world.unproved(sent) or 0) > line:
        return False
    if completeness(world, context) == "complete":
        return True
    return world.ledger(Commands).last_answered > line


def went_on(commands: Commands, line: int) -> tuple[int, ...]:
    """A command sent after a line with its answer, which shows that the runtime went on; for a witness."""
    later = (sent for sent in commands.sent.values() if sent.line > line and sent.answered)
    found = next(later, None)
    return (found.line, found.answered) if found and found.answered else ()


def history(world: World, sent: Sent) -> tuple[int, ...]:
    """The lines that moved the subject of a command before it was sent; for a witness."""
    machine = SUBJECTS.get(sent.name, ("", ""))[1]
    subject = world.subjects(machine).get(sent.subject or "")
    return tuple(line for line in subject.history if line < sent.line) if subject else ()
