"""Asks the rules that a step wakes, and asks those of a kind only once about steps that are all alike.

Rules that look for the same sort of trouble (how a line is written, what it leaks) share a `quiet` function. It gives a
key when a step certainly has no such trouble, and the same key always means the same looks. So the rules are run for
the first step of a key, and for the others their looks are counted. The keys of all functions that a step is asked
for are one key as well, so that most steps are counted once.
"""

from __future__ import annotations

from collections.abc import Callable

from validator.context import Context
from validator.protocol.fastpath import mode
from validator.records import dataclass
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import Findings, Rule, Seen
from validator.tally import Looked, Tally

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Quiet = Callable[[Step, World, Context], object]
_MOST_KEYS = 4096
"""Keys hold event types, and a stream may make up as many as it likes."""


@dataclass(frozen=True, slots=True)
class Woken:
    """The rules that one kind of step wakes: those asked every time, and groups that share a quiet function."""

    rules: tuple[Rule, ...]
    loud: tuple[Rule, ...]
    choosy: bool
    """Some of the loud ones do not attend to every such step."""
    groups: tuple[tuple[Quiet, tuple[Rule, ...], dict[Any, list[Any]]], ...]
    """Each with what its rules looked at in steps of a key, and how often such a step came."""
    quiets: tuple[Quiet, ...]
    """The functions of all groups."""
    alike: dict[tuple[Any, ...], list[Any]]
    """Their keys to what the rules of each group looked at, how often a step of all these keys came, and the rules of
    groups without a key, which are asked every time."""


class Asker:
    """Asks rules, and counts and reports what they answer."""

    def __init__(self, tally: Tally, world: World, context: Context):
        self._tally, self._world, self._context = tally, world, context
        self._every_time = mode() == "off"
        self._woken: dict[int, Woken] = {}
        self._quiet: dict[tuple[Rule, ...], dict[Any, list[Any]]] = {}
        """The tables of the groups; groups of the same rules share one."""
        self._kept = 0
        """Keys of several groups that are remembered."""
        self.heard: list[list[Any]] | None = None
        """While somebody wants to know: the entries of the tables that were counted."""

    def ask(self, rules: tuple[Rule, ...], step: Step | None) -> None:
        """Asks every rule about a step, or about the end when there is none."""
        woken = self._woken.get(id(rules)) or self._divide(rules)
        if step is None or step.at is not None or self._tally.crashed:
            self._run(woken.rules, step)
            return
        if woken.loud:
            self._run(self._world.attention.choose(woken.loud, step) if woken.choosy else woken.loud, step)
        if woken.groups:
            self._ask_quietly(woken, step)

    def _ask_quietly(self, woken: Woken, step: Step) -> None:
        """Asks the rules that share quiet functions, unless a step with the same keys was asked about before."""
        world, context = self._world, self._context
        try:
            keys = tuple([quiet(step, world, context) for quiet in woken.quiets])
        except Exception:  # what one of them reads has failed; the rules that need it say so themselves
            keys = tuple([self._key(quiet, step) for quiet in woken.quiets])
        known = woken.alike.get(keys)
        if known is None:
            groups = list(zip(woken.groups, keys, strict=True))
            found = []
            for (_, members, table), key in groups:
                entry = None if key is None else table.get(key)
                found.append(self._ask_group(members, table, key, step) if entry is None else self._count(entry))
            quiet = [entry for entry in found if entry is not None]
            if len(quiet) == len(found) - keys.count(None) and self._kept < _MOST_KEYS:
                self._kept += 1
                unsure = tuple([rule for (_, members, _), key in groups if key is None for rule in members])
                woken.alike[keys] = [quiet, 0, unsure]
            return
        known[1] += 1
        if self.heard is not None:
            self.heard.append(known)
        if known[2]:
            self._run(known[2], step)

    def settle(self) -> None:
        """Counts the looks at steps that were alike."""
        for woken in self._woken.values():
            for found, times, _ in woken.alike.values():
                for entry in found:
                    entry[1] += times
            woken.alike.clear()
        for table in self._quiet.values():
            for looked, times in table.values():
                self._tally.count(looked, times)
            table.clear()

    def _divide(self, rules: tuple[Rule, ...]) -> Woken:
        groups: dict[Quiet, list[Rule]] = {}
        loud: list[Rule] = []
        for rule in rules:
            if rule.quiet is None or self._every_time:
                loud.append(rule)
            else:
                groups.setdefault(rule.quiet, []).append(rule)
        choosy = not self._every_time and any(rule.given or rule.since for rule in loud)
        tables = [(quiet, tuple(members)) for quiet, members in groups.items()]
        groups_of = tuple([(*entry, self._quiet.setdefault(entry[1], {})) for entry in tables])
        woken = Woken(rules, tuple(loud), choosy, groups_of, tuple(groups), {})
        # The catalogue keeps the tuple alive, so that its identity stays its own.
        self._woken[id(rules)] = woken
        return woken

    def _key(self, quiet: Quiet, step: Step) -> Any:
        """The key of a step, where what its function reads has not failed."""
        try:
            return quiet(step, self._world, self._context)
        except Exception:  # as above
            return None

    def _ask_group(
        self, members: tuple[Rule, ...], table: dict[Any, list[Any]], key: Any, step: Step
    ) -> list[Any] | None:
        """Asks the rules of a group about a step with a key that is new, or with none; what is counted then."""
        if key is None or len(table) > _MOST_KEYS:
            self._run(members, step)
            return None
        entry = table[key] = [self._recorded(members, step), 0]
        return self._count(entry)

    def _count(self, entry: list[Any]) -> list[Any]:
        entry[1] += 1
        if self.heard is not None:
            self.heard.append(entry)
        return entry

    def _recorded(self, members: tuple[Rule, ...], step: Step) -> Looked:
        """Runs rules, and says what they looked at."""
        before, self._tally.looked = self._tally.looked, {}
        self._run(members, step)
        looked, self._tally.looked = self._tally.looked, before
        return looked

    def _run(self, rules: tuple[Rule, ...], step: Step | None) -> None:
        tally, world, context = self._tally, self._world, self._context
        looked, crashed = tally.looked, tally.crashed
        for rule in rules:
            if crashed and rule.id in crashed:
                continue
            try:
                for answer in rule.check(step, world, context):
                    if type(answer) is Seen:
                        mark = (rule, answer.clauses)
                        looked[mark] = looked.get(mark, 0) + answer.times
                    elif type(answer) is Findings:
                        tally.report_all(rule, step, answer, rule.clauses[world.protocol.name], context)
                    else:
                        tally.report(rule, step, answer, rule.clauses[world.protocol.name], context)
            except Exception as error:  # a rule's own fault is reported, never hidden
                tally.crash(rule, step, error)
