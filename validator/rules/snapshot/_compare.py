"""Where a document that was served departs from the one that the replay has.

The served document may know less: a field that is left out or holds an honest value is never a difference. Fields that
no schema declares are ignored. A list that is stated is stated whole; its entries are joined by their ids.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.protocol.formats import instant
from validator.protocol.honest import is_honest
from validator.records import dataclass
from validator.replay.readmodels.agent_runtime.records import UNWATCHED, Shape
from validator.replay.readmodels.listed import Listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LESS = ("unknown", "unavailable", "not_applicable", "stale")
"""Words that say honestly that a status is not known."""
OVER = ("completed", "succeeded", "failed", "denied", "cancelled", "timed_out", "terminated", "closed", "archived")
"""States that a restart does not put in doubt."""
BLOCKING = ("thread_id", "turn_id", "task_id", "subagent_id")
"""Entries whose own state tables have a state called blocked."""
KEYS = {
    **dict.fromkeys(("turns", "recent_turns"), ("turn_id",)),
    **dict.fromkeys(("steps", "recent_steps"), ("step_id",)),
    **dict.fromkeys(("processes", "active_processes"), ("process_id",)),
    **dict.fromkeys(("pending_requests", "pending_approvals"), ("action_id",)),
    **dict.fromkeys(("attempts", "current_attempts"), ("run_id",)),
    **dict.fromkeys(("active", "waiting", "blocked", "failed", "lost", "recent_terminal", "tasks"), ("task_id",)),
    "queued_turns": ("queued_turn_id",),
    "tool_calls": ("tool_call_id",),
    "relationships": ("kind", "target_id"),
    "edges": ("from_id", "kind", "to_id"),
    "artifacts": ("artifact_id",),
    "evidence": ("evidence_id",),
    "outputs": ("output_ref",),
    "hook_runs": ("hook_run_id",),
    "subagents": ("subagent_id",),
    "jobs": ("job_id",),
    "channels": ("channel_id",),
    "permission_bridges": ("bridge_id",),
    "peer_tasks": ("peer_task_id",),
    "incidents": ("incident_id",),
    "threads": ("thread_id",),
    "pendingApprovals": ("approvalId",),
    "decidedApprovals": ("approvalId",),
    "patches": ("patchId",),
    "events": ("event_id",),
    "pending_actions": ("action_id",),
}
"""The ids by which the entries of a list are told apart, after the name of the list."""
ITEMS = (("queued_turn_id",), ("job_item_id",))
"""What tells `items` apart: those of a queue, or those of a job."""
WORDED = ("status", "_state", "_type", "kind", "decision", "mode", "_id", "state", "stateLabel", "count")
"""Endings of names whose values are words or ids, which a finding may repeat."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where a served document says something else than the replay."""

    kind: str
    """value, more (the replay does not know it), dropped (an entry is missing), order, or place (another list)."""
    path: tuple[str, ...]
    expected: str
    actual: str
    entity: tuple[str, str] | None = None
    """The id, by name, of the entry it is about."""
    states: tuple[Any, Any] = (None, None)
    """What the replay and the document say, where that is a word."""
    times: int = 1
    """How many entries it is about, where the first stands for all that are missing."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(step for step in self.path if not step.isdigit())

    @property
    def pointer(self) -> str:
        return "".join(f"/{step}" for step in self.path)


def compare(expected: Any, served: Any, shape: Shape, restarted: bool = False) -> list[Difference]:
    """All differences, in the order of the served document."""
    return list(_Comparison(restarted).records(expected, served, shape, (), None))


class _Comparison:
    def __init__(self, restarted: bool):
        self._restarted = restarted
        """The runtime was stopped; it may have lost what the replay has as open."""

    def records(self, expected: Any, served: Any, shape: Shape, path: Any, entity: Any) -> Iterator[Difference]:
        declared = shape.fields or dict.fromkeys({**expected, **served}, shape)
        for name, value in served.items():
            if name in declared and not is_honest(value):
                yield from self.values(expected.get(name), value, declared[name], (*path, name), entity)

    def values(self, expected: Any, served: Any, shape: Shape, path: Any, entity: Any) -> Iterator[Difference]:
        if (
            is_honest(served)
            or expected is UNWATCHED
            or expected == UNWATCHED
            or self._says_less(expected, served, path[-1], entity)
        ):
            return
        if isinstance(expected, dict) and isinstance(served, dict) and not is_honest(expected):
            yield from self.records(expected, served, shape, path, entity)
        elif isinstance(expected, list) and isinstance(served, list):
            yield from self.lists(expected, served, shape.elements, path, entity)
        elif not _same(expected, served, path[-1]):
            more = expected is None or is_honest(expected) or expected in LESS
            shown = _shown(expected, path[-1]), _shown(served, path[-1])
            words = tuple(value if isinstance(value, str) else None for value in (expected, served))
            yield Difference("more" if more else "value", path, *shown, entity, words)

    def _says_less(self, expected: Any, served: Any, name: str, entity: Any) -> bool:
        """True for an honest word in the place of another; `blocked` is a state of what stands in `BLOCKING`."""
        if served == "blocked" and (name != "status" or (entity and entity[0] not in BLOCKING)):
            return name.endswith(WORDED)
        if served == "lost" and name == "status":
            return self._restarted and expected not in OVER
        return isinstance(served, str) and served in LESS

    def lists(self, expected: list[Any], served: list[Any], shape: Shape, path: Any, entity: Any) -> Any:
        names = _key(path[-1], expected, served)
        if names is None:
            yield from self._by_place(expected, served, shape, path, entity)
            return
        is_listed = isinstance(expected, Listed) and expected.names == names
        known = expected.known if is_listed else {_id(entry, names): entry for entry in expected}
        shown = {_id(entry, names): (place, entry) for place, entry in enumerate(served)}
        if None not in shown:
            yield from _left_out(expected, shown, path) if is_listed else _missing(known, shown, names, path)
        for key, (place, entry) in shown.items():
            if key is None:
                continue
            own = (names[-1], key) if names else entity
            if key not in known:
                yield Difference("more", (*path, str(place)), "no such entry", "an entry", own, (None, _status(entry)))
            elif isinstance(entry, dict) and isinstance(known[key], dict):
                yield from self.records(known[key], entry, shape, (*path, str(place)), own)

    def _by_place(self, expected: Any, served: Any, shape: Shape, path: Any, entity: Any) -> Iterator[Difference]:
        if len(expected) != len(served):
            kind = "dropped" if len(served) < len(expected) else "more"
            yield Difference(kind, path, f"{len(expected)} entries", f"{len(served)}", entity)
            return
        for place, (one, other) in enumerate(zip(expected, served, strict=True)):
            yield from self.values(one, other, shape, (*path, str(place)), entity)


def _missing(known: dict[Any, Any], shown: dict[Any, Any], names: tuple[str, ...], path: Any) -> Iterator[Difference]:
    for key, entry in known.items():
        if key not in shown:
            own = (_kind(names, path), str(key))
            yield Difference("dropped", path, "every entry", "one is missing", own, (_status(entry), None))
    if [key for key in known if key in shown] != [key for key in shown if key in known]:
        yield Difference("order", path, "the order of the stream", "another order", None)


def _left_out(expected: Listed, shown: dict[Any, Any], path: Any) -> Iterator[Difference]:
    """The same of a list that is not gone through; what is missing is one difference."""
    met = [key for key in shown if key in expected.known]
    if len(met) < len(expected.known):
        key, entry = next((key, entry) for entry in expected if (key := _id(entry, expected.names)) not in shown)
        own = (_kind(expected.names, path), str(key))
        count = len(expected.known) - len(met)
        yield Difference("dropped", path, "every entry", "one is missing", own, (_status(entry), None), count)
    ranks = [expected.first[key] for key in met]
    if ranks != sorted(ranks):
        yield Difference("order", path, "the order of the stream", "another order", None)


def _kind(names: tuple[str, ...], path: Any) -> str:
    return names[-1] if names else path[-1].removesuffix("s")


def _key(name: str, expected: list[Any], served: list[Any]) -> tuple[str, ...] | None:
    """The names of the ids of a list; none for plain values, None for entries without an id."""
    if _are_words(expected) and _are_words(served):
        return () if (expected or served) and not (_repeats(expected) or _repeats(served)) else None
    names = KEYS.get(name)
    if names and isinstance(expected, Listed) and expected:
        return names if names == expected.names or _have(names, served) else None
    if name == "items":
        return next((key for key in ITEMS if _have(key, expected) or _have(key, served)), None)
    return names if names and (_have(names, expected) or _have(names, served)) else None


def _have(names: tuple[str, ...], entries: list[Any]) -> bool:
    """True when an entry has an id of that name."""
    return any(names[0] in entry for entry in entries if isinstance(entry, dict))


def _are_words(entries: list[Any]) -> bool:
    if isinstance(entries, Listed) and entries:
        return not entries.names
    return all(isinstance(entry, str) for entry in entries)


def _repeats(words: list[str]) -> bool:
    """True when a word stands twice, which it never does where words are found by themselves."""
    return not isinstance(words, Listed) and len(set(words)) != len(words)


def _id(entry: Any, names: tuple[str, ...]) -> str | None:
    if not names:
        return entry
    values = [entry.get(name) if isinstance(entry, dict) else None for name in names]
    return "|".join(values) if all(isinstance(value, str) for value in values) else None


def _status(entry: Any) -> Any:
    status = entry.get("status") if isinstance(entry, dict) else None
    return status if isinstance(status, str) else None


def _same(expected: Any, served: Any, name: str) -> bool:
    if isinstance(expected, bool) or isinstance(served, bool):
        return expected is served
    if expected == served:
        return True
    if name.endswith(("_at", "At")) and isinstance(expected, str) and isinstance(served, str):
        return instant(expected) == instant(served) is not None
    return False


def _shown(value: Any, name: str) -> str:
    if value is None:
        return "nothing"
    if is_honest(value):
        return value["honest"]
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float) or (isinstance(value, str) and name.endswith(WORDED)):
        return str(value)
    return "another value"
