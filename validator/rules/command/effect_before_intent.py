"""A command's effects began before the event that has to come first.

Why: who watches the stream sees work stop, or go on, without the reason that explains it.
Trips: cancel_task for a running task is followed by task.attempt.failed before task.cancel_requested.
Near miss: task.cancel_requested comes first.
Fix: Write the intent, or the facts of recovery, before any effect.
"""

from validator.rules import finding, rule, seen
from validator.rules.command._commands import RECOVERY, Commands, history
from validator.rules.command._sent import REFUSALS

FIRST = {
    "cancel_task": ("CTL-19", ("task.cancel_requested",), {"draft", "queued", "cancelling"}),
    "interrupt_turn": ("RUN-7", ("run.status",), set()),
    "retry_task": ("CTL-20", ("task.retrying",), {"retrying"}),
    "resume_thread": ("CTL-12", RECOVERY, set()),
}
"""Command to clause, the events of which one comes first, and the states of the subject in which none has to."""


@rule(
    "CMD013",
    "effect-before-intent",
    clauses={"agent-runtime": ("CTL-19", "CTL-20", "CTL-12", "RUN-7")},
    on=("*", "record:result"),
    needs=(Commands,),
    since=("record:command",),
)
def check(step, world, context):
    for sent in world.ledger(Commands).fresh:
        if sent.name not in FIRST or sent.outcome in REFUSALS | {"no_op"} or sent.repeats:
            continue
        clause, first, exempt = FIRST[sent.name]
        if sent.state in exempt or (sent.name == "resume_thread" and sent.recovered):
            continue
        yield seen(clause)
        if step.type not in first:
            yield finding(
                step,
                f"{' or '.join(first)} first",
                f"{step.type}",
                clause=clause,
                witness=(sent.line, *history(world, sent)),
                key=f"{sent.name} {step.type}",
            )
