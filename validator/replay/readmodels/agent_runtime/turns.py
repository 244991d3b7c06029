"""Turns, their steps, and how the last of them ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validator.records import dataclass, field
from validator.replay.readmodels.agent_runtime.facts import LOST, Collector, Fact, Facts, Turning
from validator.replay.readmodels.agent_runtime.records import as_list, as_record, present
from validator.replay.readmodels.agent_runtime.scope import NOWHERE, SESSION, Scope, Scopes

KINDS = {
    "tool": "tool",
    "process": "tool",
    "action": "action",
    "permission": "action",
    "artifact": "artifact",
    "evidence": "evidence",
    "runtime": "warning",
    "model": "message",
    "reasoning": "message",
}
"""What a step is, after the first word of the event that first carried it."""
IDLE = ("queued", LOST)
"""States of open turns that are not at work."""
OUTCOMES = {"cancelled": "interrupted", LOST: "unknown"}
CAUSES = ("tool", "provider", "model")


@dataclass(slots=True)
class Turn:
    """What turn events told of one turn."""

    said: dict[str, Any] = field(default_factory=dict)
    submitted: int = -1
    sequence: int | None = None
    started: int = -1
    started_at: Any = None
    steps: dict[str, None] = field(default_factory=dict)
    queued_turn: str | None = None
    queue_policy: Any = None
    channel: str | None = None


@dataclass(slots=True)
class StepItem:
    """What any event told of one step."""

    kind: Any
    sequence: int | None
    title: Any = None
    tool_name: Any = None
    output_ref: Any = None
    content_ref: Any = None
    turns: dict[str, None] = field(default_factory=dict)

    def record(self, step_id: str) -> dict[str, Any]:
        title = self.title if self.title is not None else self.tool_name
        ref = self.output_ref if self.output_ref is not None else self.content_ref
        return present(step_id=step_id, kind=self.kind, title=title, ref=ref)


class Turns(Collector):
    """Turns and steps of a session, and those that a rollback removed."""

    listens = {  # noqa: RUF012 - a table of the class, never changed
        "turn.*": "_any",
        "turn.submitted": "_submitted",
        "turn.started": "_started",
        "turn.completed": "_completed",
        "history.rollback.completed": "_rolled_back",
        "history.window.loaded": "_window",
        "run.status": "_status",
    }
    carries = ("step_id",)

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.turns: dict[str, Turn] = {}
        self.steps: dict[str, StepItem] = {}
        self.removed: set[str] = set()
        self.first_sequence: int | None = None
        self.interrupting: set[str] = set()
        machine = facts.protocol.machines["turn"]
        self._at_work = [state for state in machine.states if not machine.is_terminal(state) and state not in IDLE]
        self.last_submitted: str | None = None
        self.from_channel: dict[str, dict[str, None]] = {}
        """Turns by the channel they name as their source."""

    def _turn(self, fact: Fact) -> Turn:
        return self.turns.setdefault(fact.ids.get("turn_id", ""), Turn())

    def _any(self, fact: Fact) -> None:
        said = self._turn(fact).said
        said.update({name: fact.line[name] for name in ("task_id", "run_id") if fact.line.get(name) is not None})

    def _submitted(self, fact: Fact) -> None:
        turn = self._turn(fact)
        for name in ("input_ref", "source"):
            if (value := fact.payload.get(name)) is not None:
                turn.said[name] = value
        turn.submitted, turn.sequence = fact.index, fact.sequence
        turn.queued_turn = fact.payload.get("queued_turn_id", turn.queued_turn)
        turn.queue_policy = fact.payload.get("queue_policy", turn.queue_policy)
        self.from_channel.get(str(turn.channel), {}).pop(fact.ids.get("turn_id", ""), None)
        turn.channel = fact.payload.get("source_channel_id", turn.channel)
        self.from_channel.setdefault(str(turn.channel), {})[fact.ids.get("turn_id", "")] = None
        self.last_submitted = fact.ids.get("turn_id")

    def _started(self, fact: Fact) -> None:
        turn = self._turn(fact)
        if turn.started < 0:
            turn.started_at = fact.time
        turn.started = fact.index
        if (run := fact.payload.get("run_id")) is not None:
            turn.said["run_id"] = run

    def _completed(self, fact: Fact) -> None:
        if (usage := fact.payload.get("usage")) is not None:
            self._turn(fact).said["usage"] = self.facts.records.field("turn", "usage", usage)

    def _rolled_back(self, fact: Fact) -> None:
        self.removed.update(turn for turn in as_list(fact.payload.get("removed_turn_ids")) if isinstance(turn, str))

    def _window(self, fact: Fact) -> None:
        first = fact.payload.get("first_sequence")
        self.first_sequence = first if isinstance(first, int) else None

    def _status(self, fact: Fact) -> None:
        if fact.payload.get("phase") == "interrupting" and "turn_id" in fact.ids:
            self.interrupting.add(fact.ids["turn_id"])

    def meet(self, fact: Fact) -> None:
        step_id = fact.ids["step_id"]
        step = self.steps.get(step_id)
        if step is None:
            step = self.steps[step_id] = StepItem(_kind(fact), fact.sequence)
        for name in ("title", "tool_name", "content_ref"):
            if (value := fact.payload.get(name)) is not None:
                setattr(step, name, value)
        if (ref := self.facts.protocol.lens.get(fact.line, "output_ref")) is not None:
            step.output_ref = ref
        for turn in step.turns:
            self.facts.forget("turn_id", turn)
        if "turn_id" in fact.ids:
            step.turns[fact.ids["turn_id"]] = None
            self.turns.setdefault(fact.ids["turn_id"], Turn()).steps[step_id] = None

    def in_view(self, scope: Scope) -> list[str]:
        """Turns of a scope that no rollback removed, in order."""
        return [key for key in self.facts.known("turn", "turn_id", scope) if key not in self.removed]

    def _loaded(self, sequence: int | None) -> bool:
        return self.first_sequence is None or sequence is None or sequence >= self.first_sequence

    def recent(self) -> list[str]:
        """Turns in view whose submission lies in the window."""
        return [key for key in self.in_view(SESSION) if self._loaded(self.turns.get(key, Turn()).sequence)]

    def recent_steps(self) -> list[dict[str, Any]]:
        """Steps that began in the window; those of removed turns have left."""
        order = self.facts.mentions.order("step_id", self.steps, SESSION)
        shown = (key for key in order if self._loaded(self.steps[key].sequence) and not self._gone(self.steps[key]))
        return [self.steps[key].record(key) for key in shown]

    def _gone(self, step: StepItem) -> bool:
        return bool(step.turns) and step.turns.keys() <= self.removed

    def active(self, scope: Scope) -> str | None:
        """The turn at work: neither queued, nor ended, nor lost; of several the one started or submitted last."""
        at_work = self.facts.standing("turn", *self._at_work)
        told = [(turn.started, turn.submitted, key) for key in at_work if (turn := self.turns.get(key))]
        latest_first = (key for *_, key in sorted(told, reverse=True))
        return next((key for key in latest_first if scope in self.scopes(key)), None)

    def scopes(self, key: str) -> Scopes:
        """Where a turn is shown: not where a rollback removed it."""
        return NOWHERE if key in self.removed else self.facts.scopes("turn", "turn_id", key)

    def loaded_scopes(self, key: str) -> Scopes:
        """Where a turn is shown, the session only when its submission lies in the window."""
        found = self.scopes(key)
        return found if self._loaded(self.turns.get(key, Turn()).sequence) else found - {SESSION}

    def step_scopes(self, key: str) -> Scopes:
        """The session, when a step is among its recent ones."""
        step = self.steps[key]
        return frozenset({SESSION}) if self._loaded(step.sequence) and not self._gone(step) else NOWHERE

    def close(self, key: str) -> Turning | None:
        """The event that ended a turn or, while it is lost, told the loss."""
        if self.facts.state("turn", key) == LOST:
            return self.facts.rows.get(("turn", key))
        return self.facts.end("turn", key)

    def _closed(self, scope: Scope, place: str | None) -> Iterator[tuple[str, Turning]]:
        """The turns in view that one event closed last, of those that were closed in a thread."""
        last = None
        for key in reversed(self.facts.closings.get(place, {})):
            if scope not in self.scopes(key) or (close := self.close(key)) is None:
                continue
            if last is not None and close.index != last:
                return
            last = close.index
            yield key, close

    def record(self, key: str) -> dict[str, Any]:
        """The entry of a turn."""
        return self.facts.entry("turn_id", key, self._record)

    def _record(self, key: str) -> dict[str, Any]:
        order = self.facts.mentions.order("step_id", self.turns.get(key, Turn()).steps, SESSION)
        return {**self.head(key), "steps": [self.steps[step].record(step) for step in order]}

    def head(self, key: str) -> dict[str, Any]:
        """The entry of a turn without its steps."""
        turn, end, close = self.turns.get(key, Turn()), self.facts.end("turn", key), self.close(key)
        said = close.said if close and close.type in {"turn.failed", "queue.changed"} else {}
        failed = said if close and close.type == "turn.failed" else {}
        return present(
            turn_id=key,
            status=self.facts.status("turn", key),
            started_at=turn.started_at,
            completed_at=end.time if end else None,
            error=self.facts.records.field("turn", "error", failed.get("error")),
            reason=said.get("reason"),
            **turn.said,
        )

    def outcome(self, scope: Scope) -> dict[str, Any] | None:
        """How the turn that ended or was lost last came out; of several that one event ended, the last it names."""
        closed = [*self._closed(scope, scope.thread), *self._closed(scope, None)]
        if not closed:
            return None
        key, close = max(closed, key=lambda entry: entry[1].index)
        state = self.facts.state("turn", key) or ""
        said = close.said if close.type == "turn.failed" else {}
        error = as_record(said.get("error"))
        category = error.get("category")
        return present(
            turn_id=key,
            outcome_type=_outcome(state, category),
            summary=close.said.get("summary") if close.type == "turn.completed" else None,
            primary_cause=category if category is not None else said.get("reason"),
            retryable=error.get("retryable"),
            ended_at=close.time,
        )


def _kind(fact: Fact) -> Any:
    if fact.type == "run.status":
        return "status"
    family = fact.type.split(".")[0]
    return fact.payload.get("item_kind") if family == "item" else KINDS.get(family)


def _outcome(state: str, category: Any) -> str:
    if state != "failed":
        return OUTCOMES.get(state, state)
    cause = next((word for word in CAUSES if isinstance(category, str) and category.startswith(word)), None)
    return f"failed_{cause}" if cause else "failed"
