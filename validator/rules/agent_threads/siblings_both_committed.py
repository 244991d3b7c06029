"""Two runs at one fork both stay committed.

Why: only one of them can be the answer; a reader that finds two picks one at random.
Trips: run A commits at a message, run B commits at the same message, and A's record never says superseded.
Near miss: the same, and A's record says superseded by the end.
Fix: Supersede every committed run at the same fork in the transaction of the commit, and write its record.
"""

from validator.replay.readmodels.agent_threads import Runs
from validator.rules import END, Finding, rule, seen
from validator.rules.agent_threads._facts import expects


@rule(
    "ATH002",
    "siblings-both-committed",
    clauses={"agent-threads": ("AT-73", "AT-89")},
    on=END,
    needs=(Runs,),
)
def check(step, world, context):
    records = world.ledger(Runs)
    for run, subject in world.subjects("run").items():
        if run not in records.last or records.last[run][0].get("status") not in ("committed", "superseded"):
            continue
        record, line = records.last[run]
        if record.get("forkFromMessageId") is None or subject.state != "superseded":
            continue
        yield seen("AT-73", "AT-89")
        # One that was told to be superseded and is committed again came back, which its table refuses.
        told = run in records.superseded or expects(world, context) == "prefix" or world.unproved(subject) is not None
        if not told:
            yield Finding(
                line,
                "a record that says superseded by the end",
                "still committed, as a later run at its fork",
                pointer="/status",
                clause="AT-73",
                entity=("run", run),
                state="superseded",
                witness=tuple(subject.history),
                key="still committed",
            )
