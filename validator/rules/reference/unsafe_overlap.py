"""A call that writes runs beside another call of its turn, and not both are declared safe for that.

Why: two calls that change the same files in an order that nobody chose lose work.
Trips: a destructive call starts while another call runs.  Near miss: both calls are declared safe to run beside others.
Fix: Run writing calls one after the other, or declare `is_concurrency_safe` where it is true.
"""

from __future__ import annotations

from collections import namedtuple

from validator.rules import finding, rule, seen
from validator.rules._catalogues import Catalogues, flag
from validator.rules.terminal._work import body, lines, told


class CallFlags:
    """Flags of open calls, from the call or from the catalogue in force, and the calls of each turn by them."""

    hears = ("tool.*",)
    forgets = ("_flags", "_turns")

    def __init__(self, world):
        self._world = world
        self._flags = {}
        """Call to whether it writes, and whether it is declared safe."""
        self._turns = {}

    def apply(self, step):
        if step.kind != "event" or not (step.type or "").startswith("tool."):
            return
        call, turn = step.scope.get("tool_call_id"), step.scope.get("turn_id")
        if step.type == "tool.started" and call is not None:
            self._flags[call] = self._kind(step)
        elif step.type in ("tool.result", "tool.failed"):
            self._flags.pop(call, None)
        kind = self._flags.get(call)
        if kind is None or turn is None:
            return
        kinds = self._turns.get(turn)
        if kinds is None:
            kinds = self._turns[turn] = {}
        kinds.setdefault(kind, {}).setdefault(call)

    def _kind(self, step):
        """What the flags of a call make it, and where it leaves one out those of its tool."""
        own = body(step)
        reads, destroys, safe = flag(own, "is_read_only"), flag(own, "is_destructive"), flag(own, "is_concurrency_safe")
        if reads is None or destroys is None or safe is None:
            found = self._world.ledger(Catalogues).of(step)
            listed = (found.tools or {}).get(str(told(step, "tool_name"))) if found else None
            reads = flag(listed, "is_read_only") if reads is None else reads
            destroys = flag(listed, "is_destructive") if destroys is None else destroys
            safe = flag(listed, "is_concurrency_safe") if safe is None else safe
        return _Kind(reads is False or destroys is True, safe is True)

    def beside(self, turn, call):
        """Running calls of a turn beside one, first those that clash with it, of which one of the two writes."""
        mine, kinds = self._flags.get(call), self._turns.get(turn)
        if mine is None or kinds is None:
            return
        for kind, clashes in _BESIDE[mine]:
            calls = kinds.get(kind)
            found = self._running(calls, kind, call) if calls else None
            if found is not None:
                yield found, clashes

    def _running(self, calls, kind, call):
        """The first of some calls that runs beside one; those that are over are dropped on the way."""
        subjects, over, found = self._world.subjects("tool_call"), [], None
        for key in calls:
            if key == call:
                continue
            other = subjects.get(key) if self._flags.get(key) == kind else None
            if other is None:
                over.append(key)
            elif not other.doubted and other.state in ("started", "running"):
                found = other
                break
        for key in over:
            del calls[key]
        return found


_Kind = namedtuple("_Kind", ("writes", "safe"))
_KINDS = tuple(_Kind(writes, safe) for writes in (True, False) for safe in (True, False))
_CLASHES = {
    one: tuple(other for other in _KINDS if (one.writes or other.writes) and not (one.safe and other.safe))
    for one in _KINDS
}
"""What a call says to what another may not say that runs beside it."""


_BESIDE = {
    one: tuple((other, other in first) for other in dict.fromkeys((*first, *_KINDS)) if one.writes or other.writes)
    for one, first in _CLASHES.items()
}
"""What it says to what others say of which one of the two writes, and whether they clash; those that do come first."""


def alone(step, world, context):
    """The key of a call beside which none runs, or only such as may; it is not looked at."""
    for _ in world.ledger(CallFlags).beside(step.scope.get("turn_id"), step.scope.get("tool_call_id")):
        return None
    return False


@rule(
    "REF014",
    "unsafe-overlap",
    clauses={"agent-runtime": "TOOL-31"},
    on="tool.started",
    needs=(CallFlags, Catalogues),
    quiet=alone,
)
def check(step, world, context):
    turn, call = step.scope.get("turn_id"), step.scope.get("tool_call_id")
    for other, clashes in world.ledger(CallFlags).beside(turn, call):
        yield seen()
        if clashes:
            yield finding(
                step,
                "no call beside one that writes, unless both are declared safe",
                f"another call is {other.state}",
                entity=("tool_call", call),
                witness=lines(world.subjects("turn").get(turn), other),
            )
            return
