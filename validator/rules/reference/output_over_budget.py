"""An event carries more output than the budget for one event allows.

Why: large events slow every reader down, and the next hop cuts them without a word.
Trips: output.spilled states a budget of 16 bytes, then process.output with 40.  Near miss: the text has 16.
Fix: Store the output, carry a reference and a preview. The budget is what output.spilled states, else 64 KiB.
"""

from validator.rules import finding, rule, seen
from validator.rules.reference._outputs import Outputs
from validator.rules.terminal._work import told

DEFAULT_BUDGET = 64 * 1024
FIELDS = {
    "process.output": ("text",),
    "tool.result": ("preview", "display_preview"),
    "tool.progress": ("message",),
    "subagent.output": ("summary",),
    "output.spilled": ("preview",),
    "output.truncated": ("preview",),
}


def within_budget(step, world, context):
    """The key of an event with texts that fit, whatever characters they are of: how many there are."""
    # A character takes four bytes at most.
    most = (world.ledger(Outputs).budget or (DEFAULT_BUDGET, 0))[0] / 4
    payload, texts = step.line.get("payload"), 0
    for name in FIELDS[step.type] if isinstance(payload, dict) else ():
        text = payload.get(name)
        if isinstance(text, str):
            if len(text) > most:
                return None
            texts += 1
    return texts


@rule(
    "REF009",
    "output-over-budget",
    clauses={"agent-runtime": "OUT-2"},
    on=tuple(FIELDS),
    needs=(Outputs,),
    quiet=within_budget,
)
def check(step, world, context):
    budget, line = world.ledger(Outputs).budget or (DEFAULT_BUDGET, step.number)
    for name in FIELDS[step.type]:
        text = told(step, name)
        if not isinstance(text, str):
            continue
        yield seen()
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > budget:
            yield finding(
                step,
                f"at most {budget:g} bytes of output in one event",
                f"{size} bytes",
                pointer=f"/payload/{name}",
                witness=(line,),
            )
