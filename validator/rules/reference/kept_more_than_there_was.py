"""A truncated output is said to keep more bytes than there were.

Why: one of the two sizes is wrong, and nobody can tell how much of the output is missing.
Trips: output.truncated with kept_bytes above size_bytes.  Near miss: kept_bytes equals size_bytes.
Fix: State the full size in `size_bytes` and what remained of it in `kept_bytes`.
"""

from validator.rules import finding, rule, seen
from validator.rules.reference._outputs import Outputs
from validator.rules.terminal._work import number, told


@rule(
    "REF007",
    "kept-more-than-there-was",
    clauses={"agent-runtime": "OUT-6"},
    on="output.truncated",
    needs=(Outputs,),
)
def check(step, world, context):
    before = world.ledger(Outputs).before
    kept, size = number(told(step, "kept_bytes")), number(told(step, "size_bytes"))
    witness = ()
    if size is None and before is not None and before.size is not None:
        size, witness = before.size, (before.line,)
    if kept is None or size is None:
        return
    yield seen()
    if kept > size:
        expected = "a kept size that is not above the full size"
        yield finding(step, expected, "it is above", pointer="/payload/kept_bytes", witness=witness)
