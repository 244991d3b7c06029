"""Actions: who was asked, about what, and what was answered."""

from __future__ import annotations

from validator.protocol.casing import camel
from validator.protocol.formats import instant
from validator.protocol.honest import known
from validator.records import dataclass
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules.governance._said import payload, said, text
from validator.rules.governance._work import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

BOUNDS = {
    "tool_call_id": "tool_call",
    "process_id": "process",
    "tool_name": "tool",
    "turn_id": "turn",
    "thread_id": "thread",
    "session_id": "session",
}
"""Names in a scope that say to what an approval is limited. A scope is a free map, so either casing may stand there."""
GRANTS = frozenset({"approved", "allow", "allowed", "modified", "answered"})


@dataclass(slots=True)
class Question:
    """An action: what it names, what it asks about, and how it was answered."""

    key: str
    line: int
    call: str | None
    process: str | None
    task: str | None
    turn: str | None
    digest: str | None
    expires: datetime | None
    scoped: bool
    """It states what an approval covers."""
    blocking: bool
    bounds: tuple[tuple[str, str], ...] = ()
    """What its scope is limited to, by kind and id."""
    decision: str | None = None
    answered: int | None = None
    changed: str | None = None
    """The payload as a decision to modify changed it."""
    answer_digest: str | None = None
    by_person: bool = False

    @property
    def granted(self) -> bool:
        return self.decision in GRANTS

    def covers(self, target: Target) -> bool:
        """False when the scope names another call, process, tool, turn, thread or session than the target's."""
        told = {
            target.kind: target.key,
            "tool": target.tool,
            "turn": target.turn,
            "thread": target.thread,
            "session": target.session,
        }
        return all(told.get(kind) in (None, name) for kind, name in self.bounds)

    @property
    def approved_digest(self) -> str | None:
        """The digest of what may run: the question's, or that of the change."""
        return self.answer_digest if self.decision == "modified" else self.digest


class Questions:
    """Actions by id, and which of them name a call or process, or a task and nothing narrower."""

    hears = ("action.required", "action.resolved")
    forgets_faded = ("all", "naming")

    def __init__(self, world: World):
        self.all: dict[str, Question] = {}
        self.naming: dict[str, list[Question]] = {}

    def apply(self, step: Step) -> None:
        key = step.scope.get("action_id")
        if key is None or step.kind != "event":
            return
        if step.type == "action.required" and key not in self.all:
            self._ask(key, step)
        elif step.type == "action.resolved" and key in self.all and self.all[key].answered is None:
            question = self.all[key]
            question.answered = step.number
            question.decision = said(step.line, "decision")
            question.answer_digest = said(step.line, "payload_hash")
            question.changed = said(step.line, "modified_input_ref")
            question.by_person = said(step.line, "decision_source") == "human"

    def _ask(self, key: str, step: Step) -> None:
        scope, told = step.scope, payload(step.line)
        question = Question(
            key,
            step.number,
            scope.get("tool_call_id"),
            scope.get("process_id"),
            scope.get("task_id"),
            scope.get("turn_id"),
            text(told.get("payload_hash")),
            instant(text(told.get("expires_at"))),
            told.get("scope") is not None,
            told.get("blocking") is not False,
            _bounds(known(told.get("scope"))),
        )
        self.all[key] = question
        names = [name for name in (question.call, question.process) if name]
        if question.task and not names and not question.turn:
            names = [question.task]
        for name in names:
            self.naming.setdefault(name, []).append(question)

    def granted_for(self, *ids: str) -> list[Question]:
        return [question for name in ids for question in self.naming.get(name, ()) if question.granted]


def _bounds(scope: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(scope, dict):
        return ()
    named = ((kind, scope.get(name, scope.get(camel(name)))) for name, kind in BOUNDS.items())
    return tuple((kind, value) for kind, value in named if isinstance(value, str))
