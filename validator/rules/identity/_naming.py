"""What the type of an event and the names of its ids tell by themselves; worked out once for all events alike.

The rules that judge ids are asked once about events of one naming whose ids say what they said before (`ordinary`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from validator.protocol.protocol import Protocol
from validator.records import dataclass
from validator.replay.faded import Lines
from validator.replay.step import Step
from validator.replay.subject import Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
SPLIT = ("subagent", "subagent_output")
"""Families whose events may carry ids of the child beside ids of the parent."""
JUDGED = {
    "agent-runtime": ("session_id", "thread_id", "turn_id", "step_id"),
    "agenthub": ("run_id",),
}
"""The ids that an event is asked for."""
CONTAINERS = {"session_id", "thread_id"}
"""What an event that names its turn or thread names as well."""
WORK = ("turn_id", "step_id", "tool_call_id", "action_id", "task_id", "run_id")
"""The ids of pieces of work, which have to be told apart."""
OWNERS = {
    "task_id": ("ID-5", ("task.created",), ("session_id", "thread_id", "parent_task_id")),
    "step_id": ("ID-7", (), ("turn_id", "task_id", "run_id", "attempt_id")),
    "action_id": ("ID-9", ("action.required",), ("turn_id", "task_id", "tool_call_id")),
}
"""Clause, the events that introduce it (none: the first event that names it), and what it can belong to."""
INTRODUCES = {
    "session.created": ("session_id", ("session_id",)),
    "thread.started": ("thread_id", ("thread_id",)),
    "task.created": ("task_id", ("parent_task_id", "root_task_id", "attempted_task_id", "owner task_id")),
    "turn.submitted": ("turn_id", ("owner turn_id",)),
    "tool.started": ("tool_call_id", ("owner tool_call_id",)),
}
"""Events to the id that they introduce, and the roles in which nothing may have named it before."""
ASKED = frozenset({"session_id", "thread_id", "turn_id", "task_id", "step_id", "parent_task_id", "root_task_id"})
"""The ids of which somebody asks where they were named first."""


CHILDREN = {
    "process": ("turn_id", "tool_call_id"),
    "action": ("turn_id", "task_id"),
    "subagent": ("turn_id",),
    "job": ("task_id",),
}
"""What a subject belongs to that has to be introduced first. A question may come before its call, and a hook before
whatever it watches."""
Owned = dict[str, tuple[tuple[str, str, Lines], ...]]


class Naming:
    """What events of a type teach and are asked that carry ids of some names."""

    __slots__ = (
        "alone",
        "attempted",
        "creates",
        "in_step",
        "in_thread",
        "introduces",
        "is_contained",
        "is_plain",
        "is_split",
        "named",
        "names_step",
        "owned",
        "pairs",
        "told",
        "wanted",
        "work",
    )

    def __init__(self, protocol: Protocol, kind: str | None, names: tuple[str, ...], lines: Callable[[str], Lines]):
        family, held = protocol.family_of.get(kind or "", ""), frozenset(names)
        told = [pair for pair in PAIRS if pair.child in held and pair.parent in held]
        self.told = tuple([pair for pair in told if not pair.families or family in pair.families])
        """The pairs that such an event tells."""
        self.pairs = tuple([(pair.child, pair.parent) for pair in self.told])
        self.is_split = family in SPLIT
        self.named = tuple([(name, lines(name)) for name in names if name in ASKED])
        """The ids of which somebody asks where they were named first, with what is known of them."""
        paired = {name for pair in self.pairs for name in pair}
        self.alone = tuple([entry for entry in self.named if entry[0] not in paired])
        """Those of them that are in no pair."""
        self.creates = kind == "session.created"
        # The other events of a task are refused before it was created; an attempt is a subject of its own.
        attempts = (kind or "").startswith("task.attempt.") and "task_id" in names
        self.attempted = (("task_id", "attempted_task_id", lines("attempted_task_id")),) if attempts else ()
        """The task that an attempt names, its role, and what is known in this role."""
        owned = {machine: [name for name in owners if name in held] for machine, owners in CHILDREN.items()}
        roles = {machine: [(name, f"owner {name}") for name in found] for machine, found in owned.items() if found}
        self.owned: Owned = {
            machine: tuple([(name, role, lines(role)) for name, role in found]) for machine, found in roles.items()
        }
        """The same of what a subject belongs to that it introduces, by the machine of the subject."""
        self.in_thread = "thread_id" in names
        self.in_step = "step_id" in names and family == "tool"
        should = protocol.families.get(family, {}).get("carries", {}).get("should", ())
        judged = JUDGED.get(protocol.name, ())
        self.wanted = dict.fromkeys(name for name in should if name in judged).keys()
        """The ids that such an event should carry, of those that are judged."""
        self.is_contained = self.wanted >= CONTAINERS
        """It should carry all that its turn or thread belongs to."""
        work = tuple([name for name in WORK if name in held])
        self.work = work if len(work) >= 3 else ()
        """The pieces of work that it names, when they are many."""
        self.names_step = "step_id" in names
        asked = [entry for name, entry in OWNERS.items() if name in held and (not entry[1] or kind in entry[1])]
        has_owners = all(not held.isdisjoint(owners) for _, _, owners in asked)
        self.is_plain = has_owners and self.wanted <= held
        """It carries what it should, and whatever it may introduce belongs to something."""
        name, ways = INTRODUCES.get(kind or "", ("", ()))
        self.introduces = (name, tuple((role, lines(role)) for role in ways)) if name in names else None
        """The id that it introduces, and the roles in which nothing may have named it before."""


def containers(step: Step, world: Any, wanted: Any) -> Iterator[tuple[str, Subject]]:
    """The ids that the turn or thread of an event belongs to, beside those it is asked for anyway."""
    if world.protocol.name != "agent-runtime":
        return
    turn = world.subjects("turn").get(step.scope.get("turn_id", ""))
    thread = turn or world.subjects("thread").get(step.scope.get("thread_id", ""))
    for inner, name in ((turn, "thread_id"), (thread, "session_id")):
        if inner is not None and name in inner.scope and name not in wanted:
            yield name, inner


def message_of(step: Step) -> Any:
    """The message that an event names, in its envelope or in its payload."""
    payload = step.line.get("payload")
    return step.line.get("message_id") or (payload.get("message_id") if isinstance(payload, dict) else None)
