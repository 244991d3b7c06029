"""An interrupt cut off a tool call whose tool does not say that it can be cut off.

Why: a tool that is stopped half way leaves files, locks and payments half done; most tools are not made for it.
Trips: a call of a tool that says nothing is cancelled after an interrupt.  Near miss: its tool says cancel.
Fix: Let the call end before the turn does, or state interrupt_behavior cancel for tools that can be stopped.
"""

from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import finding, rule, seen
from validator.rules._catalogues import Catalogues
from validator.rules.terminal._work import body, lines, told


class Interrupts:
    """Turns that were told to stop, and the tool that each open call runs."""

    hears = ("record:command", "run.status", "tool.started")
    forgets = ("turns", "tools")

    def __init__(self, world: World):
        self._world = world
        self.turns: dict[str, int] = {}
        self.tools: dict[str, str] = {}

    def apply(self, step: Step) -> None:
        if step.type == "tool.started":
            name = body(step).get("tool_name")
            if isinstance(name, str):
                self.tools[step.scope.get("tool_call_id", "")] = name
        elif step.type == "run.status" and told(step, "phase") == "interrupting" and "turn_id" in step.scope:
            self.turns.setdefault(step.scope["turn_id"], step.number)
        elif step.kind == "command":
            request = step.line.get("request")
            if step.line.get("command") == "interrupt_turn" and isinstance(request, dict):
                self.turns.setdefault(str(request.get("turn_id")), step.number)


@rule(
    "TRM036",
    "call-cut-off",
    clauses={"agent-runtime": ("CTL-67", "TOOL-17")},
    on="tool.failed",
    needs=(Interrupts, Catalogues),
)
def check(step, world, context):
    interrupts, call = world.ledger(Interrupts), world.subjects("tool_call").get(step.scope.get("tool_call_id", ""))
    if call is None or told(step, "status") != "cancelled" or step.refusals:
        return
    turn = step.scope.get("turn_id") or call.scope.get("turn_id", "")
    asked, found = interrupts.turns.get(turn), world.ledger(Catalogues).of(step)
    name = interrupts.tools.get(call.key)
    if asked is None or call.history[0] > asked or found is None or not found.tools or name not in found.tools:
        return
    said = found.tools[name].get("interrupt_behavior")
    clause = "CTL-67" if said is None else "TOOL-17"
    yield seen(clause)
    if said != "cancel":
        yield finding(
            step,
            "a call that ends by itself" if said is None else "a tool that says cancel",
            "cut off, and its tool says nothing" if said is None else "cut off, and its tool says block",
            clause=clause,
            entity=("tool_call", call.key),
            witness=(asked, found.line, *lines(call)),
            key=str(said),
        )
