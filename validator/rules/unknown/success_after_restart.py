"""Work that was open when the runtime was stopped is reported as ended well, and nothing was heard of it in between.

Why: the runtime did not see the end; a green tick after a crash is a default that filled the field.
Trips: tool.started, a restart, then tool.result.  Near miss: tool.started, a restart, tool.progress, then tool.result.
Fix: Tell the work as lost, stale or unknown first, or end it with `reconciled: true` after its facts were observed.
"""

from validator.rules import finding, rule, seen
from validator.rules.unknown._restarts import CLAUSES, Restarts


@rule(
    "UNK002",
    "success-after-restart",
    clauses={"agent-runtime": tuple(dict.fromkeys(CLAUSES.values()))},
    on="*",
    needs=(Restarts,),
    since=Restarts.since,
)
def check(step, world, context):
    for guess in world.ledger(Restarts).first_words:
        clause = CLAUSES[guess.machine]
        yield seen(clause)
        if guess.good:
            history = world.subjects(guess.machine)[guess.key].history
            yield finding(
                step,
                "no good end of work that was not observed again after the restart",
                f"{step.type} is the first that is heard of it",
                clause=clause,
                entity=(guess.machine, guess.key),
                state=guess.state,
                witness=(*history, guess.restart),
            )
