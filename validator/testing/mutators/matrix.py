"""The kill matrix: every operator against the golden captures, and every rule's own mutators against that rule.

The matrix that CI checks is a sample, the same every time: each operator meets every fifth golden capture of each
protocol, and one mutant of it; an operator for which captures offer few places meets all of them. The exhaustive run
takes every mutant of every capture.
"""

from __future__ import annotations

import itertools
import zlib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from validator.testing.mutators.kill import Seed, try_mutant
from validator.testing.mutators.operator import OPERATORS, Mutant, Operator
from validator.testing.mutators.seeds import golden, rule_mutants

EVERY = 5
DEPTH = 24
"""A sampled mutant is one of the first so many of its capture."""
FAULTS = ("missed", "misnamed", "crashed")


def mutants(operator: Operator, every: int = EVERY) -> Iterator[tuple[Seed, Mutant]]:
    """The sampled mutants of an operator; with `every` 0, all of them."""
    turn = list(OPERATORS).index(operator.name)
    for number, seed in enumerate(golden(operator.served)):
        if not every or operator.rare:
            yield from ((seed, mutant) for mutant in operator.apply(seed.lines, seed.protocol))
        elif number % every == turn % every:
            found = list(itertools.islice(operator.apply(seed.lines, seed.protocol), DEPTH))
            if found:
                yield seed, found[zlib.crc32(f"{operator.name} {seed.name}".encode()) % len(found)]


def run_operator(name: str, every: int = EVERY) -> dict[str, Any]:
    """What became of an operator's mutants: how many, killed by whom, which survived, which are faults of ours."""
    operator = OPERATORS[name]
    by: Counter[str] = Counter()
    lists: dict[str, list[str]] = {"survived": [], **{kind: [] for kind in FAULTS}}
    total = 0
    for seed, mutant in mutants(operator, every):
        outcome = try_mutant(seed, mutant)
        total += 1
        by.update(outcome.killers if outcome.kind == "killed" else ())
        if outcome.kind != "killed":
            lists[outcome.kind].append(f"{seed.name} {mutant.where}")
    entry: dict[str, Any] = {"description": operator.description, "mutants": total, "by": dict(sorted(by.items()))}
    return entry | {kind: found for kind, found in lists.items() if found}


def run_rules(prefix: str = "") -> dict[str, dict[str, str]]:
    """Rule, of those whose ids begin so, to its own mutators, each with what became of it."""
    found: dict[str, dict[str, str]] = {}
    for rule, key, seed, mutant in rule_mutants(prefix):
        found.setdefault(rule, {})[f"{seed.protocol.name} {key}"] = try_mutant(seed, mutant).kind
    return dict(sorted(found.items()))


def build(every: int = EVERY, workers: int = 2) -> dict[str, Any]:
    """The whole matrix."""
    with ProcessPoolExecutor(workers) as pool:
        rules = pool.submit(run_rules)
        operators = dict(zip(OPERATORS, pool.map(run_operator, OPERATORS, itertools.repeat(every)), strict=True))
        return {"operators": operators, "rules": rules.result()}
