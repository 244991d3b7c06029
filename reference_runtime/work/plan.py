"""From a script to a plan.

An operation is one of these:

* `{"event": type, "ids": ..., "payload": ...}`: a fact that the scripted worker observes;
* `{"wait": action_id}`: nothing goes on before the action is resolved;
* `{"command": name, "request": ...}`: a scripted person does something through the control plane;
* `{"delay": milliseconds}`: time passes;
* `{"real": phase, "call": ...}`: a phase of a real tool call, which puts what follows in its own place.

`"if": [action_id, [decisions]]` on an operation makes it depend on how an action was resolved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from reference_runtime.domain.state import State
from reference_runtime.errors import CommandRejected
from reference_runtime.settings import Settings

Op = dict[str, Any]
Step = dict[str, Any]


@dataclass(slots=True)
class Planner:
    """What a step needs to become operations: the ids in force, new ids, and the settings."""

    state: State
    ids: dict[str, Any]
    names: dict[str, str] = field(default_factory=dict)

    @property
    def settings(self) -> Settings:
        return self.state.settings

    def new(self, word: str) -> str:
        return self.state.new_id(word)

    def fact(self, event: str, payload: dict[str, Any] | None = None, when: list[Any] | None = None, **ids: Any) -> Op:
        """An operation that tells a fact about the turn, or about something in it."""
        op = {"event": event, "ids": {**self.ids, **ids}, "payload": payload or {}}
        return op | ({"if": when} if when else {})

    def named(self, value: Any) -> Any:
        """Replaces `$word:label` by an id that is new for each plan and the same for each label."""
        if isinstance(value, str) and value.startswith("$"):
            if value not in self.names:
                self.names[value] = self.new(value[1:].partition(":")[0])
            return self.names[value]
        if isinstance(value, list):
            return [self.named(entry) for entry in value]
        if isinstance(value, dict):
            return {name: self.named(entry) for name, entry in value.items()}
        return value


Expander = Callable[[Planner, Any], Iterator[Op]]
STEPS: dict[str, Expander] = {}


def step(kind: str) -> Callable[[Expander], Expander]:
    """Registers what a kind of step expands to."""

    def register(expander: Expander) -> Expander:
        STEPS[kind] = expander
        return expander

    return register


def expand(planner: Planner, script: list[Step]) -> list[Op]:
    """The whole plan of a script."""
    return [op for entry in script for op in _one(planner, planner.named(entry))]


def _one(planner: Planner, entry: Step) -> Iterator[Op]:
    kind = next(iter(entry))
    if kind not in STEPS:
        raise CommandRejected("unknown_step", f"No step is called {kind}.", category="invalid_request")
    return STEPS[kind](planner, entry[kind])


@step("fact")
def _fact(planner: Planner, said: Any) -> Iterator[Op]:
    """Any one fact, in the words of the contract: `{"type": ..., "ids": ..., "payload": ...}`."""
    yield planner.fact(said["type"], said.get("payload"), **said.get("ids", {})) | (
        {"beside": said["beside"]} if "beside" in said else {}
    )


@step("delay")
def _delay(planner: Planner, milliseconds: Any) -> Iterator[Op]:
    yield {"delay": milliseconds}


@step("command")
def _command(planner: Planner, said: Any) -> Iterator[Op]:
    yield {"command": said["name"], "request": said["request"]}
