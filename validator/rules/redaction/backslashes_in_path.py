"""A path in a field that holds one is written with backslashes.

Why: the same file has two names then, and a consumer on another system takes the whole path for one name.
Trips: process.started whose cwd separates folders by a backslash.  Near miss: the same folders with forward slashes.
Fix: Write forward slashes, whatever the machine writes.
"""

from validator.rules import finding, rule, seen
from validator.rules.redaction._leaks import TOLD, Leaks, leakless


@rule("RED013", "backslashes-in-path", clauses={"agent-runtime": "RED-1"}, on=TOLD, needs=(Leaks,), quiet=leakless)
def check(step, world, context):
    survey = world.ledger(Leaks).of(step, context)
    if "path" in survey.places:
        yield seen()
    for leak in survey.leaks:
        if leak.kind == "backslash":
            yield finding(step, "a path with forward slashes", leak.text, pointer=leak.pointer, key=leak.row)
