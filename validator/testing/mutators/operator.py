"""What a mutation operator and a mutant are, and the list of all operators."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from validator.protocol.protocol import Protocol
from validator.rules._catalog import load_rules
from validator.testing.mutators.lines import Capture

ANY: tuple[str, ...] = ()
Changed = Iterator[tuple[str, Capture]]
"""Where the change was made, in words, and the lines after it."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A capture with one fault put in."""

    where: str
    lines: Capture
    kills: tuple[str, ...] = ANY
    """Rules of which one has to find it; none listed: any rule may."""
    verdict: str | None = None
    """The verdict that counts as its end, where no rule but the verdict tells."""
    clause: str | None = None
    """The clause that the finding has to cite."""
    served: bool = False
    """True when the fault is in a document that is served, so that no state shows it and a rule has to."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One way of breaking a capture, for every protocol it makes sense in."""

    name: str
    description: str
    change: Callable[[Capture, Protocol], Changed]
    rules: tuple[str, ...] = ANY
    verdict: str | None = None
    harmless: bool = False
    """True when a mutant is legal: nothing may find it, and it has to amount to the same."""
    rare: bool = False
    """True when captures offer few places for it, so that a sample takes all."""
    served: bool = False
    """True when it needs captures that end with the read models they amount to."""

    def apply(self, capture: Capture, protocol: Protocol) -> Iterator[Mutant]:
        """Every mutant of a capture, in the order of its lines; none where the protocol knows no rule against it."""
        known = tuple(rule for rule in self.rules if protocol.name in load_rules()[rule].clauses)
        if self.rules and not known:
            return
        for where, lines in self.change(capture, protocol):
            if lines != capture:
                yield Mutant(where, lines, known, self.verdict, served=self.served)


OPERATORS: dict[str, Operator] = {}


def operator(
    name: str,
    *,
    rules: tuple[str, ...] = ANY,
    verdict: str | None = None,
    harmless: bool = False,
    rare: bool = False,
    served: bool = False,
) -> Callable[[Callable[[Capture, Protocol], Changed]], Operator]:
    """Lists a function as an operator; its docstring is the description."""

    def make(change: Callable[[Capture, Protocol], Changed]) -> Operator:
        text = " ".join(inspect.getdoc(change).split()) if change.__doc__ else ""
        OPERATORS[name] = Operator(name, text, change, rules, verdict, harmless, rare, served)
        return OPERATORS[name]

    return make


def named(index: int, capture: Capture, protocol: Protocol) -> str:
    """A line in words: its number, and its type or kind."""
    line = capture[index]
    if not isinstance(line, dict):
        return f"line {index + 1}"
    return f"line {index + 1} {line.get('record') or protocol.type_of(line)}"
