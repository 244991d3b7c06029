"""A declared property is written in the casing that the stream does not use.

Why: a reader that took the casing from the first event does not find the property under the other name.
Trips: events in camelCase, then one with tool_call_id; or the reverse.  Near miss: a vendor field in the other casing.
Fix: Write every declared property in the casing of the first event, and each property once.
"""

from validator.rules import LINE, finding, rule, seen
from validator.rules.framing._problems import Told

WRITTEN = {"event", "command", "result", "snapshot"}


def one_casing(step, world, context):
    """The key of a line whose declared properties are all in the casing of the capture."""
    return None if context.foreign else (step.kind, step.repeats is None)


@rule(
    "FRM014", "mixed-casing", clauses={"agent-runtime": ("ENV-42", "ENV-43")}, on=LINE, needs=(Told,), quiet=one_casing
)
def check(step, world, context):
    if step.kind not in WRITTEN or step.repeats is not None:
        return
    yield seen()
    told = world.ledger(Told)
    for pointer, contradicted in context.foreign.items():
        if contradicted:
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
