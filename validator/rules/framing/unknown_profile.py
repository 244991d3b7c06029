"""A header names a profile that its protocol does not have.

Why: the claim cannot be held against anything, and a capture judged by less than it claims looks better than it is.
Trips: a header with the profile strictest.  Near miss: a header with the profile strict.
Fix: Name a profile that comes with the protocol, or leave it out and give your own with --profile.
"""

from validator.rules import finding, rule, seen
from validator.rules.framing._problems import cites


@rule("FRM015", "unknown-profile", clauses=cites("CAP-18"), on="record:header")
def check(step, world, context):
    if step.number != 1 or not isinstance(step.line.get("profile"), str):
        return
    if context.unknown_profile:
        yield finding(step, "a profile of the protocol", "a name it does not have", pointer="/profile", key="unknown")
    else:
        yield seen()
