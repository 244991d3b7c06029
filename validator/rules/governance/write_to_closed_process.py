"""A process was written to although its limits say that it takes no input.

Why: the limits are what was approved; a process that reads more than was seen is another act.
Trips: process.started with limits stdin false, then process.input.  Near miss: limits stdin true, then process.input.
Fix: Refuse write_process_stdin for such a process, or start it with limits that allow input.
"""

from validator.rules import finding, rule, seen
from validator.rules.governance._work import Work


@rule(
    "GOV031",
    "write-to-closed-process",
    clauses={"agent-runtime": "PROC-18"},
    on="process.input",
    needs=(Work,),
)
def check(step, world, context):
    target = world.ledger(Work).of(step)
    if target is None or target.stdin is None or step.refusals:
        return
    yield seen()
    if target.stdin is False:
        yield finding(
            step,
            "no input to a process that takes none",
            "process.input",
            entity=("process", target.key),
            state="running",
            witness=(target.line,),
        )
