"""One capture judged by several processes: each reads all of it, and asks its share of the rules.

Rules do not speak to each other. What they do share are ledgers, and some of them change what they read there, so
rules that share a ledger stay together, and so do those whose findings hang under one another. Whoever asks a share
reads every line, replays it, and keeps the ledgers of its own rules only; the tallies are then added up. So the report
is the one of a single process, whatever the stream holds: there is nothing to guess about which lines belong together.
"""

from __future__ import annotations

from collections.abc import Iterable

from validator.protocol.clauses import LEVELS
from validator.records import dataclass, field
from validator.report import Crash
from validator.rules import Finding, Rule
from validator.tally import Tally

Share = tuple[int, int]
"""Which share, of how many."""

_ALWAYS, _SOMETIMES, _QUIET = 6, 1, 1
"""What a rule or a ledger costs, roughly: one that every event concerns, one that few do, one asked once per kind."""
_COSTLY = {"Leaks": 100, "Redactions": 20, "Replay": 20}
"""Ledgers that do much for every event."""


@dataclass(slots=True)
class Part:
    """What one share of the rules looked at and found."""

    findings: list[Finding] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    failed: dict[str, dict[str, int]] = field(default_factory=dict)
    weights: dict[str, str] = field(default_factory=dict)
    looks: dict[str, int] = field(default_factory=dict)
    rule_looks: dict[str, int] = field(default_factory=dict)
    crashes: list[Crash] = field(default_factory=list)


def part_of(tally: Tally) -> Part:
    """What a settled tally holds."""
    return Part(*(getattr(tally, name) for name in Part.__slots__))


def add(tally: Tally, part: Part) -> None:
    """Adds what another share found; no rule is in two shares."""
    tally.findings += part.findings
    tally.counts |= part.counts
    tally.rule_looks |= part.rule_looks
    for clause, rules in part.failed.items():
        tally.failed.setdefault(clause, {}).update(rules)
    for clause, level in part.weights.items():
        tally.weights[clause] = max(tally.weights.get(clause, level), level, key=LEVELS.index)
    for clause, times in part.looks.items():
        tally.looks[clause] = tally.looks.get(clause, 0) + times


def shared(rules: Iterable[Rule], share: Share, whole: bool = False) -> tuple[Rule, ...]:
    """The rules of one share, in their order; all of them in the first when they are to stay whole."""
    index, count = share
    rules = tuple(rules)
    shares: list[tuple[int, set[str]]] = [(0, set()) for _ in range(count)]
    groups = [list(rules)] if whole else _together(rules)
    for weight, ids in sorted(((_weight(group), [rule.id for rule in group]) for group in groups), reverse=True):
        lightest = min(range(count), key=lambda place: (shares[place][0], place))
        total, known = shares[lightest]
        shares[lightest] = (total + weight, known.union(ids))
    return tuple(rule for rule in rules if rule.id in shares[index][1])


def _together(rules: tuple[Rule, ...]) -> list[list[Rule]]:
    """Groups of rules that share a ledger, or whose findings hang under one another."""
    groups: list[tuple[set[object], list[Rule]]] = []
    for rule in rules:
        bonds: set[object] = {*rule.ledgers, *(("follows",) if rule.follows else ())}
        members = [rule]
        for group in [group for group in groups if not group[0].isdisjoint(bonds)]:
            groups.remove(group)
            bonds |= group[0]
            members = group[1] + members
        groups.append((bonds, members))
    return [members for _, members in groups]


def _weight(group: list[Rule]) -> int:
    ledgers = {ledger for rule in group for ledger in rule.ledgers}
    kept = sum(_COSTLY.get(entry.__name__, _SOMETIMES if hasattr(entry, "hears") else _ALWAYS) for entry in ledgers)
    return kept + sum(_QUIET if rule.quiet else _ALWAYS if "*" in rule.on else _SOMETIMES for rule in group)
