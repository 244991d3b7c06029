"""What the identity rules remember: who belongs to whom, and which ids have been named."""

from __future__ import annotations

from collections.abc import Sequence

from validator.protocol.honest import is_honest
from validator.protocol.machine import NONE
from validator.records import dataclass
from validator.replay.faded import Lines
from validator.replay.step import Move, Step
from validator.rules._firsts import Firsts
from validator.rules.identity._naming import PAIRS, TASKS, Naming, Owned, Pair, containers, message_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PLACE = PAIRS[:1]
"""The thread and its session."""
CHILD = Pair("subagent_id", "thread_id", "ID-19", ("subagent", "subagent_output"))
OWNERS = {"task_id", "run_id", "process_id", "job_id", "job_item_id", "subagent_id", "channel_id", "peer_task_id"}
"""What carries one of these may belong to work that goes on outside of turns and threads."""
WIDER = ("history", "rollback", "cost", "limit", "queue")
"""Families that may speak about a whole session, or that are joined to their turn in another way."""
_MOST = 1024
"""Namings that are kept; a stream may make up as many types as it likes."""
_NOTHING: Owned = {}
_has = dict.__contains__


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


class Identities(Firsts):
    """The ids of events: the parent of every child, which were named before, and where an event could belong.

    The first line that carries a child and a parent settles who the parent is. That an id is missing is reported once
    per type of event.
    """

    forgets = ("_settled", "_spawned", "_seen", "_created", "_sessions", "_threads", "_turns", "_steps")
    heeds_last = False

    def __init__(self, world: Any):
        super().__init__()
        self._world = world
        self._families = world.protocol.family_of
        turns = world.protocol.machines.get("turn")
        self._at_work = frozenset(filter(turns.is_open, turns.states)) if turns else frozenset()
        """The states of a turn that is not over."""
        self._namings: dict[tuple[str | None, ...], Naming] = {}
        self.naming: Naming | None = None
        """What the type and the names of the ids of this event tell."""
        self._settled: dict[tuple[str, str, str], tuple[str, int]] = {}
        self._spawned: dict[str, tuple[str, str, int]] = {}
        """Child agent to the thread it was spawned in, its own, and the line."""
        self._told: set[tuple[str, str, str, str]] = set()
        self.conflicts: list[Conflict] = []
        self.met: Sequence[Pair] = ()
        """The pairs that this line confirms or settles."""
        self._seen: dict[str, Lines] = {}
        self.now: set[tuple[str, str]] = set()
        """The ids that this line is the first to name."""
        self._created = Lines()
        self.again: int | None = None
        """The line that created the session before which this event creates."""
        self._sessions: dict[str, int] = {}
        self._threads: dict[str, int] = {}
        self._turns: dict[str, dict[str, int]] = {}
        self._steps: dict[str, int] = {}

    def alike(self, step: Step) -> bool:
        return not self.conflicts and not self.now

    def apply(self, step: Step) -> None:
        self.again = None
        if self.now:
            self.now.clear()
        if self.conflicts:
            self.conflicts = []
        if step.kind != "event":
            self.met = ()
            self._seat(step, "thread_id" in step.scope, False)
            return
        scope, number = step.scope, step.number
        naming = self.naming = self._namings.get((step.type, *scope)) or self._meet(step.type, tuple(scope))
        self.met, named = naming.told, naming.named
        if naming.is_split:
            self._split(step, naming)
        elif not self._settle(step, naming):
            named = naming.alone  # what was settled before was named before
        if naming.creates:
            session = scope.get("session_id", "")
            self.again = self._created.get(session)
            self._created.setdefault(session, number)
        for name, known in named:
            # Most ids were named before, and what is kept whole is found at once.
            if not _has(known, scope[name]):
                self._name(name, known, scope[name], number)
        for name, role, known in naming.attempted:
            self._name(role, known, scope[name], number)
        self._seat(step, naming.in_thread, naming.in_step, naming.owned)

    def _meet(self, kind: str | None, names: tuple[str, ...]) -> Naming:
        naming = Naming(self._world.protocol, kind, names, self._lines)
        if len(self._namings) < _MOST:
            self._namings[kind, *names] = naming
        else:
            naming.is_plain = False  # the next of its kind has another, so nothing is to be counted under this one
        return naming

    # Who belongs to whom.

    def _settle(self, step: Step, naming: Naming) -> bool:
        """Settles the pairs that an event tells; True when one of them was not told before."""
        scope, settled, is_new = step.scope, self._settled, False
        for child, parent in naming.pairs:
            key = (child, parent, scope[child])
            before = settled.get(key)
            if before is None:
                settled[key], is_new = (scope[parent], step.number), True
            elif before[0] != scope[parent]:
                self.met = self._compare(step, naming.told, ())
                return True
        return is_new

    def _compare(self, step: Step, pairs: Sequence[Pair], shown: tuple[int, ...]) -> list[Pair]:
        """The pairs that an event confirms or settles; the others are conflicts, each told once."""
        scope, family, met = step.scope, self._families.get(step.type or "", ""), []
        for pair in pairs:
            child, parent = scope[pair.child], scope[pair.parent]
            key = (pair.child, pair.parent, child)
            settled, line = self._settled.setdefault(key, (parent, step.number))
            if settled == parent:
                met.append(pair)
            elif self._is_wrong(pair, family, step, line) and (*key, parent) not in self._told:
                self._told.add((*key, parent))
                began = shown or self._began(pair, family, parent)
                self.conflicts.append(Conflict(pair, child, parent, settled, line, began))
        return met

    def _split(self, step: Step, naming: Naming) -> None:
        """An event of a child agent may carry ids of the child beside ids of its parent."""
        met = self._of_child(step)
        if self._is_parents(step):
            pairs, shown = naming.told, ()
        else:
            shown = self._beside_parent(step.scope)
            pairs = PLACE if shown else ()
        self.met = [*met, *self._compare(step, pairs, shown)]

    def _is_parents(self, step: Step) -> bool:
        """True when all ids of an event of a child agent are those of its parent."""
        own = step.line.get("payload")
        own = own.get("child_thread_id") if isinstance(own, dict) else None
        return step.type == "subagent.spawned" and isinstance(own, str) and own != step.scope.get("thread_id")

    def _beside_parent(self, scope: dict[str, str]) -> tuple[int, ...]:
        """Where the child agent of an event was spawned, if the event names that thread, and a session."""
        parent, own, line = self._spawned.get(scope.get("subagent_id", ""), ("", "", 0))
        return (line,) if parent != own and scope.get("thread_id") == parent and "session_id" in scope else ()

    def _of_child(self, step: Step) -> tuple[Pair, ...]:
        """An event of a child agent names the thread it was spawned in, or its own."""
        child, thread = step.scope.get("subagent_id"), step.scope.get("thread_id")
        if child is None or thread is None:
            return ()
        payload = step.line.get("payload")
        own = payload.get("child_thread_id") if isinstance(payload, dict) else None
        if step.type == "subagent.spawned" and isinstance(own, str):
            self._spawned.setdefault(child, (thread, own, step.number))
        parent, own, line = self._spawned.get(child, (thread, thread, 0))
        key = ("subagent_id", "thread_id", child)
        if thread not in (parent, own) and (*key, thread) not in self._told:
            self._told.add((*key, thread))
            self.conflicts.append(Conflict(CHILD, child, thread, parent, line))
            return ()
        return (CHILD,) if line else ()

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

    # What was named before.

    def _lines(self, name: str) -> Lines:
        """Where ids of a name, or ids in a role, were named first."""
        known = self._seen.get(name)
        if known is None:
            known = self._seen[name] = Lines()
        return known

    def _name(self, name: str, known: Lines, value: str, line: int) -> None:
        if value not in known:
            known[value] = line
            self.now.add((name, value))

    def before(self, name: str, value: str) -> int | None:
        """The line before this one that named an id first; asked of some kinds of ids only."""
        return None if (name, value) in self.now else self._lines(name).get(value)

    # Where an event could belong.

    def _seat(self, step: Step, in_thread: bool, in_step: bool, owned: Owned = _NOTHING) -> None:
        session = step.scope.get("session_id")
        if session is not None:
            if session not in self._sessions:
                self._sessions[session] = step.number
            if in_thread and session not in self._threads:
                self._threads[session] = step.number
            if in_step and session not in self._steps:
                self._steps[session] = step.number
        for move in step.moves:
            if move.machine == "turn" and session is not None:
                self._sit(session, move, step.number)
            elif owned and move.source == NONE and move.row.driver.kind == "event":
                for name, role, known in owned.get(move.machine, ()):
                    self._name(role, known, step.scope[name], step.number)

    def _sit(self, session: str, move: Move, number: int) -> None:
        """A turn of a session is under way, or no longer."""
        turns = self._turns.get(session)
        if turns is None:
            turns = self._turns[session] = {}
        if move.target not in self._at_work:
            turns.pop(move.subject, None)
        elif move.subject not in turns:
            turns[move.subject] = number

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


def ordinary(step: Step, world: Any, context: Any) -> tuple[Any, ...] | None:
    """The key of an event whose ids say what they said before: its naming, and the little that is not told by it."""
    ids = world.ledger(Identities)
    naming, scope, message = ids.naming, step.scope, None
    if not naming.is_plain or ids.conflicts:
        return None
    if naming.introduces is not None and not _is_first(step, ids, *naming.introduces):
        return None
    if naming.work:
        work = naming.work
        if scope[work[0]] == scope[work[1]] and len({scope[name] for name in work}) == 1:
            return None
        message = message_of(step) is not None
    fresh = naming.names_step and bool(ids.now) and ("step_id", scope["step_id"]) in ids.now
    confirmed = None if ids.met is naming.told else tuple([pair.clause for pair in ids.met])
    if naming.is_contained:
        return naming, message, fresh, confirmed
    owners = [(name, inner.machine) for name, inner in containers(step, world, naming.wanted)]
    return None if any(name not in scope for name, _ in owners) else (naming, message, fresh, confirmed, *owners)


def _is_first(step: Step, ids: Identities, name: str, roles: tuple[tuple[str, Lines], ...]) -> bool:
    """True when nothing named what an event introduces in one of some roles, and it may introduce it."""
    value = step.scope[name]
    for role, known in roles:
        if value in known and (role, value) not in ids.now:
            return False
    return not step.refusals and ids.again is None


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
