"""A line does not fit the schema of its kind.

Why: a consumer that meets a missing field or an unknown word has to guess, and guesses differ.
Trips: turn.failed whose status is a word outside the vocabulary.  Near miss: the same event with a vendor field added.
Fix: Correct the field the pointer names; what it has to hold is in the catalogue of the event's family.
"""

from validator.places import clause_at
from validator.protocol.profile import Shortfall
from validator.protocol.regex import compiled
from validator.rules import MUST, finding, rule, seen

GENERAL = {"agent-runtime": "ENV-12", "agenthub": "AH-12", "runagents": "RA-10", "agent-threads": "AT-21"}
KINDS = {"agent-runtime": "CONF-17"}
"""The clause of a protocol that lists the kinds of records; the others have the one of captures."""
LINES = "CAP-13"
CARRIED = {"command": "/request", "result": "/result", "snapshot": "/snapshot"}
"""Where a record has a document of the protocol in it."""
FOLDERS = {"event": "events", "command": "commands", "result": "results", "snapshot": "snapshots"}
CLAUSES = {name: tuple(filter(None, (general, KINDS.get(name), LINES))) for name, general in GENERAL.items()}


def fits(step, world, context):
    """The key of a line that fits its schema: the kind of document it is."""
    if context.errors:
        return None
    return step.kind, step.line.get("command") if step.kind in {"command", "result"} else step.type


@rule("SCH001", "shape", clauses=CLAUSES, on=("*", "record:*"), quiet=fits)
def check(step, world, context):
    name = world.protocol.name
    errors = [error for error in context.errors if not _of_a_request(step, error)]
    if all(isinstance(error, Shortfall) for error in errors):
        told = (LINES, *CLAUSES[name][1:-1]) if step.kind != "event" else ()
        yield seen(GENERAL[name], *told, *context.schema_clauses.get(_kind(step, world.protocol), ()))
    for error in errors:
        expected, actual = _words(error.message)
        demanded = isinstance(error, Shortfall)
        clause, level = (error.clause, MUST) if demanded else (_clause(step, world.protocol, error, context), "")
        about = {"pointer": error.pointer, "clause": clause, "level": level}
        yield finding(step, expected, actual, key=error.key, **about)


def _of_a_request(step, error):
    """True for what a caller wrote; whether the runtime may accept it is another rule's question."""
    asks = step.kind == "command" and isinstance(step.line.get("request"), dict)
    return asks and error.pointer.startswith("/request")


def _clause(step, protocol, error, context):
    """The clause that the place of a fault belongs to; a field that is missing has the place it should be at."""
    name, pointer, carried = protocol.name, error.pointer, CARRIED.get(step.kind, "")
    if step.kind == "event" or step.kind == "run" or (carried and pointer.startswith(carried)):
        place = pointer.removeprefix(carried) + _lacking(error.message)
        return clause_at(context.schema_places.get(_kind(step, protocol), ()), place) or GENERAL[name]
    return KINDS.get(name, LINES) if pointer == "/record" else LINES


def _lacking(message):
    """Where the first of the fields would stand that are missing."""
    told = compiled(r"lacks (?:one of )?([^ ,]+)").match(message)
    return f"/{told[1]}" if told else ""


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


def _kind(step, protocol):
    """The kind of document a line holds, as `judged.yaml` names it; a snapshot line may hold a stored record."""
    name = step.line.get("command") if step.kind in {"command", "result"} else step.type
    stored = step.kind == "snapshot" and name not in protocol.snapshots
    return f"{'records' if stored else FOLDERS.get(step.kind, 'records')}/{name}"
