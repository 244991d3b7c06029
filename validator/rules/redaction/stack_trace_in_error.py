"""An error message holds a stack trace.

Why: a message is for a person; a trace tells file names, versions and inner workings to everybody who sees the event.
Trips: tool.failed whose error message is a Python traceback.  Near miss: one sentence, and the trace behind error_ref.
Fix: Say what went wrong in one sentence, and keep the trace behind a reference.
"""

from validator.protocol.regex import compiled
from validator.redact import masked_pointer
from validator.rules import finding, rule, seen
from validator.rules.redaction._leaks import TOLD, Leaks, unnamed
from validator.rules.redaction._traits import ERRORS, PROBLEMS

CLAUSES = {"agent-runtime": ("RED-29", "RUN-18"), "agenthub": ("AH-110",), "agent-threads": ("AT-113",)}
_TRACE = (
    r"Traceback \(most recent call last\)|Exception in thread \"|thread '[^'\n]*' panicked at"
    r"|(?:^|\n)(?:\s*File \"[^\"\n]+\", line [0-9]+|goroutine [0-9]+ \[)"
    r"|(?:^|\n)\s+at (?:[^\n]{1,200}:[0-9]+(?::[0-9]+)?\)?|[A-Za-z0-9_.$<>]+\([^\n)]*\))"
)


@rule("RED015", "stack-trace-in-error", clauses=CLAUSES, on=TOLD, needs=(Leaks,), quiet=unnamed)
def check(step, world, context):
    if world.protocol.name == "agenthub" and step.type != "run.failed":
        return
    whole = world.protocol.name == "agent-threads" and step.type == "error"
    told = world.protocol.name == "agent-runtime" and step.type in PROBLEMS
    if not whole and not told and "error" not in world.ledger(Leaks).traits(step).names:
        return
    clause = "RUN-18" if told else CLAUSES[world.protocol.name][0]
    for segments, text in _errors(step.line, (), inside=whole or told):
        yield seen(clause)
        if compiled(_TRACE).search(text):
            pointer = masked_pointer(segments, context.canaries)
            actual = f"a stack trace, {len(text)} characters"
            yield finding(step, "one sentence that is safe to show", actual, pointer=pointer, clause=clause)


def _errors(value, segments, inside):
    """Every text that tells about an error, with its place."""
    if isinstance(value, str):
        if inside:
            yield segments, value
    elif isinstance(value, dict):
        for key, sub in value.items():
            yield from _errors(sub, (*segments, key), inside or key in ERRORS)
    elif isinstance(value, list):
        for index, sub in enumerate(value):
            yield from _errors(sub, (*segments, index), inside)
