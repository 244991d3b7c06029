"""Reference runtimes with exactly one fault each.

A fault is a small class: what it does wrong, the story that brings it out, and the rule that catches it. A broken
runtime asks no state table, for nobody who breaks a rule on purpose would; everything else it does right.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

from reference_runtime import service
from reference_runtime.capture import LineCapture
from reference_runtime.domain.state import State
from reference_runtime.errors import IllegalMove
from reference_runtime.facts.learn import learn
from reference_runtime.log.memory import MemoryStore
from reference_runtime.scripts import player
from reference_runtime.stamping import Draft

BOUNDARY = {
    "mode": "workspace_write",
    "cwd": ".",
    "read_roots": ["."],
    "write_roots": ["build"],
    "network": "restricted",
}
BOUNDARY |= {"process_limits": {"timeout_ms": 1}}
SHELL = {"name": "shell", "args": {"c": 1}, "process": {"command": "make", "output": ["x"]}, "result": "done"}


def submit(script: str = "work", turn: str = "turn_a", **more: Any) -> dict[str, Any]:
    request = {"session_id": "s", "thread_id": "t", "turn_id": turn, "input_parts": [{"kind": "text", "text": "hi"}]}
    return {"command": "submit_turn", "request": {**request, "options": {"script": script}, **more}}


def task_acts(*acts: dict[str, Any]) -> list[dict[str, Any]]:
    """A session with a task that runs, and then the acts."""
    made = {"command": "create_task", "request": {"session_id": "s", "task_id": "task_a", "objective": "o"}}
    started = {"command": "start_task", "request": {"task_id": "task_a", "run_id": "run_1"}}
    return [submit("silent"), {"run": True}, made, started, *acts]


def do(command: str, **request: Any) -> dict[str, Any]:
    return {
        "command": command,
        "request": request,
        "expect": ["accepted", "queued", "no_op", "rejected", "unavailable"],
    }


class Fault:
    """What a runtime does wrong; by itself it does nothing wrong."""

    rule = ""
    expect = "prefix"
    told = False
    """The fault is in the facts that the story reports, so the story has no version without it."""
    scripts: dict[str, Any] = {"work": [{"catalog": {}}, {"tool": SHELL | {"decision": "allow"}}]}
    acts: list[dict[str, Any]] = [submit(), {"run": True}]
    work: dict[str, Any] | None = None
    """Where real work is done, if the story does any."""
    settings: dict[str, Any] = {}

    def tamper(self, draft: Draft, state: State) -> Iterable[Draft]:
        """What is written instead of a draft."""
        return [draft]

    def event(self, event: dict[str, Any]) -> dict[str, Any]:
        """What an event becomes after it was stamped."""
        return event

    def patch(self, patcher: Any) -> None:
        """What else is broken."""


class BrokenRuntime(service.Runtime):
    """A runtime with a fault, which writes what its tables would refuse."""

    fault: Fault

    def _run(self, state: State, decision: Any) -> Any:
        while True:
            try:
                draft = next(decision)
            except StopIteration as end:
                return end.value
            for written in self.fault.tamper(draft, state):
                self._write(state, self.fault.event(self._stamp(state, written)))

    def _write(self, state: State, event: dict[str, Any]) -> None:
        try:
            learn(state, event)
        except IllegalMove:
            state.events.append(event)


def capture_of(fault: Fault, patcher: Any) -> str:
    """What a broken runtime leaves behind after its story."""
    store, text = MemoryStore(), io.StringIO()
    patcher.setattr(player, "Runtime", type("Broken", (BrokenRuntime,), {"fault": fault}))
    fault.patch(patcher)
    story = {"scripts": fault.scripts, "acts": fault.acts, "settings": fault.settings}
    story |= {} if fault.work is None else {"work": fault.work}
    player.Player(story, lambda: store, LineCapture(text, completeness=fault.expect)).play()
    return text.getvalue()
