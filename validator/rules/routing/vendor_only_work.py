"""A vendor event or an item tells of work that no standard event tells.

Why: a reader who knows only the standard does not see the call, the process or the request at all.
Trips: a vendor event names a tool call, and no tool event does.  Near miss: tool.started names the same call.
Fix: Write the standard events of the subject as well; the vendor's own can add to them, and never replace them.
"""

from validator.rules import END, Finding, rule, seen
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
    """The first vendor line about each subject, the first item of each kind in a turn, and what turns really did."""

    hears = ("unlisted", "item.*", "tool.started", "process.started", "model.requested", "model.delta")
    forgets = ("named",)
    forgets_faded = ("items", "told")

    def __init__(self, world):
        self._world = world
        self.named = {}
        self.items = {}
        self.told = set()

    def apply(self, step):
        if step.kind != "event" or step.type is None:
            return
        if step.type not in self._world.protocol.events:
            for name, machine in SUBJECTS.items():
                if name in step.scope:
                    self.named.setdefault((machine, step.scope[name]), step.number)
            return
        turn = step.scope.get("turn_id")
        if step.type.startswith("item.") and turn is not None:
            kind = word(step, "item_kind")
            if kind in ITEMS:
                self.items.setdefault((turn, kind), step.number)
        elif step.type in ("tool.started", "process.started", "model.requested", "model.delta"):
            self.told.add((turn, step.type))


@rule(
    "RTE012",
    "vendor-only-work",
    clauses={"agent-runtime": ("ENV-37", "MOD-8", "MOD-20")},
    on=(END,),
    needs=(Vendors,),
)
def check(step, world, context):
    vendors = world.ledger(Vendors)
    if unsure(world, step):
        return
    for (machine, key), line in vendors.named.items():
        clause = "MOD-8" if machine == "model_request" else "ENV-37"
        yield seen(clause)
        if key not in world.subjects(machine):
            expected, actual = f"the standard events of the {machine}", "a vendor event alone"
            yield Finding(line, expected, actual, clause=clause, entity=(machine, key), key=machine)
    for (turn, kind), line in vendors.items.items():
        yield seen("MOD-20")
        if not any((turn, wanted) in vendors.told for wanted in ITEMS[kind]):
            expected, actual = " or ".join(ITEMS[kind]) + " in the same turn", f"an item {kind} alone"
            about = {"clause": "MOD-20", "pointer": "/payload/item_kind", "entity": ("turn", turn), "key": kind}
            yield Finding(line, expected, actual, **about)
