"""A failure is told in words that fit every failure.

Why: the user learns neither what broke nor what to mend, and can only try again.
Trips: run.failed with the message "Something went wrong".  Near miss: the message "The runtime CLI is not logged in."
Fix: Name in safeMessage what is wrong, and in nextAction the step that mends it.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._phrases import FAILURES, NEXT_ACTIONS, generic, plain
from validator.rules.agenthub._runs import entity, payload


@rule(
    "AHB025",
    "generic-failure-text",
    clauses={"agenthub": "AH-118"},
    on=("run.failed", "runtime.unavailable", "runtime.timeout", "schema.validation_failed"),
)
def check(step, world, context):
    told = payload(step)
    code = plain(told["code"]) if isinstance(told.get("code"), str) else None
    for name, empty in (("safeMessage", FAILURES), ("nextAction", NEXT_ACTIONS)):
        if not isinstance(told.get(name), str):
            continue
        yield seen()
        if plain(told[name]) == code or generic(told[name], empty):
            expected = "what the user has to mend"
            yield finding(step, expected, "a generic text", pointer=f"/payload/{name}", entity=entity(step), key=name)
