"""A snapshot offers an output as readable that has expired.

Why: the reader follows the reference and finds nothing, or finds what was to be gone.
Trips: output.expired, then a session_snapshot that shows the output as stored.
Near miss: the session_snapshot shows the output as expired.
Fix: Keep the reference as a fact and show the output as expired from that event on.
"""

from validator.rules import rule, seen
from validator.rules.snapshot._owners import EXPIRED, NEEDS, WAKES, compared, fault, owned


@rule("SNP017", "expired-output-offered", clauses={"agent-runtime": "OUT-8"}, on=WAKES, needs=NEEDS)
def check(step, world, context):
    for found in compared(step, world, context):
        outputs = found.expected.get("outputs") or ()
        if not isinstance(found.claim.document.get("outputs"), list):
            continue
        if any(output.get("status") == "expired" for output in outputs):
            yield seen()
        if entries := owned(found, EXPIRED):
            yield fault(step, world, found, entries, "OUT-8")
