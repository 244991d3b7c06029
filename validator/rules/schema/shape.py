"""A line does not fit the schema of its kind.

Why: a consumer that meets a missing field or an unknown word has to guess, and guesses differ.
Trips: turn.failed whose status is a word outside the vocabulary.  Near miss: the same event with a vendor field added.
Fix: Correct the field the pointer names; what it has to hold is in the catalogue of the event's family.
"""

from validator.rules import finding, rule, seen

GENERAL = {"agent-runtime": "ENV-12", "agenthub": "AH-12", "runagents": "RA-10", "agent-threads": "AT-21"}

FOLDERS = {"event": "events", "command": "commands", "result": "results", "snapshot": "snapshots"}


@rule("SCH001", "shape", clauses=GENERAL, on=("*", "record:*"))
def check(step, world, context):
    general = GENERAL[world.protocol.name]
    if not context.errors:
        yield seen(general, *context.schema_clauses.get(_kind(step), ()))
    for error in context.errors:
        expected, actual = _words(error.message)
        yield finding(step, expected, actual, pointer=error.pointer, key=f"{error.keyword} {error.message}")


def _words(message):
    """What a schema asked for, and what is there instead; a message never holds the value itself."""
    if message.startswith("lacks "):
        return message.removeprefix("lacks "), "absent"
    if message.startswith("must be ") and ", is " in message:
        wanted, _, got = message.removeprefix("must be ").rpartition(", is ")
        return wanted, got
    if message.startswith("must "):
        return message.removeprefix("must ").removeprefix("be "), "something else"
    return "what the schema of its kind allows", message


def _kind(step):
    """The kind of document a line holds, as `judged.yaml` names it."""
    name = step.line.get("command") if step.kind in {"command", "result"} else step.type
    return f"{FOLDERS.get(step.kind, 'records')}/{name}"
