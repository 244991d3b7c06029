"""Finds every rule, refuses two with one id, and compiles which rules an event type wakes.

Adding a rule edits no shared file: whatever module below `validator/rules` holds a `Rule` is part of the catalogue.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator
from types import ModuleType

import validator.rules
from validator import loading
from validator.errors import DefinitionError
from validator.protocol.protocol import Protocol
from validator.protocol.wildcards import fitting, is_pattern
from validator.records import dataclass, field
from validator.replay.form import minded
from validator.replay.step import Step
from validator.rules._rule import END, LINE, PARTS, REPEAT, UNLISTED, Rule

ANY = "record:*"


@functools.cache
def load_rules(protocol: str | None = None) -> dict[str, Rule]:
    """Every rule by id, sorted; those that the families for one protocol hold, when it is named."""
    found: dict[str, Rule] = {}
    for family in _names(validator.rules, ""):
        package = loading.load(family)
        usual, others = getattr(package, "PROTOCOLS", None), getattr(package, "OTHERS", {})
        for module in _names(package, ".py"):
            known = others.get(_slug(module), usual)
            if known is None or protocol is None or protocol in known:
                _collect(module, known, found)
    return dict(sorted(found.items()))


def _names(package: ModuleType, suffix: str) -> Iterator[str]:
    """The modules of a package, or its packages when there is no suffix; names with an underscore hold no rules."""
    for entry in sorted(os.listdir(package.__path__[0])):
        name, dot, rest = entry.partition(".")
        if dot + rest == suffix and not entry.startswith("_"):
            yield f"{package.__name__}.{name}"


def _slug(module: str) -> str:
    return module.rpartition(".")[2].replace("_", "-")


def _collect(module: str, protocols: tuple[str, ...] | None, found: dict[str, Rule]) -> None:
    for value in vars(loading.load(module)).values():
        if type(value) is Rule and found.get(value.id) is not value:
            _check(value, module, found)
            if protocols is not None and not set(value.clauses) <= set(protocols):
                raise DefinitionError(f"{value.id} is known to more protocols than its family", source=module)
            found[value.id] = value


def _is_id(word: str) -> bool:
    family, number = word[:3], word[3:]
    return word.isascii() and len(word) == 6 and family.isalpha() and family.isupper() and number.isdigit()


def _check(rule: Rule, module: str, found: dict[str, Rule]) -> None:
    if rule.id in found:
        raise DefinitionError(f"two rules are called {rule.id}", source=module)
    if not _is_id(rule.id):
        raise DefinitionError(f"{rule.id} is not three letters and three digits", source=module)
    if _slug(module) != rule.slug:
        raise DefinitionError(f"{rule.id} is {rule.slug}, the module is not named so", source=module)
    for part in PARTS:
        if f"{part}: " not in rule.text:
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
    """Those that every line wakes, whatever it holds; they are among the others that a line wakes."""
    on_repeat: tuple[Rule, ...] = ()
    ledgers: tuple[type, ...] = ()
    given: frozenset[str] = frozenset()
    """The keys that rules mind."""
    since: frozenset[str] = frozenset()
    """What sleeping rules wait for."""

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
    lines = _listening(known, LINE)
    kinds = {word.removeprefix("record:") for rule in known for word in rule.on if word.startswith("record:")}
    recorded = [rule for rule in known if any(word.startswith("record:") for word in rule.on)]
    by_record = {kind: (*lines, *_listening(recorded, f"record:{kind}", ANY)) for kind in kinds}
    # What stands around the events of an export is no line of its own.
    by_record["export"] = _listening(recorded, "record:export", ANY)
    woken: dict[str, list[Rule]] = {event: [*lines] for event in protocol.events}
    for rule in known:
        for event in _woken_by(rule, protocol):
            woken[event].append(rule)
    return Catalogue(
        rules=known,
        by_event={event: tuple(rules) for event, rules in woken.items()},
        by_record=by_record,
        any_record=(*lines, *_listening(known, ANY)),
        vendor=(*lines, *_listening(known, "*", UNLISTED)),
        at_end=_listening(known, END),
        on_line=lines,
        on_repeat=(*lines, *_listening(known, REPEAT)),
        ledgers=tuple(dict.fromkeys(ledger for rule in known for ledger in rule.ledgers)),
        given=frozenset(word for rule in known for word in minded(rule.given)),
        since=frozenset(word for rule in known for word in rule.since),
    )


def _listening(rules: Iterable[Rule], *words: str) -> tuple[Rule, ...]:
    """The rules that one of some words wakes."""
    wanted = frozenset(words)
    return tuple(rule for rule in rules if not wanted.isdisjoint(rule.on))


def _woken_by(rule: Rule, protocol: Protocol) -> Iterable[str]:
    """The event types that wake a rule."""
    if "*" in rule.on:
        return protocol.events
    found: set[str] = set()
    for word in rule.on:
        if word in protocol.events:
            found.add(word)
        elif is_pattern(word):
            found.update(fitting(word, protocol.events))
    return found
