"""Work was open when the runtime was stopped, the stream went on, and no event says what became of it.

Why: every reader has to guess whether it still runs, and guesses differ.
Trips: a task runs, a restart, another task begins, and no word on the first.  Near miss: task.lost follows the restart.
Fix: After a restart tell each open piece of work as going on, lost, stale, unknown or ended, by an event of its own.
"""

from validator.rules import END, Finding, rule, seen
from validator.rules.unknown._restarts import Restarts


@rule(
    "UNK003",
    "fate-never-told",
    clauses={"agent-runtime": "HON-21"},
    on=("*", END),
    needs=(Restarts,),
    since=Restarts.since,
)
def check(step, world, context):
    restarts = world.ledger(Restarts)
    if step is not None:
        if restarts.first_words:
            yield seen()
        return
    expected = context.options.expect or world.header.get("completeness")
    for (machine, key), line in restarts.silent.items():
        subject = world.subjects(machine)[key]
        if line not in restarts.later or expected == "prefix" or subject.doubted:
            continue
        yield Finding(
            line,
            f"an event that tells the fate of the {machine} that was {subject.state}",
            "none was told",
            entity=(machine, key),
            state=subject.state,
            witness=(*subject.history, restarts.later[line]),
            key=machine,
        )
