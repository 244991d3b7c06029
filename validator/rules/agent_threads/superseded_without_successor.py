"""A run is superseded, and no other run at its fork ever committed.

Why: a superseded answer without a successor is an answer that vanished from its thread.
Trips: a committed run becomes superseded, and the complete capture holds no other run at its fork.
Near miss: the record that says superseded stands before the record of the run that committed.
Fix: Mark a run superseded only in the transaction that commits its successor.
"""

from collections import Counter

from validator.replay.readmodels.agent_threads import Runs
from validator.rules import END, Finding, rule, seen
from validator.rules.agent_threads._facts import KEPT, expects


@rule(
    "ATH001",
    "superseded-without-successor",
    clauses={"agent-threads": "AT-80"},
    on=END,
    needs=(Runs,),
)
def check(step, world, context):
    records, states = world.ledger(Runs), {}
    for run, subject in world.subjects("run").items():
        if subject.state != "superseded" or run not in records.last:
            continue
        if not records.last[run][0].get("forkFromMessageId"):
            continue  # nothing can succeed it (ATH025)
        place = records.places.of(run)
        if place not in states:
            states[place] = Counter(world.state("run", other) for other in records.places.at(place))
        siblings = {state for state, count in states[place].items() if count > (state == "superseded")}
        if siblings & {*KEPT}:
            yield seen()
            continue
        if siblings & {"created", "streaming"} and expects(world, context) != "complete":
            continue  # one of them may still commit
        # What superseded it may lie before the capture or in a line that could not be read.
        told = run in records.committed or expects(world, context) == "complete"
        if told and expects(world, context) != "prefix" and world.unproved(subject) is None:
            yield Finding(
                subject.history[-1],
                "another run that committed at the same fork",
                "none",
                pointer="/status",
                entity=("run", run),
                state="superseded",
                witness=tuple(subject.history),
                key="no successor",
            )
