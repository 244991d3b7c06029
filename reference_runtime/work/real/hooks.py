"""Hooks: programs of the host that are asked before and after a tool is used.

A hook reads one JSON object from its standard input and writes one to its standard output:

* exit 0: its answer counts; no output means `continue`. Fields: `decision` (continue, allow, ask, deny or block),
  `reason`, `updated_input` (an object), `updated_output` (a text), `additional_context` (a text);
* exit 2: it blocks, and what it wrote to its standard error is the reason;
* anything else, an answer that cannot be read, or no answer in time: it failed.

What it is given holds no secrets, no paths of the machine and nothing of the environment of commands (HOOK-15).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from reference_runtime.work.real.processes import Limits, Process

DECISIONS = {"continue", "allow", "ask", "deny", "block"}
_BLOCKS = 2
_LARGEST = 1 << 16


@dataclass(frozen=True, slots=True)
class Hook:
    """A program, when it is asked, how long it has, and what its failure means."""

    name: str
    point: str
    argv: tuple[str, ...]
    tools: tuple[str, ...] = ("*",)
    timeout_ms: int = 5000
    failure: str = "fail_closed"

    def asks_about(self, point: str, tool: str) -> bool:
        return point == self.point and any(fnmatchcase(tool, pattern) for pattern in self.tools)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a hook said, or why it said nothing that counts."""

    decision: str = "continue"
    reason: str = ""
    updated_input: dict[str, Any] | None = None
    updated_output: str | None = None
    context: str | None = None
    failed: str = ""
    """One safe sentence; empty when the hook answered."""
    timed_out: bool = False

    @property
    def blocks(self) -> bool:
        return self.decision in {"block", "deny"}


def ask(hook: Hook, question: dict[str, Any], folder: int) -> Answer:
    """Runs a hook to its end, or to the end of its time."""
    limits = Limits(timeout=hook.timeout_ms / 1000, output=_LARGEST)
    try:
        process = Process(hook.argv, folder, limits=limits)
    except OSError:
        return Answer(failed="The hook could not be started.")
    try:
        return _heard(process, json.dumps(question).encode())
    finally:
        process.close()


def _heard(process: Process, question: bytes) -> Answer:
    said = {"stdout": b"", "stderr": b""}
    process.begin()
    process.write(question)
    process.close_input()
    while not process.over:
        for stream, data in process.pump(1.0):
            said[stream] += data
        if process.late:
            return Answer(failed="The hook took too long.", timed_out=True)
        if max(map(len, said.values())) > process.limits.output:
            return Answer(failed="The hook wrote too much.")
    return _read(process.code, *(text.decode("utf-8", "replace") for text in said.values()))


def _read(code: int | None, answer: str, complaint: str) -> Answer:
    if code == _BLOCKS:
        return Answer("block", complaint.strip() or "The hook gave no reason.")
    if code != 0:
        return Answer(failed="The hook crashed.")
    if not answer.strip():
        return Answer()
    try:
        said = json.loads(answer)
        return _checked(said)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return Answer(failed="The hook's answer cannot be read.")


def _checked(said: dict[str, Any]) -> Answer:
    decision, changed, output = said.get("decision", "continue"), said.get("updated_input"), said.get("updated_output")
    shapes = ((changed, dict), (output, str), (said.get("additional_context"), str), (said.get("reason"), str))
    if decision not in DECISIONS or any(value is not None and not isinstance(value, kind) for value, kind in shapes):
        raise ValueError("not an answer")
    reason = said.get("reason") or ("The hook gave no reason." if decision in {"block", "deny"} else "")
    return Answer(decision, reason, changed, output, said.get("additional_context"))
