"""Which story would show a requirement that nobody has seen: a row of a table to take, or a packaged stream to tell."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from validator import resources
from validator.protocol.machine import NONE, Row
from validator.protocol.protocol import Protocol
from validator.records import dataclass, field
from validator.requirements import Requirement
from validator.rules._catalog import load_rules
from validator.rulestreams import rule_streams

_MOST = 2
"""Stories that are told of one kind for one requirement."""


@dataclass(slots=True)
class Stories:
    """What a protocol's tables and packaged streams can show."""

    protocol: Protocol
    rows: dict[str, list[str]] = field(default_factory=dict)
    """Clause to the rows that stand for it, in words."""
    right: dict[str, list[str]] = field(default_factory=dict)
    """Rule to its near misses: streams that the rule looks at and lets pass."""
    wrong: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """Rule and clause to the streams that break the clause."""

    def of(self, requirement: Requirement) -> Iterator[str]:
        """What to capture so that a requirement is judged."""
        if requirement.way == "schema":
            yield f"a capture with {' or '.join(requirement.by)}"
        elif requirement.id in self.rows:
            yield from self.rows[requirement.id][:_MOST]
        else:
            found = [text for rule in requirement.by for text in self._streams(rule, requirement.id)]
            yield from found or [f"what {requirement.id} describes, so that {' or '.join(requirement.by)} can judge it"]

    def _streams(self, rule: str, clause: str) -> list[str]:
        """A near miss of a rule with one clause; of a rule with many, a stream that is known to be about this one."""
        about = load_rules()[rule].clauses.get(self.protocol.name, ())
        if len(about) == 1 and rule in self.right:
            return self.right[rule][:1]
        return [f"the opposite of {text}" for text in self.wrong.get((rule, clause), [])[:1]]


def stories(protocol: Protocol) -> Stories:
    """The stories of a protocol."""
    found = Stories(protocol)
    for row in protocol.rows():
        found.rows.setdefault(row.clause, []).append(_told(row))
    folder = resources.fixtures() / protocol.name / protocol.version
    for rule, path, entry in rule_streams(folder, protocol):
        if path.name.startswith("near-"):
            found.right.setdefault(rule, []).append(f"{rule}/{path.stem}: {entry['description']}")
        for clause in {item["clause"] for item in entry.get("findings", ()) if "clause" in item}:
            found.wrong.setdefault((rule, clause), []).append(f"{rule}/{path.stem}: {entry['description']}")
    return found


def _told(row: Row) -> str:
    """A row in words: what happens to whom, in which state."""
    what = row.driver.name
    if row.driver.kind == "move":
        what = f"a {row.driver.name.replace('_', ' ')} becomes {' or '.join(row.into)}"
    given = ", ".join(f"{path} {_words(values)}" for path, values in row.when if not path.startswith("subject."))
    states = " or ".join("not known yet" if state == NONE else state for state in row.sources)
    told = f"{what} ({given})" if given else what
    return f"row {row.id}: {told} while the {row.machine.replace('_', ' ')} is {states}"


def _words(values: Collection[Any]) -> str:
    """The values that a condition lists; None is a field that is not there."""
    return " or ".join(sorted("absent" if value is None else str(value).lower() for value in values))
