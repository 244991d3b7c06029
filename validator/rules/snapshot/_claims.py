"""What a line claims to know: a read model or record, its scope, and the sequence it reflects."""

from __future__ import annotations

from validator.protocol.honest import is_honest
from validator.records import dataclass, field
from validator.replay.faded import Lines
from validator.replay.readmodels.agent_runtime.names import LIMITS
from validator.replay.step import Step
from validator.replay.world import World

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ANSWERS = {
    "get_session": ("snapshot", "session_snapshot"),
    "get_thread_read": ("snapshot", "thread_read_model"),
    "get_tool_inventory": ("snapshot", "tool_inventory_snapshot"),
    "get_execution_environment": ("snapshot", "execution_environment_snapshot"),
    "list_tasks": ("snapshot", "task_snapshot"),
    "list_jobs": ("snapshot", "subagent_job_summary"),
    "list_subagents": ("snapshot", "subagent_job_summary"),
    "reconnect_channel": ("snapshot", "channel_summary"),
    "get_task": ("task", "task"),
    "get_job": ("job", "job"),
}
"""Commands whose answer holds a read model or a record: the field, and what stands in it."""
NARROWING = ("parent_task_id", "statuses", "cursor", "limit", "window", "task_id", "policy", "mode")
"""Wishes of a request that make an answer show less than there is."""
UPDATES = ("snapshot.updated", "snapshot.repaired")


@dataclass(slots=True)
class Claim:
    """A document that a line holds, and what it says about itself."""

    model: str
    document: dict[str, Any]
    pointer: str
    source: str
    """snapshot, result or event: the kind of line it stands on."""
    session: str | None = None
    scope: dict[str, str] = field(default_factory=dict)
    sequence: int | None = None
    partial: bool = False
    """The request asked for less than there is."""
    uncertain: bool = False
    """Events stand between the question and the answer, and the answer does not say which of them it reflects."""
    asked: int | None = None
    """The line of the question."""

    @property
    def key(self) -> tuple[Any, ...]:
        return (self.model, self.session, *sorted(self.scope.items()))


@dataclass(frozen=True, slots=True)
class Earlier:
    """What is remembered of the last document of the same model and scope."""

    line: int
    sequence: int | None
    """The highest sequence that was claimed so far."""
    highest: int
    """The line that claimed it."""
    listed: frozenset[str]
    """Unresolved actions and failed calls that it listed."""


class Claims:
    """What the line at hand claims, and what was claimed before it."""

    hears = (
        *("record:restart", "record:command", "record:result", "record:snapshot", "unlisted", *UPDATES),
        *("policy.changed", "subagent.completed", "history.rollback.completed", "queue.changed"),
    )
    overhears = ("history.rollback.completed",)
    forgets = ("repeated", "vendors", "policies", "whole_queues", "completed_children", "removed_turns", "_last")

    def __init__(self, world: World):
        self._world = world
        self.now: list[Claim] = []
        self.earlier: dict[tuple[Any, ...], Earlier] = {}
        """The claim before the present one, for the models of the present line."""
        self.restarted: dict[tuple[Any, ...], int] = {}
        """The restart since which no document of that model and scope was served."""
        self.repeated = Lines()
        """Sessions of which an event was delivered again."""
        self.vendors = Lines()
        """Sessions in which a vendor's own event was seen."""
        self.policies = Lines()
        """Sessions in which the policy changed."""
        self.whole_queues = Lines()
        """Threads whose whole queue was told."""
        self.completed_children = Lines()
        self.removed_turns = Lines()
        """Turns that a rollback took out of the view."""
        self.rolled_back = False
        """Turns were taken out of some view."""
        self._last: dict[tuple[Any, ...], Earlier] = {}
        self.restart: int | None = None
        """The line of the last restart."""
        self._asked: dict[str, tuple[dict[str, Any], int]] = {}

    def apply(self, step: Step) -> None:
        self.now, self.earlier, self.restarted = [], {}, {}
        if step.kind == "restart":
            self.restart = step.number
        elif step.kind == "command" and _word(step.line.get("command")) in ANSWERS:
            self._asked[str(step.line.get("command_id"))] = (_record(step.line.get("request")), step.number)
        self.now = [claim for claim in self._claims(step) if claim.document and not is_honest(claim.document)]
        for claim in self.now:
            self._note(claim, step.number)
        if step.kind == "event":
            self._hear(step)

    def _hear(self, step: Step) -> None:
        if step.type not in self._world.protocol.events:
            self.vendors.add(self._world.last_session)
        elif step.type == "policy.changed":
            self.policies.add(self._world.last_session)
        elif step.type == "subagent.completed":
            self.completed_children.add(step.scope.get("subagent_id", ""))
        elif step.type == "history.rollback.completed":
            self.overhear(step)
            for turn in _removed(step):
                self.removed_turns.add(str(turn))
        elif step.type == "queue.changed" and "queue" in _record(step.line.get("payload")):
            self.whole_queues.add(step.scope.get("thread_id"))

    def overhear(self, step: Step) -> None:
        """A rollback in any session shows that turns can be removed."""
        self.rolled_back = self.rolled_back or bool(_removed(step))

    def _claims(self, step: Step) -> list[Claim]:
        if step.kind == "snapshot":
            return [_of_record(step)]
        if step.kind == "result" and _word(step.line.get("command")) in ANSWERS:
            return self._of_answer(step)
        if step.kind == "event" and step.type in UPDATES:
            return [_of_event(step, self._world.last_session)]
        return []

    def _of_answer(self, step: Step) -> list[Claim]:
        request, line = self._asked.pop(str(step.line.get("command_id")), (None, None))
        name, model = ANSWERS[str(step.line.get("command"))]
        result = _record(step.line.get("result"))
        if request is None or result.get("outcome") != "accepted":
            return []
        claim = _claim(model, result.get(name), f"/result/{name}", "result")
        claim.session = _word(request.get("session_id")) or claim.session
        claim.scope = {name: request[name] for name in _limits(model) if _word(request.get(name))}
        wishes = [name for name in (*NARROWING, "turn_id") if name in request and name not in claim.scope]
        claim.partial = model in LIMITS and bool(wishes)
        claim.uncertain = claim.sequence is None and self._world.last_event > (line or 0)
        claim.asked = line
        return [claim]

    def _note(self, claim: Claim, line: int) -> None:
        before = self._last.get(claim.key)
        if before is not None:
            self.earlier[claim.key] = before
        if self.restart is not None and (before is None or before.line < self.restart):
            self.restarted[claim.key] = self.restart
        top = (claim.sequence, line)
        if before is not None and (claim.sequence is None or (before.sequence or 0) > claim.sequence):
            top = (before.sequence, before.highest)
        self._last[claim.key] = Earlier(line, *top, listed(claim.document))


def listed(document: dict[str, Any]) -> frozenset[str]:
    """The unresolved actions and the calls that a document lists."""
    names = {"pending_requests": "action_id", "pending_approvals": "action_id", "tool_calls": "tool_call_id"}
    entries = ((name, entry) for name in names for entry in _list(document.get(name)))
    return frozenset(key for name, entry in entries if (key := _word(_record(entry).get(names[name]))))


def _claim(model: Any, document: Any, pointer: str, source: str) -> Claim:
    body = _record(document)
    claim = Claim(str(model), body, pointer, source, _word(body.get("session_id")))
    claim.scope = {name: body[name] for name in _limits(claim.model) if _word(body.get(name))}
    claim.sequence = _number(body.get("as_of_sequence"))
    return claim


def _limits(model: str) -> tuple[str, ...]:
    """The fields that limit a read model; others of these names are data."""
    limits = LIMITS.get(model, ())
    more = ("caller",) if model == "tool_inventory_snapshot" else ()
    return (*(f"{limit}_id" for limit in limits if limit != "session"), *more)


def _of_record(step: Step) -> Claim:
    claim = _claim(step.line.get("model"), step.line.get("snapshot"), "/snapshot", "snapshot")
    outer = _number(step.line.get("sequence"))
    claim.sequence = outer if outer is not None else claim.sequence
    return claim


def _of_event(step: Step, session: str | None) -> Claim:
    payload = _record(step.line.get("payload"))
    claim = _claim(_word(payload.get("model")), payload.get("snapshot"), "/payload/snapshot", "event")
    claim.session = claim.session or session
    told = _number(payload.get("as_of_sequence"))
    claim.sequence = told if told is not None else claim.sequence
    return claim


def _removed(step: Step) -> list[Any]:
    return _list(_record(step.line.get("payload")).get("removed_turn_ids"))


def _record(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
