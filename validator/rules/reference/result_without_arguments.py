"""A tool call has a result, and its arguments were never on record.

Why: a reviewer sees what came out and cannot ask what was called with what.
Trips: tool.started without arguments, then tool.result.  Near miss: tool.args carries them before the result.
Fix: Carry `safe_args` or `args_ref` in tool.started, or send tool.args; an empty object says that there are none.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import lines

FORMS = frozenset({"safe_args", "args_ref", "delta"})


class Arguments:
    """Calls whose arguments are on record."""

    hears = ("tool.started", "tool.args", "tool.failed")
    forgets_faded = ("known",)

    def __init__(self, world):
        self.known = set()

    def apply(self, step):
        call = step.scope.get("tool_call_id")
        if call is None:
            return
        if step.type in ("tool.started", "tool.args"):
            payload = step.line.get("payload")
            if isinstance(payload, dict) and not FORMS.isdisjoint(payload):
                self.known.add(call)
        elif step.type == "tool.failed":
            self.known.discard(call)


@rule(
    "REF005",
    "result-without-arguments",
    clauses={"agent-runtime": "TOOL-21"},
    on="tool.result",
    needs=(Arguments,),
)
def check(step, world, context):
    arguments = world.ledger(Arguments)
    for move in step.moves:
        if move.machine != "tool_call" or world.unproved(step) is not None:
            continue
        yield seen()
        if move.subject not in arguments.known:
            yield finding(
                step,
                "arguments on record before the result",
                "none were told",
                entity=("tool_call", move.subject),
                state=move.source,
                witness=lines(world.subjects("tool_call")[move.subject]),
            )
        arguments.known.discard(move.subject)
