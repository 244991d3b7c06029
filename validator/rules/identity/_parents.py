"""What the identity rules remember: who belongs to whom, and which ids have been named."""

from __future__ import annotations

import functools
from typing import Any

from validator.protocol.honest import is_honest
from validator.records import dataclass
from validator.replay.faded import Lines
from validator.replay.step import Step

TASKS = ("task", "orchestration", "attempt")


@dataclass(frozen=True, slots=True)
class Pair:
    """A child, its parent, the clause that says so, and the families whose events speak for both."""

    child: str
    parent: str
    clause: str
    families: tuple[str, ...] = ()
    """Empty: every event that carries both; other events may carry the ids of where they happen."""
    asked: tuple[str, ...] = ()
    """The families that are held to what was settled, where that is not all of them."""
    later: bool = False
    """The others may name a parent that began after the child."""

    def asks(self, family: str) -> bool:
        return not self.asked or family in self.asked


# Kinds that are unique only within their owner (a step, a model request, a process) have no row: there the same id
# under another owner is another subject. Dialects say in rules of their own what belongs to what.
PAIRS = (
    Pair("thread_id", "session_id", "ID-3"),
    Pair("turn_id", "thread_id", "ID-4"),
    Pair("run_id", "task_id", "ID-6"),
    Pair("attempt_id", "task_id", "ID-6"),
    Pair("run_id", "attempt_id", "ID-6"),
    Pair("attempt_id", "run_id", "ID-6"),
    Pair("job_item_id", "job_id", "ID-19"),
    Pair("task_id", "session_id", "ID-19", TASKS),
    Pair("task_id", "parent_task_id", "ID-19", TASKS),
    Pair("tool_call_id", "step_id", "ID-19", ("tool",)),
    Pair("action_id", "turn_id", "ID-19", ("action",)),
    Pair("action_id", "task_id", "ID-19", ("action",)),
    Pair("action_id", "tool_call_id", "ID-19", ("action",)),
    Pair("job_id", "session_id", "ID-19", ("job", "job_item")),
    Pair("job_id", "task_id", "ID-19", ("job", "job_item")),
    Pair("channel_id", "session_id", "ID-19", ("channel", "peer_task")),
    Pair("peer_task_id", "channel_id", "ID-19", ("peer_task",)),
    Pair("queue_id", "thread_id", "ID-19", ("queue",)),
    Pair("hook_run_id", "turn_id", "ID-19", ("hook",)),
    Pair("hook_run_id", "tool_call_id", "ID-19", ("hook",)),
    # What goes on in the background may tell of itself in a later turn; the boundary is drawn where the work was begun.
    Pair("tool_call_id", "turn_id", "ID-19", ("tool", "sandbox"), asked=("sandbox",), later=True),
    Pair("process_id", "turn_id", "ID-19", ("process", "sandbox"), asked=("sandbox",), later=True),
)
PLACE = PAIRS[:1]
"""The thread and its session."""
CHILD = Pair("subagent_id", "thread_id", "ID-19", ("subagent", "subagent_output"))
OWNERS = {"task_id", "run_id", "process_id", "job_id", "job_item_id", "subagent_id", "channel_id", "peer_task_id"}
"""What carries one of these may belong to work that goes on outside of turns and threads."""
WIDER = ("history", "rollback", "cost", "limit", "queue")
"""Families that may speak about a whole session, or that are joined to their turn in another way."""
SPLIT = ("subagent", "subagent_output")
"""Families whose events may carry ids of the child beside ids of the parent."""


CHILDREN = {
    "process": ("turn_id", "tool_call_id"),
    "action": ("turn_id", "task_id"),
    "subagent": ("turn_id",),
    "job": ("task_id",),
}
"""What a subject belongs to that has to be introduced first. A question may come before its call, and a hook before
whatever it watches."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A child is seen under another parent than before."""

    pair: Pair
    child: str
    parent: str
    settled: str
    line: int
    began: tuple[int, ...] = ()
    """Where the other parent began, or the child that reports there, when that is what makes it wrong."""


class Parents:
    """The parent of every child, as the first line that carried both has settled it."""

    forgets = ("_settled", "_spawned")

    def __init__(self, world: Any):
        self._world = world
        self._families = world.protocol.family_of
        self._settled: dict[tuple[str, str, str], tuple[str, int]] = {}
        self._spawned: dict[str, tuple[str, str, int]] = {}
        """Child agent to the thread it was spawned in, its own, and the line."""
        self._told: set[tuple[str, str, str, str]] = set()
        self.conflicts: list[Conflict] = []
        self.met: list[Pair] = []
        """The pairs that this line confirms or settles."""

    def apply(self, step: Step) -> None:
        self.conflicts, self.met = [], []
        if step.kind != "event":
            return
        scope, family = step.scope, self._families.get(step.type or "", "")
        pairs, shown = _pairs(family, tuple(scope)), ()
        if family in SPLIT:
            self._split(step)
            if not self._is_parents(step):
                shown = self._beside_parent(scope)
                pairs = PLACE if shown else ()
        for pair in pairs:
            child, parent = scope[pair.child], scope[pair.parent]
            key = (pair.child, pair.parent, child)
            before = self._settled.get(key)
            if before is None:
                before = self._settled[key] = (parent, step.number)
            settled, line = before
            if settled == parent:
                self.met.append(pair)
            elif self._is_wrong(pair, family, step, line) and (*key, parent) not in self._told:
                self._told.add((*key, parent))
                began = shown or self._began(pair, family, parent)
                self.conflicts.append(Conflict(pair, child, parent, settled, line, began))

    def _is_parents(self, step: Step) -> bool:
        """True when all ids of an event of a child agent are those of its parent."""
        own = step.line.get("payload")
        own = own.get("child_thread_id") if isinstance(own, dict) else None
        return step.type == "subagent.spawned" and isinstance(own, str) and own != step.scope.get("thread_id")

    def _beside_parent(self, scope: dict[str, str]) -> tuple[int, ...]:
        """Where the child agent of an event was spawned, if the event names that thread, and a session."""
        parent, own, line = self._spawned.get(scope.get("subagent_id", ""), ("", "", 0))
        return (line,) if parent != own and scope.get("thread_id") == parent and "session_id" in scope else ()

    def _split(self, step: Step) -> None:
        """An event of a child agent names the thread it was spawned in, or its own."""
        child, thread = step.scope.get("subagent_id"), step.scope.get("thread_id")
        if child is None or thread is None:
            return
        payload = step.line.get("payload")
        own = payload.get("child_thread_id") if isinstance(payload, dict) else None
        if step.type == "subagent.spawned" and isinstance(own, str):
            self._spawned.setdefault(child, (thread, own, step.number))
        parent, own, line = self._spawned.get(child, (thread, thread, 0))
        key = ("subagent_id", "thread_id", child)
        if thread not in (parent, own) and (*key, thread) not in self._told:
            self._told.add((*key, thread))
            self.conflicts.append(Conflict(CHILD, child, thread, parent, line))
        elif line:
            self.met.append(CHILD)

    def _began(self, pair: Pair, family: str, parent: str) -> tuple[int, ...]:
        turn = None if pair.asks(family) else self._world.subjects("turn").get(parent)
        return tuple(turn.history[:1]) if turn else ()

    def _is_wrong(self, pair: Pair, family: str, step: Step, settled: int) -> bool:
        """True when another parent than the settled one is a fault: not where it is one that began later."""
        if pair.asks(family):
            return True
        turn = self._world.subjects("turn").get(step.scope[pair.parent])
        # That work goes on in a turn which nobody submitted is a fault of its own (TURN-16).
        return turn is not None and not turn.faded and turn.history[0] < settled


@functools.lru_cache(maxsize=1024)
def _pairs(family: str, names: tuple[str, ...]) -> tuple[Pair, ...]:
    """The pairs that an event of a family with these ids tells."""
    told = (pair for pair in PAIRS if pair.child in names and pair.parent in names)
    return tuple(pair for pair in told if not pair.families or family in pair.families)


class Tasks:
    """The parent that each task has named, and the tasks that were created without one."""

    hears = ("task.*",)
    forgets = ("parent", "parents", "top")

    def __init__(self, world: Any):
        self._world = world
        self.parent: dict[str, tuple[str, int]] = {}
        self.parents: dict[str, int] = {}
        """Tasks that others have named as their parents."""
        self.top: dict[str, int] = {}

    def apply(self, step: Step) -> None:
        if self._world.protocol.family_of.get(step.type or "") not in TASKS:
            return
        task, parent = step.scope.get("task_id"), step.scope.get("parent_task_id")
        if task is None:
            return
        if parent is not None:
            self.parent.setdefault(task, (parent, step.number))
            self.parents.setdefault(parent, step.number)
            self.top.pop(task, None)
        elif step.type == "task.created" and task not in self.parent and self._says_no_more(step, task):
            self.top[task] = step.number

    def _says_no_more(self, step: Step, task: str) -> bool:
        """True when nothing hints at a parent: no honest value in its place, and no root above the task."""
        return "parent_task_id" not in step.line and step.scope.get("root_task_id", task) == task

    def chain(self, task: str) -> tuple[list[str], list[int]]:
        """The tasks from one up to the last whose parent is not known, and the lines that tell it; a circle ends it."""
        chain, lines, met = [task], [], {task}
        while chain[-1] in self.parent:
            parent, line = self.parent[chain[-1]]
            chain.append(parent)
            lines.append(line)
            if parent in met:
                break
            met.add(parent)
        return chain, lines


_NONE = Lines()


class Named:
    """Which ids of each kind have been named so far, and where first."""

    forgets = ("_seen", "_sessions")

    def __init__(self, world: Any):
        self._world = world
        self._seen: dict[str, Lines] = {}
        self._now: set[tuple[str, str]] = set()
        self._sessions = Lines()
        self.again: int | None = None
        """The line that created the session before which this event creates."""

    def apply(self, step: Step) -> None:
        self.again = None
        if self._now:
            self._now = set()
        if step.kind != "event":
            return
        if step.type == "session.created":
            session = step.scope.get("session_id", "")
            self.again = self._sessions.get(session)
            self._sessions.setdefault(session, step.number)
        named, seen = dict.__contains__, self._seen
        for name, value in step.scope.items():
            # Most ids were named before, and what is kept whole is found at once.
            if name not in seen or not named(seen[name], value):
                self._name(name, value, step.number)
        # The other events of a task are refused before it was created; an attempt is a subject of its own.
        if (step.type or "").startswith("task.attempt.") and "task_id" in step.scope:
            self._name("attempted_task_id", step.scope["task_id"], step.number)
        for move in step.moves:
            if move.source == "none" and move.row.driver.kind == "event":
                self._introduce(move.machine, step)

    def _introduce(self, machine: str, step: Step) -> None:
        """Names what a subject belongs to that an event introduces."""
        for owner in CHILDREN.get(machine, ()):
            if owner in step.scope:
                self._name(f"owner {owner}", step.scope[owner], step.number)

    def _name(self, name: str, value: str, line: int) -> None:
        known = self._seen.get(name)
        if known is None:
            known = self._seen[name] = Lines()
        if value not in known:
            known[value] = line
            self._now.add((name, value))

    def before(self, name: str, value: str) -> int | None:
        """The line before this one that named an id first."""
        return None if (name, value) in self._now else self._seen.get(name, _NONE).get(value)


class Seats:
    """Which sessions, threads and turns an event could belong to."""

    forgets = ("_sessions", "_threads", "_turns", "_steps")

    def __init__(self, world: Any):
        self._world = world
        self._sessions: dict[str, int] = {}
        self._threads: dict[str, int] = {}
        self._turns: dict[str, dict[str, int]] = {}
        self._steps: dict[str, int] = {}
        self._told: set[tuple[str, str]] = set()

    def apply(self, step: Step) -> None:
        scope = step.scope
        session = scope.get("session_id")
        if session is None:
            return
        if session not in self._sessions:
            self._sessions[session] = step.number
        if "thread_id" in scope:
            self._threads.setdefault(session, step.number)
        if "step_id" in scope and self._world.protocol.family_of.get(step.type or "") == "tool":
            self._steps.setdefault(session, step.number)
        for move in step.moves:
            if move.machine == "turn":
                turns = self._turns.setdefault(session, {})
                if self._world.protocol.machines["turn"].is_open(move.target):
                    turns.setdefault(move.subject, step.number)
                else:
                    turns.pop(move.subject, None)

    def applies(self, step: Step, name: str) -> int | None:
        """The line that shows that an id of a kind exists where this event happens."""
        if name in {"thread_id", "turn_id"} and (OWNERS & step.scope.keys() or _speaks_wider(self._world, step)):
            return None
        if name == "session_id":
            return next(iter(self._sessions.values()), None)
        session = step.scope.get("session_id") or (next(iter(self._sessions)) if len(self._sessions) == 1 else "")
        if name == "thread_id":
            return self._threads.get(session)
        if name == "turn_id":
            return next(iter(self._turns.get(session, {}).values()), None)
        return self._steps.get(session) if name == "step_id" else None

    def first(self, event_type: str, name: str) -> bool:
        """True the first time that an id is missed on a type of event."""
        if (event_type, name) in self._told:
            return False
        self._told.add((event_type, name))
        return True

    def tell(self) -> set[tuple[str, str]]:
        return self._told

    def hear(self, told: list[set[tuple[str, str]]], first: bool) -> bool:
        """False when two tell the first of something: together they would have told one of them."""
        return sum(map(len, told)) == len(set().union(*told))


def _speaks_wider(world: Any, step: Step) -> bool:
    return world.protocol.family_of.get(step.type or "") in WIDER


def stated(step: Step, name: str) -> bool:
    """True when an event carries an id, says honestly that it has none, or states the missing correlation."""
    if name in step.scope or is_honest(step.line.get(name)):
        return True
    correlation = step.line.get("correlation")
    if not isinstance(correlation, dict):
        return False
    return name in correlation or correlation.get("status") == "missing_correlation"
