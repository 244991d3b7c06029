"""An event that is part of a trace names only half of its place in it.

Why: a span without its trace, or a trace without the span, joins to nothing in the telemetry.
Trips: an event with span_id and no trace_id.  Near miss: an event with both.
Fix: Write trace_id and span_id together wherever the tracing library knows them.
"""

from validator.rules import finding, rule, seen

PAIR = ("trace_id", "span_id")


@rule("IDN020", "trace-half-told", clauses={"agent-runtime": "ENV-29"}, on="*", given=(*PAIR, "telemetry"))
def check(step, world, context):
    side = step.line.get("telemetry")
    known = side if isinstance(side, dict) else {}
    beside = [name for name in PAIR if step.line.get(name) is not None]
    if not beside and not any(known.get(name) is not None for name in PAIR):
        return
    yield seen()
    missing = [name for name in PAIR if name not in beside]
    if missing:
        expected, actual = "trace_id and span_id", f"no {', '.join(missing)}"
        yield finding(step, expected, actual, key=" ".join(missing))
