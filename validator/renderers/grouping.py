"""Findings that say the same together, and what follows from a finding under it."""

from __future__ import annotations

from collections.abc import Iterable

from validator.records import dataclass, field
from validator.rules import Finding

_MOST = 5
Cause = tuple[str, int, tuple[str, str] | None]


@dataclass(slots=True)
class Group:
    """Findings with one fingerprint, in the order of their lines."""

    findings: list[Finding] = field(default_factory=list)
    consequences: list[Finding] = field(default_factory=list)
    """Findings that would not be there without one of these."""

    @property
    def first(self) -> Finding:
        return self.findings[0]

    @property
    def leads_to(self) -> str:
        """The first consequences in words, and how many more there are."""
        shown = [f"line {found.line} {found.rule} {found.event_type or ''}".rstrip() for found in self.consequences]
        more = [f"and {len(shown) - _MOST} more"] if len(shown) > _MOST else []
        return ", ".join(shown[:_MOST] + more)


def groups(findings: Iterable[Finding]) -> list[Group]:
    """One group for each fingerprint, in the order of the first finding of each."""
    listed = list(findings)
    causes = {name for found in listed if found.cause is None for name in _names(found, found.line)}
    found: dict[str, Group] = {}
    owners: dict[Cause, Group] = {}
    followers = []
    for entry in listed:
        if entry.cause is not None and not causes.isdisjoint(_names(entry, entry.cause)):
            followers.append(entry)
            continue
        group = found.setdefault(entry.fingerprint, Group())
        group.findings.append(entry)
        for name in _names(entry, entry.line):
            owners.setdefault(name, group)
    for entry in followers:
        owner = next(owners[name] for name in _names(entry, entry.cause or 0) if name in owners)
        owner.consequences.append(entry)
    return list(found.values())


def _names(found: Finding, line: int) -> tuple[Cause, Cause]:
    """What a finding at a line is found by: its subject there, else the line."""
    return (found.file, line, found.entity), (found.file, line, None)
