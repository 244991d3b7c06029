"""What the rules of this family remember: who asked, who decided, which boundary holds, what was to run, what ran."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from validator.protocol.honest import known
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules._catalogues import Catalogues
from validator.rules._instants import instant

GRANTS = frozenset({"approved", "allow", "allowed", "modified", "answered"})
TOOL_RUNS = ("tool.progress", "tool.result")
RUNS = (*TOOL_RUNS, "process.started", "process.output", "process.input")
"""A process runs from its start, a call from its first progress or result."""

SHELLS_AND_WRITERS = frozenset(
    {
        *("shell", "bash", "sh", "zsh", "powershell", "terminal", "exec", "exec_command", "run_command"),
        *("run_shell_command", "write_file", "edit_file", "create_file", "delete_file", "apply_patch"),
    }
)
"""Names under which tools run a shell or write files, used where no catalogue says what a tool does."""


def payload(line: dict[str, Any]) -> dict[str, Any]:
    value = line.get("payload")
    return value if isinstance(value, dict) else {}


def stated(line: dict[str, Any], name: str, beside: str = "") -> Any:
    """A field of the payload, else of the record beside it; an honest value counts as stated."""
    value = payload(line).get(name)
    if value is None and beside:
        record = line.get(beside)
        value = record.get(name) if isinstance(record, dict) else None
    return value


def held(line: dict[str, Any], name: str, beside: str = "") -> Any:
    """The same, or None where it is only honestly said to be missing."""
    return known(stated(line, name, beside))


def said(line: dict[str, Any], name: str, beside: str = "") -> Any:
    """The same for a word, a number or a flag; None for anything else, which the schema reports."""
    value = stated(line, name, beside)
    return value if isinstance(value, str | bool | int | float) else None


def word_said(line: dict[str, Any], name: str) -> str | None:
    """The same for a word alone."""
    value = stated(line, name)
    return value if isinstance(value, str) else None


def shown(word: Any) -> str:
    """A word of a vocabulary as it is; anything else is not repeated in a finding."""
    return word if isinstance(word, str) and re.fullmatch(r"[a-z_]{1,20}", word) else "another word"


def permits(line: dict[str, Any], name: str) -> Any:
    return said(line, name, "permission_decision")


def refused_by_table(step: Step, machine: str) -> bool:
    """True when the state table already refuses the move, so that nothing more is said about it."""
    return any(entry.machine == machine for entry in step.refusals)


def hidden(world: World, step: Step) -> bool:
    """True when what a turn was told may lie outside the capture: before it, in a gap or in an unreadable line."""
    turn = world.subjects("turn").get(step.scope.get("turn_id", ""))
    if turn is None or not turn.history:
        return world.midway(step) or world.unproved(step) is not None
    return lost_since(world, turn.history[0], step)


def lost_since(world: World, line: int, about: Step | None = None) -> bool:
    """True when a gap or an unreadable line came after a line."""
    return (world.unproved(about) or 0) > line


@dataclass(slots=True)
class Target:
    """A tool call or a process: what was announced, and at which lines it was seen to run."""

    kind: str
    key: str
    line: int
    call: str | None = None
    """The call that started it, for a process."""
    turn: str | None = None
    thread: str | None = None
    session: str | None = None
    channel: str | None = None
    tool: str | None = None
    args_ref: str | None = None
    safe_args: Any = None
    digest: str | None = None
    action: str | None = None
    """The action that is said to approve it."""
    permission_ref: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    stdin: bool | None = None
    """Its limits let it be written to."""
    earlier: dict[str, Any] = field(default_factory=dict)
    """The arguments as they were before the last tool.args, and the line of that event."""
    earlier_line: int = 0
    ran: int | None = None
    last: int | None = None
    before: int | None = None
    """The run before the last one."""

    @property
    def ids(self) -> tuple[str, ...]:
        """Itself, and the call it belongs to."""
        return (self.key, self.call) if self.call else (self.key,)


class Work:
    """Tool calls and processes by id."""

    hears = ("tool.*", "process.*")
    forgets = ("calls", "processes", "first_to_rest_on")

    def __init__(self, world: World):
        self.calls: dict[str, Target] = {}
        self.processes: dict[str, Target] = {}
        self.first_to_rest_on: dict[str, Target] = {}
        """Reference of a decision to the first target that ran with it."""

    def apply(self, step: Step) -> None:
        if step.kind != "event" or step.type is None:
            return
        target = self.of(step) or self._announced(step)
        if target is None:
            return
        if step.type == "tool.args":
            target.earlier = {"safe_args": target.safe_args, "args_ref": target.args_ref}
            target.earlier_line = step.number
            target.args_ref = said(step.line, "args_ref") or target.args_ref
            target.safe_args = held(step.line, "safe_args") or target.safe_args
        elif step.type in {"tool.result", "tool.failed"}:
            target.safe_args, target.earlier = None, {}
        if runs(step):
            target.ran = target.ran or step.number
            target.before, target.last = target.last, step.number
            if target.permission_ref:
                self.first_to_rest_on.setdefault(target.permission_ref, target)

    def of(self, step: Step) -> Target | None:
        """The call or process an event of either family speaks about."""
        family = (step.type or "").partition(".")[0]
        if family == "process":
            return self.processes.get(step.scope.get("process_id", ""))
        return self.calls.get(step.scope.get("tool_call_id", "")) if family == "tool" else None

    def _announced(self, step: Step) -> Target | None:
        """What an event of a call or process that was not heard of before announces, if it names it."""
        call, process = step.scope.get("tool_call_id"), step.scope.get("process_id")
        if step.type == "tool.started" and call:
            return self.calls.setdefault(call, self._call(call, step))
        if step.type == "process.started" and process:
            return self.processes.setdefault(process, self._process(process, step))
        return None

    def _call(self, key: str, step: Step) -> Target:
        line = step.line
        return Target(
            "tool_call",
            key,
            step.number,
            **_places(step),
            tool=word_said(line, "tool_name"),
            args_ref=word_said(line, "args_ref"),
            safe_args=held(line, "safe_args"),
            digest=word_said(line, "payload_hash"),
            action=word_said(line, "approval_action_id"),
            permission_ref=word_said(line, "permission_ref"),
            read_only=said(line, "is_read_only"),
            destructive=said(line, "is_destructive"),
        )

    def _process(self, key: str, step: Step) -> Target:
        limits = held(step.line, "limits")
        return Target(
            "process",
            key,
            step.number,
            call=step.scope.get("tool_call_id"),
            **_places(step),
            digest=said(step.line, "payload_hash"),
            permission_ref=said(step.line, "permission_ref"),
            destructive=said(step.line, "destructive"),
            stdin=known(limits.get("stdin")) if isinstance(limits, dict) else None,
        )


def _places(step: Step) -> dict[str, str | None]:
    return {name: step.scope.get(f"{name}_id") for name in ("turn", "thread", "session", "channel")}


def runs(step: Step) -> bool:
    """True for an event that shows its call or process at work."""
    if step.type == "process.output":
        return payload(step.line).get("drained") is not True
    return step.type in RUNS


@dataclass(slots=True)
class Question:
    """An action: what it names, what it asks about, and how it was answered."""

    key: str
    line: int
    call: str | None
    process: str | None
    task: str | None
    turn: str | None
    digest: str | None = None
    expires: datetime | None = None
    scoped: bool = False
    """It states what an approval covers."""
    blocking: bool = True
    decision: str | None = None
    answered: int | None = None
    changed: str | None = None
    """The payload as a decision to modify changed it."""
    answer_digest: str | None = None
    by_person: bool = False

    @property
    def granted(self) -> bool:
        return self.decision in GRANTS

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
        scope, line = step.scope, step.line
        question = Question(
            key,
            step.number,
            scope.get("tool_call_id"),
            scope.get("process_id"),
            scope.get("task_id"),
            scope.get("turn_id"),
            word_said(line, "payload_hash"),
            instant(word_said(line, "expires_at")),
            stated(line, "scope") is not None,
            payload(line).get("blocking") is not False,
        )
        self.all[key] = question
        names = [name for name in (question.call, question.process) if name]
        if question.task and not names and not question.turn:
            names = [question.task]
        for name in names:
            self.naming.setdefault(name, []).append(question)

    def granted_for(self, *ids: str) -> list[Question]:
        return [question for name in ids for question in self.naming.get(name, ()) if question.granted]


@dataclass(frozen=True, slots=True)
class Decision:
    """One permission event about a target."""

    line: int
    event: str
    word: str | None
    source: str | None
    mode: str | None
    scope: str | None
    action: str | None
    expires: datetime | None
    destructive: bool | None
    rules: Any
    interactive: bool | None

    @property
    def allows(self) -> bool:
        return self.word in {"allow", "allowed", "sandboxed"}

    @property
    def decides(self) -> bool:
        return self.event in {"permission.evaluated", "permission.resolved"}


class Decisions:
    """Permission events by target; those that name only a turn stand under the turn."""

    hears = ("permission.*",)
    forgets_faded = ("about", "linked")

    def __init__(self, world: World):
        self.about: dict[str, list[Decision]] = {}
        self.linked: dict[str, list[str]] = {}
        """Action to the targets whose permission it stands for."""

    def apply(self, step: Step) -> None:
        if step.kind != "event" or not (step.type or "").startswith("permission."):
            return
        target = target_of(step)
        if target is None:
            return
        found = decision_of(step)
        self.about.setdefault(target, []).append(found)
        if found.action and target not in self.linked.setdefault(found.action, []):
            self.linked[found.action].append(target)

    def of(self, target: Target) -> list[Decision]:
        """What was decided about a target, or about the call that started it."""
        found = [entry for key in target.ids for entry in self.about.get(key, ())]
        return sorted(found, key=lambda entry: entry.line)

    def on_record(self, target: Target) -> bool:
        keys = (*target.ids, target.turn or "")
        return any(entry.decides for key in keys for entry in self.about.get(key, ()))


def target_of(step: Step) -> str | None:
    names = ("tool_call_id", "process_id", "action_id", "peer_task_id", "turn_id")
    return next((step.scope[name] for name in names if name in step.scope), None)


def decision_of(step: Step) -> Decision:
    line = step.line
    return Decision(
        step.number,
        step.type or "",
        permits(line, "decision"),
        permits(line, "decision_source"),
        permits(line, "mode"),
        permits(line, "scope"),
        permits(line, "approval_action_id"),
        instant(permits(line, "expires_at")),
        permits(line, "destructive"),
        held(line, "rule_refs", "permission_decision"),
        said(line, "interactive"),
    )


class Boundaries:
    """For which calls, processes and turns a boundary was applied."""

    hears = ("sandbox.applied",)
    forgets_faded = ("applied",)

    def __init__(self, world: World):
        self.applied: dict[str, dict[str, Any]] = {}
        self.previous: dict[str, Any] | None = None
        """What held for the target of the current step before it."""

    def apply(self, step: Step) -> None:
        self.previous = None
        if step.type != "sandbox.applied":
            return
        names = ("process_id", "tool_call_id", "turn_id", "thread_id", "session_id")
        key = next((step.scope[name] for name in names if name in step.scope), "")
        self.previous = self.applied.get(key)
        self.applied[key] = {
            "line": step.number,
            "mode": said(step.line, "mode", "sandbox_profile"),
            "network": said(step.line, "network", "sandbox_profile"),
        }

    def around(self, target: Target) -> bool:
        keys = (*target.ids, target.turn, target.thread, target.session, "")
        return any(key in self.applied for key in keys if key is not None)


def writes_or_shell(target: Target, catalogues: Catalogues) -> bool:
    """True for a call that is known to write files or to run a shell."""
    if target.read_only is True:
        return False
    entry = catalogues.entry(target) or {}
    abilities = known(entry.get("capabilities"))
    if isinstance(abilities, list):
        return "shell" in abilities or {"write", "filesystem"} <= set(map(str, abilities))
    return (target.tool or "").lower() in SHELLS_AND_WRITERS


def is_destructive(target: Target, decisions: Decisions, catalogues: Catalogues) -> bool:
    entry = catalogues.entry(target) or {}
    marks = [target.destructive, known(entry.get("is_destructive"))]
    return True in marks or any(found.destructive is True for found in decisions.of(target))


def is_read_only(target: Target, catalogues: Catalogues) -> bool:
    entry = catalogues.entry(target) or {}
    return target.read_only is True or known(entry.get("is_read_only")) is True


@dataclass(slots=True)
class HookRun:
    """A hook run that has not ended, or whose word still binds."""

    line: int
    point: str | None
    call: str | None
    turn: str | None
    timeout: int | None = None
    started: datetime | None = None
    scope: dict[str, str] = field(default_factory=dict)


class Hooks:
    """Hook runs under way, calls that a hook blocked, and turns that a stop hook holds back."""

    hears = ("hook.*", "model.*", "tool.*", "process.*", "reasoning.*")
    forgets = ("running", "before_use", "blocked", "held")

    def __init__(self, world: World):
        self.running: dict[str, HookRun] = {}
        self.before_use: dict[str, dict[str, int]] = {}
        """Call to its hooks before use that still run."""
        self.blocked: dict[str, int] = {}
        self.held: dict[str, int] = {}
        self.ended: HookRun | None = None
        """The run that the current step ends."""

    def apply(self, step: Step) -> None:
        self.ended = None
        if step.kind != "event" or step.type is None:
            return
        family, _, word = step.type.partition(".")
        if family != "hook":
            self._work(step, family)
            return
        key = next((move.subject for move in step.moves if move.machine == "hook"), None)
        if key is None:
            return
        if word == "started":
            self._start(key, step)
        else:
            self._end(key, step)

    def _start(self, key: str, step: Step) -> None:
        limit = said(step.line, "timeout_ms")
        run = HookRun(
            step.number,
            said(step.line, "hook_point", "hook_run"),
            step.scope.get("tool_call_id"),
            step.scope.get("turn_id"),
            limit if isinstance(limit, int) else None,
            instant(step.line.get("timestamp")),
            step.scope,
        )
        self.running[key] = run
        if run.point == "pre_tool_use" and run.call:
            self.before_use.setdefault(run.call, {})[key] = step.number

    def _end(self, key: str, step: Step) -> None:
        self.ended = run = self.running.pop(key)
        if run.call in self.before_use:
            self.before_use[run.call].pop(key, None)
        if said(step.line, "decision", "hook_run") not in {"block", "deny"}:
            return
        if run.call and run.point in {"pre_tool_use", "permission_request"}:
            self.blocked.setdefault(run.call, step.number)
        elif run.turn and run.point == "stop":
            self.held[run.turn] = step.number

    def _work(self, step: Step, family: str) -> None:
        turn = step.scope.get("turn_id")
        if turn in self.held and family in {"model", "tool", "process", "reasoning"}:
            del self.held[turn]
