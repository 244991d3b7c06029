"""Finds every rule, refuses two with one id, and compiles which rules an event type wakes.

Adding a rule edits no shared file: whatever module below `validator/rules` holds a `Rule` is part of the catalogue.
"""

from __future__ import annotations

import fnmatch
import functools
import importlib
import pkgutil
import re
from dataclasses import dataclass, field

import validator.rules
from validator.errors import DefinitionError
from validator.protocol.protocol import Protocol
from validator.replay.step import Step
from validator.rules._rule import END, LINE, REPEAT, UNLISTED, Rule

ANY = "record:*"
_ID = re.compile(r"[A-Z]{3}[0-9]{3}")


@functools.cache
def load_rules() -> dict[str, Rule]:
    """Every rule by id, sorted."""
    found: dict[str, Rule] = {}
    for module in pkgutil.walk_packages(validator.rules.__path__, "validator.rules."):
        if module.name.rsplit(".", 1)[-1].startswith("_"):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, Rule) and value not in found.values():
                _check(value, module.name, found)
                found[value.id] = value
    return dict(sorted(found.items()))


def _check(rule: Rule, module: str, found: dict[str, Rule]) -> None:
    if rule.id in found:
        raise DefinitionError(f"two rules are called {rule.id}", source=module)
    if not _ID.fullmatch(rule.id):
        raise DefinitionError(f"{rule.id} is not three letters and three digits", source=module)
    if module.rsplit(".", 1)[-1] != rule.slug.replace("-", "_"):
        raise DefinitionError(f"{rule.id} is {rule.slug}, the module is not named so", source=module)
    for part in ("summary", "Why", "Trips", "Near miss", "Fix"):
        if not rule.doc.get(part):
            raise DefinitionError(f"{rule.id} does not say its {part}", source=module)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The rules of one protocol, indexed by what wakes them."""

    rules: tuple[Rule, ...]
    by_event: dict[str, tuple[Rule, ...]] = field(default_factory=dict)
    by_record: dict[str, tuple[Rule, ...]] = field(default_factory=dict)
    any_record: tuple[Rule, ...] = ()
    """The rules that even a record of an unknown kind wakes."""
    vendor: tuple[Rule, ...] = ()
    at_end: tuple[Rule, ...] = ()
    on_line: tuple[Rule, ...] = ()
    on_repeat: tuple[Rule, ...] = ()
    ledgers: tuple[type, ...] = ()

    def woken_by(self, step: Step) -> tuple[Rule, ...]:
        """The rules that a readable line concerns."""
        if step.repeats is not None:
            return self.on_repeat
        if step.kind == "event":
            return self.by_event.get(step.type or "", self.vendor)
        return self.by_record.get(step.kind, self.any_record)


@functools.lru_cache(maxsize=16)
def compile_rules(protocol: Protocol, rules: tuple[Rule, ...]) -> Catalogue:
    """Per event type, the tuple of rules that can concern it."""
    known = tuple(rule for rule in rules if protocol.name in rule.clauses)
    kinds = {word.removeprefix("record:") for rule in known for word in rule.on if word.startswith("record:")}
    return Catalogue(
        rules=known,
        by_event={event: tuple(rule for rule in known if _wakes(rule, event)) for event in protocol.events},
        by_record={kind: tuple(rule for rule in known if {f"record:{kind}", ANY} & {*rule.on}) for kind in kinds},
        any_record=tuple(rule for rule in known if ANY in rule.on),
        vendor=tuple(rule for rule in known if {"*", UNLISTED} & {*rule.on}),
        at_end=tuple(rule for rule in known if END in rule.on),
        on_line=tuple(rule for rule in known if LINE in rule.on),
        on_repeat=tuple(rule for rule in known if REPEAT in rule.on),
        ledgers=tuple(dict.fromkeys(ledger for rule in known for ledger in rule.ledgers)),
    )


def _wakes(rule: Rule, event: str) -> bool:
    words = (word for word in rule.on if word not in {END, LINE, UNLISTED} and not word.startswith("record:"))
    return any(fnmatch.fnmatchcase(event, word) for word in words)
