"""A command that could not be carried out was answered as if it had been.

Why: the caller is told that something happened to a subject that is over, or to a question that was another one.
Trips: respond_action for an action that is resolved is accepted with another decision.
Near miss: it is rejected.
Fix: Answer no_op where the work is already done, and rejected where it cannot be done.
"""

from validator.rules import finding, rule, seen
from validator.rules.command._commands import Commands
from validator.rules.command._impossible import demands
from validator.rules.command._sent import SUBJECTS
from validator.rules.governance._questions import Questions
from validator.rules.governance._said import shown


@rule(
    "CMD011",
    "impossible-command-accepted",
    clauses={
        "agent-runtime": (
            "CTL-72",
            "CTL-73",
            "CTL-11",
            "CTL-28",
            "CTL-35",
            "CTL-38",
            "CTL-44",
            "CTL-46",
            "CTL-56",
            "CTL-78",
        )
    },
    on="record:result",
    needs=(Commands, Questions),
)
def check(step, world, context):
    sent = world.ledger(Commands).current
    if sent is None or sent.outcome in {None, "unavailable"} or sent.repeats or sent.clashes:
        return  # a key with other content is refused for that alone (CMD010)
    for clause, allowed, why, lines in demands(sent, world):
        yield seen(clause)
        if sent.outcome not in allowed and not (sent.outcome == "rejected" and _may_be_rejected(sent, world)):
            yield finding(
                step,
                " or ".join(sorted(allowed)),
                f"{shown(sent.outcome)} although {why}",
                pointer="/result/outcome",
                clause=clause,
                entity=("command", sent.key),
                state=sent.state,
                witness=(sent.line, *lines),
                key=f"{sent.name} {why}",
            )
            return


def _may_be_rejected(sent, world):
    """True for a request that does not fit its schema, or may look for its subject where it is not."""
    if sent.definition is not None and world.protocol.store.errors(sent.definition.request, sent.request):
        return True
    name, machine = SUBJECTS[sent.name]
    subject = world.subjects(machine).get(sent.subject or "")
    where = {owner: key for owner, key in sent.scope.items() if owner != name}
    if subject is None or subject.faded:
        return bool(where)
    return any(subject.scope.get(owner, key) != key for owner, key in where.items())
