"""A snapshot shows something as completed that no event completed.

Why: work that is shown as done is not looked at again; silence, a lost connection and a closed child are no success.
Trips: a turn has started, the channel is lost, and the thread_read_model shows the turn as completed.
Near miss: the same snapshot shows the turn as stale.
Fix: Show completed only after the event that completes the subject; until then show its state, or that it is unknown.
"""

from validator.rules import rule, seen
from validator.rules.snapshot._clauses import states
from validator.rules.snapshot._owners import DONE, GUESSED, NEEDS, WAKES, compared, fault, owned


@rule("SNP009", "guessed-completion", clauses={"agent-runtime": ("RM-4", "SES-5", "SUB-16")}, on=WAKES, needs=NEEDS)
def check(step, world, context):
    for found in compared(step, world, context):
        entries = owned(found, GUESSED)
        kinds = list(_clauses(found))
        if kinds:
            yield seen(*kinds)
        if entries:
            yield fault(step, world, found, entries, _clause(found, entries[0]))


def _clauses(found):
    """What the document lets be seen: whether something is over, and a child that was closed."""
    if states(found.claim.document, "status"):
        yield "SES-5"
    if found.claim.model == "subagent_job_summary" and found.past.models.holds("subagent", "closed"):
        yield "SUB-16"


def _closed(found, key):
    return found.past.state("subagent", key) == "closed"


def _clause(found, entry):
    if entry.entity and entry.entity[0] == "subagent_id" and _closed(found, entry.entity[1]):
        return "SUB-16"
    return "SES-5" if entry.states[0] not in (*DONE, "failed", "cancelled", "timed_out") else "RM-4"
