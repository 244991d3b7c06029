"""Compares what a line claims with the replay, once for all rules that ask."""

from __future__ import annotations

from collections.abc import Mapping

from validator.protocol.honest import is_honest
from validator.protocol.protocol import Protocol
from validator.records import dataclass
from validator.replay.readmodels.agent_runtime.names import LIMITS
from validator.replay.readmodels.agent_runtime.past import Past
from validator.replay.readmodels.agent_runtime.recall import Replay
from validator.replay.readmodels.agent_runtime.records import shape_of
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules.snapshot._claims import Claim, Claims
from validator.rules.snapshot._compare import KEYS, LESS, OVER, Difference, compare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HEAD = ("as_of_sequence", "freshness", "freshness_reason", "session_id", "thread_id")
"""What a document says about itself; judged by clauses of its own."""
BOARD = ("active", "waiting", "blocked", "failed", "lost", "recent_terminal")
"""The lists of which each task stands in one."""
WINDOWED = ("recent_turns", "recent_steps")
STALLED = {("diagnostics", "stalled_turn_ids"), ("diagnostics", "stalled_task_ids")}
"""Lists that grow with what a runtime doubts."""
LOST = {("last_outcome",), ("diagnostics", "lost_worker_ids")}
"""What a runtime shows of work that it lost with a restart."""
HISTORY = ("history_cursor", "history_truncated")


@dataclass(slots=True)
class Compared:
    """A claim beside the replay at the sequence it claims."""

    claim: Claim
    past: Past
    expected: Mapping[str, Any]
    differences: list[Difference]
    children: set[str]
    """Children that have completed, whatever became of them since."""


class Comparisons:
    """The comparisons of the line at hand; made when the first rule asks."""

    hears = ()

    def __init__(self, world: World):
        self._world = world
        self._line = -1
        self._made: list[Compared] = []

    def apply(self, step: Step) -> None:
        """Nothing is remembered; what was claimed before is with the claims."""

    def of(self, step: Step, errors: list[Any]) -> list[Compared]:
        """What the line claims, where it can be judged; a document that does not fit its schema is left alone."""
        if self._line != step.number:
            self._line = step.number
            claims = self._world.ledger(Claims).now
            made = (self._compare(claim, step) for claim in claims) if not errors else ()
            self._made = [entry for entry in made if entry is not None]
        return self._made

    def _compare(self, claim: Claim, step: Step) -> Compared | None:
        if claim.uncertain or (claim.model not in LIMITS and claim.source != "result"):
            return None
        replay = self._world.ledger(Replay)
        if claim.sequence is not None and claim.sequence > (replay.reached(claim.session) or (-1, 0))[0]:
            return None
        # A record may be that of any session.
        past = replay.at(claim.session, claim.sequence, step.number, alone=claim.model in LIMITS)
        if claim.model not in LIMITS and replay.is_gone(None):
            return None
        ids = {"session_id": claim.session} if claim.session is not None else None
        if past is None or past.lost(ids) is not None or claim.session not in (None, *past.models.sessions):
            return None
        expected, children = _expected(claim, past), self._world.ledger(Claims).completed_children
        if expected is None:
            invented = [] if past.midway(ids) else list(_from_nothing(claim))
            return Compared(claim, past, {}, invented, children)
        served = {name: value for name, value in claim.document.items() if name not in HEAD}
        found = list(self._differences(claim, expected, served, past.protocol))
        if past.midway(ids):
            found = [entry for entry in found if entry.kind == "dropped" and entry.entity]
        return Compared(claim, past, expected, found, children)

    def _differences(self, claim: Claim, expected: Any, served: Any, protocol: Protocol) -> Any:
        restarted = self._world.ledger(Claims).restart is not None
        if claim.model == "task_snapshot" and any(isinstance(served.get(name), list) for name in BOARD):
            yield from (
                entry
                for entry in _board(expected, served, restarted)
                if not (claim.partial and entry.kind == "dropped")
            )
            expected = {**expected, **_arranged(expected, served)}
        shape = shape_of(protocol, claim.model)
        left_out = _left_out(claim, expected, served, restarted)
        for entry in compare(expected, served, shape, restarted):
            if not left_out(entry):
                yield entry


def _expected(claim: Claim, past: Past) -> Mapping[str, Any] | None:
    thread, turn, caller = (claim.scope.get(name) for name in ("thread_id", "turn_id", "caller"))
    if claim.model not in LIMITS:
        return past.models.record(claim.model, str(claim.document.get(f"{claim.model}_id")))
    if claim.model == "tool_inventory_snapshot":
        return past.models.inventory_told(claim.document, caller, thread, turn, claim.session)
    return past.models.told(claim.model, thread, turn, claim.session)


def _from_nothing(claim: Claim) -> Any:
    """Entries of a document that no event has fed."""
    for name, value in claim.document.items():
        listed = isinstance(value, list) and bool(value)
        if listed and (name in KEYS or (name.endswith("_ids") and isinstance(value[0], str))):
            yield Difference("more", (name, "0"), "no such entry", "an entry")


def _shown(served: dict[str, Any]) -> dict[Any, tuple[str, int, Any]]:
    """Where a document lists each task: list, place and status."""
    lists = ((name, served[name]) for name in BOARD if isinstance(served.get(name), list))
    places = ((name, place, entry) for name, entries in lists for place, entry in enumerate(entries))
    return {entry.get("task_id"): (name, place, entry.get("status")) for name, place, entry in places if entry}


def _board(expected: dict[str, Any], served: dict[str, Any], restarted: bool) -> Any:
    """Tasks that are missing, or stand in another list than their status asks for."""
    shown = _shown(served)
    for name in BOARD:
        for task in expected[name]:
            key = task["task_id"]
            if key not in shown and isinstance(served.get(name), list):
                yield Difference("dropped", (name,), "every task", "one is missing", ("task_id", key))
            elif key in shown and shown[key][0] != name and not _is_doubt(shown[key], task, restarted):
                at, words = (shown[key][0], str(shown[key][1])), (task["status"], shown[key][2])
                yield Difference("place", at, f"listed under {name}", f"listed under {at[0]}", ("task_id", key), words)


def _is_doubt(shown: tuple[str, int, Any], task: dict[str, Any], restarted: bool) -> bool:
    """True for a task that is listed as lost because nobody can prove where it stands."""
    name, _, status = shown
    return name == "lost" and (status in LESS or (restarted and status == "lost" and task["status"] not in OVER))


def _arranged(expected: dict[str, Any], served: dict[str, Any]) -> dict[str, Any]:
    """The tasks of the replay in the lists in which a document has them."""
    shown, order = _shown(served), {key: place for place, key in enumerate(expected["task_graph"]["nodes"])}
    tasks = sorted((task for name in BOARD for task in expected[name]), key=lambda task: order[task["task_id"]])
    return {name: [task for task in tasks if shown.get(task["task_id"], ("",))[0] == name] for name in BOARD}


def _left_out(claim: Claim, expected: dict[str, Any], served: dict[str, Any], restarted: bool) -> Any:
    """Says of a difference that it is none: a page, a window, or doubt where the replay has none."""

    def left_out(entry: Difference) -> bool:
        top = entry.path[0]
        if claim.model == "session_snapshot" and _is_window(entry, expected, served):
            return True
        if top == "task_summary" and _counts_doubt(expected[top], served[top]):
            return True
        if entry.kind == "more" and (entry.names in STALLED or (restarted and entry.names[:2] in LOST)):
            return True
        if entry.names == ("tools",) and is_honest(expected["tools"]):
            return True  # the event gave a reference to them
        if claim.partial:
            return entry.kind in {"dropped", "order"} or len(entry.path) == 1 or top not in KEYS
        return False

    return left_out


def _counts_doubt(expected: dict[str, Any], served: dict[str, Any]) -> bool:
    """True when the same tasks are counted, and more of them as lost: that is to know less."""
    known, shown = ([counts.get(name, 0) for name in BOARD] for counts in (expected, served))
    if not all(isinstance(count, int) for count in shown) or sum(known) != sum(shown):
        return False
    if shown[BOARD.index("lost")] <= known[BOARD.index("lost")]:
        return False
    return all(one >= other for name, one, other in zip(BOARD, known, shown, strict=True) if name != "lost")


def _is_window(entry: Difference, expected: dict[str, Any], served: dict[str, Any]) -> bool:
    """True for what a snapshot of a window honestly leaves out: the oldest, as long as it says that there is more."""
    top = entry.path[0]
    if top in WINDOWED and entry.path == (top,) and entry.kind == "dropped":
        return served.get("history_truncated") is not False and _is_older(entry, expected[top], served[top])
    if served.get("history_truncated") is not True or top not in HISTORY:
        return False
    if top == "history_cursor":
        return entry.kind == "more"
    return any(not isinstance(served.get(name), list) or len(served[name]) < len(expected[name]) for name in WINDOWED)


def _is_older(entry: Difference, known: list[Any], shown: list[Any]) -> bool:
    """True when a missing entry comes before all that are shown."""
    name, key = entry.entity
    order = [record.get(name) for record in known]
    places = [order.index(record.get(name)) for record in shown if record.get(name) in order]
    return not places or order.index(key) < min(places)
