"""Mutators: ways of breaking a capture on purpose, each with the rules that have to find it.

For vendors: take captures of your own runtime that are judged conformant, break them, and see whether your reader or
your validator notices.

* An *operator* (`OPERATORS`) is general: it makes many mutants of any capture of any protocol.
* A *rule's mutator* is an edit script beside the rule's streams (`fixtures/*/*/rules/<ID>/mutators.yaml`), plain data.

Nothing here is random: the same capture yields the same mutants in the same order.
"""

from validator.testing.mutators import causes, content, order, snapshots
from validator.testing.mutators.kill import Outcome, Seed, try_mutant
from validator.testing.mutators.lines import parse, render
from validator.testing.mutators.operator import OPERATORS, Mutant, Operator, operator
from validator.testing.mutators.seeds import golden, rule_mutants

__all__ = [
    "OPERATORS",
    "Mutant",
    "Operator",
    "Outcome",
    "Seed",
    "causes",
    "content",
    "golden",
    "operator",
    "order",
    "parse",
    "render",
    "rule_mutants",
    "snapshots",
    "try_mutant",
]
