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


@rule("REF009", "output-over-budget", clauses={"agent-runtime": "OUT-2"}, on=tuple(FIELDS), needs=(Outputs,))
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
