"""An output reference came to mean other bytes.

Why: whoever followed the reference before and whoever follows it now do not see the same, and neither knows.
Trips: output.spilled twice for one reference with two digests.  Near miss: output.redacted states the new digest.
Fix: Store other bytes under another reference; tell a truncation or a redaction where it changes the digest.
"""

from validator.rules import finding, rule, seen
from validator.rules.reference._outputs import Outputs
from validator.rules.terminal._work import told


@rule(
    "REF008",
    "reference-means-other-bytes",
    clauses={"agent-runtime": "OUT-9"},
    on="output.*",
    needs=(Outputs,),
)
def check(step, world, context):
    before, digest = world.ledger(Outputs).before, told(step, "sha256")
    if before is None or before.sha256 is None or not isinstance(digest, str):
        return
    yield seen()
    if digest != before.sha256 and step.type not in ("output.truncated", "output.redacted"):
        yield finding(
            step,
            "the digest that the reference had",
            "another digest",
            pointer="/payload/sha256",
            entity=("output", str(world.ledger(Outputs).ref(step))),
            witness=(before.line,),
        )
