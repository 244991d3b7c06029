"""An answer names another subject than its command.

Why: the caller goes on with an id that is not the one it asked about.
Trips: update_task for t1 is answered with task_id t2.  Near miss: it is answered with task_id t1.
Fix: Answer about the subject of the request, and use the ids that the caller chose.
"""

from validator.rules import finding, rule, seen
from validator.rules.command._commands import Commands
from validator.rules.command._sent import CREATES, DONE


@rule(
    "CMD008",
    "answer-about-another",
    clauses={"agent-runtime": ("CTL-3", "CTL-79")},
    on="record:result",
    needs=(Commands,),
)
def check(step, world, context):
    sent = world.ledger(Commands).current
    if sent is None or sent.outcome not in DONE | {"no_op"}:
        return
    chosen = CREATES.get(sent.name, ("", ""))[0]
    for name, value in sent.request.items():
        if not name.endswith("_id") or not isinstance(sent.result.get(name), str) or not isinstance(value, str):
            continue
        clause = "CTL-79" if name == chosen else "CTL-3"
        yield seen(clause)
        if sent.result[name] != value:
            yield finding(
                step,
                f"the {name} of the request",
                "another id",
                pointer=f"/result/{name}",
                clause=clause,
                entity=("command", sent.key),
                witness=(sent.line,),
                key=f"{sent.name} {name}",
            )
