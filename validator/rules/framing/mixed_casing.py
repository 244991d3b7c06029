"""A declared property is written in the casing that the stream does not use.

Why: a reader that took the casing from the first event does not find the property under the other name.
Trips: events in camelCase, then one with tool_call_id.  Near miss: a vendor field in the other casing.
Fix: Write every declared property in the casing of the first event, and each property once.
"""

from validator.protocol.casing import camel
from validator.rules import LINE, finding, rule, seen
from validator.rules.framing._problems import Told


@rule("FRM014", "mixed-casing", clauses={"agent-runtime": ("ENV-42", "ENV-43")}, on=LINE, needs=(Told,))
def check(step, world, context):
    if step.kind != "event" or step.repeats is not None:
        return
    yield seen()
    told = world.ledger(Told)
    for pointer in context.foreign:
        if _contradicted(context.line.document, pointer):
            yield finding(
                step,
                "one value for a property",
                "another value in each casing",
                pointer=pointer,
                clause="ENV-43",
                key="two values",
            )
        elif told.first(f"casing {pointer}"):
            actual = "a declared property in the other casing"
            yield finding(step, "the casing of the first event", actual, pointer=pointer, key="other casing")


def _contradicted(document, pointer):
    """True when the object that holds a property also holds its other spelling, with another value."""
    *steps, name = pointer.strip("/").split("/")
    for step in steps:
        document = document[int(step)] if isinstance(document, list) else document[step]
    spellings = [key for key in document if key != name and camel(key) == camel(name)]
    return any(document[key] != document[name] for key in spellings)
