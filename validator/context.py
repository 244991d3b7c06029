"""What the caller asks of the judge, and what a rule may ask beside the world."""

from __future__ import annotations

from collections.abc import Callable

from validator.capture.ndjson import Limits, Line
from validator.errors import UsageError
from validator.places import Places
from validator.protocol.schemas import SchemaError
from validator.records import dataclass, field
from validator.rules import Rule
from validator.rules._catalog import load_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DIGITS = 18
_MANY = 1_000_000
"""Lines that may be asked for at once: each of them is remembered."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller asks for; options beat the header."""

    protocol: str | None = None
    profile: str | None = None
    """A shipped name or a path; the header's claim when absent, and `default` when there is none."""
    expect: str | None = None
    """complete or prefix."""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: str = "MUST"
    canaries: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    max_findings_per_rule: int = 100
    lines: frozenset[int] = frozenset()
    """Judge only these lines; the others tell nothing but their place in the order. Empty: judge every line."""

    def wants(self, rule: Rule) -> bool:
        """True when a rule is selected and not ignored."""
        return asked(rule.id, self.select, self.ignore)


def asked(rule: str, select: tuple[str, ...], ignore: tuple[str, ...]) -> bool:
    """True when the id of a rule is selected and not ignored; a prefix names a family, and nothing selects all."""
    return (not select or rule.startswith(select)) and not (ignore and rule.startswith(ignore))


def line_numbers(text: str) -> frozenset[int]:
    """The lines that a list such as `3,7-9` names."""
    found: set[int] = set()
    for word in filter(None, text.replace(" ", "").split(",")):
        found.update(_named(word))
    return frozenset(found)


def _named(word: str) -> range:
    parts = word.split("-", 1)
    if not all(part.isdecimal() and len(part) <= _DIGITS for part in parts) or not 0 < int(parts[0]) <= int(parts[-1]):
        raise UsageError(f"{word!r} names no lines", hint="lines are counted from 1, as in 3,7-9")
    if int(parts[-1]) - int(parts[0]) >= _MANY:
        raise UsageError(f"{word!r} names more than {_MANY:,} lines", hint="the lines of a proof are few, as in 3,7-9")
    return range(int(parts[0]), int(parts[-1]) + 1)


def check_options(options: Options) -> None:
    """Refuses selections that name no rule, and a canary that nothing could hold."""
    if "" in options.canaries:
        raise UsageError("a canary is empty", hint="give --canary the value that was planted")
    for word in (*options.select, *options.ignore):
        if not any(rule.startswith(word) for rule in load_rules()):
            raise UsageError(f"no rule is called {word!r}", hint="runtime-validate rules lists them")


@dataclass(slots=True)
class Context:
    """The line as it was read, its schema errors, and the caller's wishes."""

    options: Options
    level: Callable[[str], str]
    """The weight of a clause under the profile."""
    line: Line | None = None
    find_errors: Callable[[dict[str, Any]], list[SchemaError]] = lambda _document: []
    """In what a document falls short of its schemas, and of the profile."""
    document: dict[str, Any] = field(default_factory=dict)
    """The document at hand."""
    found: list[SchemaError] | None = None
    foreign: dict[str, bool] = field(default_factory=dict)
    """Declared properties in the casing the capture is not written in, and whether the usual one says otherwise."""
    canaries: tuple[str, ...] = ()
    schema_clauses: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Document kind to the clauses that its schema alone judges."""
    schema_places: dict[str, Places] = field(default_factory=dict)
    """Document kind to the clauses that its places belong to."""
    unknown_profile: bool = False
    """The header names a profile that the protocol does not have."""
    cut: bool = False
    """The capture ends in the middle of a line; known at its end."""

    def take(self, document: dict[str, Any], found: list[SchemaError] | None = None) -> None:
        """Goes on to another document."""
        self.document, self.found = document, found

    @property
    def errors(self) -> list[SchemaError]:
        """What is wrong with the shape of the document; found out when the first rule asks."""
        if self.found is None:
            self.found = self.find_errors(self.document)
        return self.found
