"""Rules: each judges what schemas and state tables alone cannot, in one module of its own.

A rule is a generator over a step and the world. It yields `seen(...)` when it really looked at a subject, and
`step_finding(...)` when something is wrong; a finding counts as a look too. What it never looked at is never passed.
"""

from validator.rules._rule import (
    END,
    LINE,
    MAY,
    MUST,
    SHOULD,
    UNLISTED,
    Finding,
    Findings,
    Rule,
    Seen,
    finding,
    rule,
    seen,
)

__all__ = [
    "END",
    "LINE",
    "MAY",
    "MUST",
    "SHOULD",
    "UNLISTED",
    "Finding",
    "Findings",
    "Rule",
    "Seen",
    "finding",
    "rule",
    "seen",
]
