"""A line does not fit the schema of its kind.

Why: a consumer that meets a missing field or an unknown word has to guess, and guesses differ.
Trips: turn.failed whose status is a word outside the vocabulary.  Near miss: the same event with a vendor field added.
Fix: Correct the field the pointer names; what it has to hold is in the catalogue of the event's family.
"""

from validator.rules import finding, rule, seen

GENERAL = {"agent-runtime": "ENV-12", "agenthub": "AH-12", "runagents": "RA-10", "agent-threads": "AT-21"}


@rule(
    "SCH001",
    "shape",
    clauses=GENERAL,
    on=(
        "*",
        "record:header",
        "record:command",
        "record:result",
        "record:snapshot",
        "record:run",
        "record:restart",
        "record:reconnect",
    ),
)
def check(step, world, context):
    yield seen()
    for error in context.errors:
        yield finding(
            step,
            error.message,
            f"breaks {error.keyword}",
            pointer=error.pointer,
            key=f"{error.keyword} {error.message}",
        )
