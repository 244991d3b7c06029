"""A command about a subject that nothing ever introduced was accepted.

Why: a runtime that accepts work on what it does not know either invents it or does nothing.
Trips: pause_task for a task that no event of a complete capture mentions is accepted.
Near miss: it is rejected.
Fix: Answer rejected or unavailable for an unknown id.
"""

from validator.rules import END, Finding, rule, seen
from validator.rules._words import one
from validator.rules.command._commands import Commands, completeness
from validator.rules.command._sent import DONE, SUBJECTS


@rule("CMD012", "unknown-subject-accepted", clauses={"agent-runtime": "CTL-55"}, on=END, needs=(Commands,))
def check(step, world, context):
    commands = world.ledger(Commands)
    if completeness(world, context) != "complete":
        return
    if any(name in world.observed_types for name in world.protocol.snapshots):
        return  # a read model may have shown the subject
    for sent in commands.sent.values():
        if sent.name not in SUBJECTS or sent.outcome is None or sent.state is not None or sent.doubtful:
            continue
        name, machine = SUBJECTS[sent.name]
        if not isinstance(sent.request.get(name), str):
            continue
        yield seen()
        if sent.outcome in DONE and world.state(machine, sent.request[name]) is None and sent.first is None:
            yield Finding(
                sent.answered,
                "rejected or unavailable",
                f"{sent.outcome} for {one(machine)} never seen",
                pointer="/result/outcome",
                entity=("command", sent.key),
                state="none",
                witness=(sent.line,),
                key=sent.name,
            )
