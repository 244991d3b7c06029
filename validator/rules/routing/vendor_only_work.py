"""A vendor event or an item tells of work that no standard event tells.

Why: a reader who knows only the standard does not see the call, the process or the request at all.
Trips: a vendor event names a tool call, and no tool event does.  Near miss: tool.started names the same call.
Fix: Write the standard events of the subject as well; the vendor's own can add to them, and never replace them.
"""

from validator.rules import END, Finding, rule, seen
from validator.rules.command._commands import is_prefix
from validator.rules.terminal._work import unsure, word

SUBJECTS = {
    "tool_call_id": "tool_call",
    "process_id": "process",
    "action_id": "action",
    "subagent_id": "subagent",
    "job_id": "job",
    "model_request_id": "model_request",
    "turn_id": "turn",
    "task_id": "task",
    "run_id": "attempt",
}
ITEMS = {
    "tool_call": ("tool.started",),
    "web_search": ("tool.started",),
    "command": ("process.started", "tool.started"),
    "agent_message": ("model.requested", "model.delta"),
}


class Vendors:
    """Vendor lines about subjects that no standard event told before, items of turns, and what turns really did."""

    hears = ("unlisted", "item.*", "tool.started", "process.started", "model.requested", "model.delta")
    forgets_faded = ("named", "told")
    heeds_last = False

    def __init__(self, world):
        self._world, self._events = world, world.protocol.events
        self.named = {}
        """Machine and id to the first vendor line about the subject and its ids."""
        self.items = {}
        """Turn and kind to the line and ids of the first such item that nothing else tells yet."""
        self.beside = set()
        """Clauses about vendor lines and items that standard events stand beside."""
        self.told = set()

    def tell(self):
        return self.beside

    def hear(self, told, first):
        """That there were such is looked at once, by the first."""
        self.beside = set().union(*told) if first else set()
        return True

    def apply(self, step):
        if step.kind != "event" or step.type is None:
            return
        if step.type not in self._events:
            for name, machine in SUBJECTS.items():
                if name in step.scope:
                    self._name(machine, step.scope[name], step)
            return
        turn = step.scope.get("turn_id")
        if step.type.startswith("item.") and turn is not None:
            kind = word(step, "item_kind")
            if any((turn, wanted) in self.told for wanted in ITEMS.get(kind, ())):
                self.beside.add("MOD-20")
            elif kind in ITEMS:
                self.items.setdefault((turn, kind), (step.number, step.scope))
        elif step.type in ("tool.started", "process.started", "model.requested", "model.delta"):
            self.told.add((turn, step.type))
            if self.items:
                self._stand_beside(turn, step.type)

    def _stand_beside(self, turn, event):
        for kind, wanted in ITEMS.items():
            if event in wanted and self.items.pop((turn, kind), None) is not None:
                self.beside.add("MOD-20")

    def _name(self, machine, key, step):
        if key in self._world.subjects(machine):
            self.beside.add(_clause(machine))
        else:
            self.named.setdefault((machine, key), (step.number, step.scope))


@rule(
    "RTE012",
    "vendor-only-work",
    clauses={"agent-runtime": ("ENV-37", "MOD-8", "MOD-20")},
    on=(END,),
    needs=(Vendors,),
)
def check(step, world, context):
    vendors = world.ledger(Vendors)
    for clause in sorted(vendors.beside):
        yield seen(clause)
    for (machine, key), (line, scope) in vendors.named.items():
        if _may_be_told(world, context, scope):
            continue
        clause = _clause(machine)
        yield seen(clause)
        if key not in world.subjects(machine):
            expected, actual = f"the standard events of the {machine}", "a vendor event alone"
            yield Finding(line, expected, actual, clause=clause, entity=(machine, key), key=machine)
    for (turn, kind), (line, scope) in vendors.items.items():
        if _may_be_told(world, context, scope):
            continue
        expected, actual = " or ".join(ITEMS[kind]) + " in the same turn", f"an item {kind} alone"
        about = {"clause": "MOD-20", "pointer": "/payload/item_kind", "entity": ("turn", turn), "key": kind}
        yield Finding(line, expected, actual, **about)


def _clause(machine):
    return "MOD-8" if machine == "model_request" else "ENV-37"


def _may_be_told(world, context, scope):
    """True when the standard events may stand where the capture does not reach: lost, before it, or after it."""
    turn = world.state("turn", scope.get("turn_id"))
    goes_on = turn is None or not world.protocol.machines["turn"].is_terminal(turn)
    return unsure(world, scope) or (is_prefix(world, context) and goes_on)
