"""A call that writes runs beside another call of its turn, and not both are declared safe for that.

Why: two calls that change the same files in an order that nobody chose lose work.
Trips: a destructive call starts while another call runs.  Near miss: both calls are declared safe to run beside others.
Fix: Run writing calls one after the other, or declare `is_concurrency_safe` where it is true.
"""

from validator.rules import finding, rule, seen
from validator.rules._catalogues import FLAGS, Catalogues, flag
from validator.rules.terminal._work import OpenWork, lines, told


class CallFlags:
    """Flags of open calls, from the call or from the catalogue in force."""

    hears = ("tool.started", "tool.result", "tool.failed")
    forgets = ("calls",)

    def __init__(self, world):
        self._world = world
        self.calls = {}

    def apply(self, step):
        call = step.scope.get("tool_call_id")
        if step.type == "tool.started" and call is not None:
            found = self._world.ledger(Catalogues).of(step)
            listed = (found.tools or {}).get(str(told(step, "tool_name"))) if found else None
            own = step.line.get("payload")
            self.calls[call] = {name: _either(flag(own, name), flag(listed, name)) for name in FLAGS}
        elif step.type in ("tool.result", "tool.failed"):
            self.calls.pop(call, None)


def _either(own, listed):
    return listed if own is None else own


def _writes(flags):
    return flags["is_read_only"] is False or flags["is_destructive"] is True


@rule(
    "REF014",
    "unsafe-overlap",
    clauses={"agent-runtime": "TOOL-31"},
    on="tool.started",
    needs=(CallFlags, Catalogues, OpenWork),
)
def check(step, world, context):
    turn, call = step.scope.get("turn_id"), step.scope.get("tool_call_id")
    calls = world.ledger(CallFlags).calls
    if turn is None or call not in calls:
        return
    for other in world.ledger(OpenWork).of("tool_call", "turn_id", turn):
        if other.key == call or other.key not in calls or other.state not in ("started", "running"):
            continue
        mine, theirs = calls[call], calls[other.key]
        if not _writes(mine) and not _writes(theirs):
            continue
        yield seen()
        if not (mine["is_concurrency_safe"] and theirs["is_concurrency_safe"]):
            yield finding(
                step,
                "no call beside one that writes, unless both are declared safe",
                f"another call is {other.state}",
                entity=("tool_call", call),
                witness=lines(world.subjects("turn").get(turn), other),
            )
            return
