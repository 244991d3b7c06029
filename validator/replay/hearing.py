"""Which ledgers a step concerns.

A ledger that learns only from some steps says so in three ways; without them it is shown every step, and so is every
ledger when the fast path is off.

* `hears`: event types or patterns, `record:<kind>`, `unlisted` for types that the catalogue does not list, and
  `move:<machine>` for whatever can move or refuse a subject of a machine. The last is worked out from the tables: an
  event reaches the machines that list it, and those that list their moves.
* `given`: keys of which a line has to hold one, at whatever depth, or a condition on its `Form`; `ASTRAY` stands for
  an event that does not simply come next in its stream.
* `since`: words like those of `hears` and `given`; a step that one of them means wakes the ledger for good, and up to
  then no step teaches it anything.

Rules say `given` and `since` too. What they come to is worked out once per form, type and place of a line.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

from validator.protocol.fastpath import mode
from validator.protocol.glance import Keys, Shape, glance
from validator.protocol.machine import Driver
from validator.protocol.protocol import Protocol
from validator.protocol.wildcards import fitting, is_pattern
from validator.records import dataclass
from validator.replay.form import Condition, Form, Given, Lane, minded
from validator.replay.step import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    T = TypeVar("T")
    R = TypeVar("R")

Teacher = tuple[type, Callable[[Step], None]]
ASTRAY = "astray"
_MOST = 16_384
"""Forms, and what was found out about them, that are remembered; a stream may make up as many as it likes."""


class Attention:
    """What every step means to those who do not attend to all of them, and who of them is awake."""

    def __init__(self, protocol: Protocol, words: Iterable[str]):
        self._protocol = protocol
        self.is_whole = mode() == "off"
        """Everybody attends to everything."""
        self._words: set[str] = set()
        self._patterns: dict[str, frozenset[str]] = {}
        """The listed types that each pattern among the words fits."""
        self._learn({*words, *protocol.identities})
        self._asleep: set[str] = set()
        self._forms: dict[Shape, Form] = {}
        self._alike: dict[tuple[frozenset[str], frozenset[str], bool], Form] = {}
        """The forms by what they are told apart by."""
        self._kept = 0
        self._meanings: dict[tuple[str, str], frozenset[str]] = {}
        self._rousing: dict[tuple[str, Shape], bool] = {}

    def mind(self, given: Iterable[str], since: Iterable[str]) -> None:
        """Somebody minds some keys of a line, and sleeps until a step comes that one of some words means."""
        since = frozenset(since)
        self._asleep |= since
        self._learn({*given, *since})
        self.forget()

    def _learn(self, words: set[str]) -> None:
        protocol = self._protocol
        self._patterns |= {word: _listed(protocol, word) for word in words - self._words if is_pattern(word)}
        self._words |= words

    def form(self, step: Step) -> Form:
        """The form of a step's line; the same for all lines with the same keys."""
        if step.form is None:
            shape = glance(step.line)[0]
            form = self._forms.get(shape)
            step.form = form if form is not None else self.keep(self._forms, shape, self._form(shape.keys))
        return step.form

    def _form(self, keys: Keys) -> Form:
        top, below = frozenset(keys[0] if keys else ()), frozenset().union(*keys[1:])
        mark = (top & self._words, below & self._words, not top.isdisjoint(below))
        form = self._alike.get(mark)
        return form if form is not None else self.keep(self._alike, mark, Form(*mark))

    def keep(self, table: dict[Any, T], key: Any, found: T) -> T:
        """Remembers something about forms; when there is too much of it, all of it is found out again."""
        self._kept += 1
        if self._kept > _MOST:
            self.forget()
        table[key] = found
        return found

    def forget(self) -> None:
        """Finds out again who attends to what."""
        self._forms.clear()
        self._alike.clear()
        self._meanings.clear()
        self._rousing.clear()
        self._kept = 0

    def is_astray(self, step: Step) -> bool:
        """True for an event that does not simply come next in its stream."""
        place = step.place
        if place is None or place.verdict == "next":
            return False
        first = self._protocol.order.get("first")
        return place.verdict != "first" or (first is not None and place.sequence > first)

    def rouse(self, step: Step) -> frozenset[str]:
        """Wakes whoever waited for a word that means a step; those that its kind, type and place mean are returned."""
        form, named = self.form(step), self._named(step.kind, step.type or "")
        if self.is_astray(step):
            named |= {ASTRAY}
        words = named | form.top | form.below
        if not self._asleep.isdisjoint(words):
            self._asleep -= words
            self.forget()
        return named

    def lane(self, step: Step) -> Lane:
        """Who attends to steps like one; found out once per step."""
        form, astray = self.form(step), self.is_astray(step)
        key = (step.kind, step.type, astray)
        lane = form.lanes.get(key)
        step.lane = lane if lane is not None else self.keep(form.lanes, key, Lane(astray))
        return step.lane

    def choose(self, rules: tuple[R, ...], step: Step) -> tuple[R, ...]:
        """Of some rules those that may have something to say about a step; the tuple has to outlive the capture."""
        lane = step.lane or self.lane(step)
        found = lane.asked.get(id(rules))
        if found is None:
            form, astray = self.form(step), lane.astray
            # Most of them mind nothing, and need no call to say so.
            awake = [
                rule
                for rule in rules
                if (not rule.since or self.is_awake(rule.since)) and (not rule.given or holds(rule.given, form, astray))
            ]
            found = self.keep(lane.asked, id(rules), tuple(awake))
        return found

    def is_awake(self, since: tuple[str, ...]) -> bool:
        return not since or not self._asleep.issuperset(since)

    def rouses(self, event_type: str, shape: Shape) -> bool:
        """True for an event of a type and shape that wakes somebody who still sleeps, wherever it stands."""
        found = self._rousing.get((event_type, shape))
        if found is None:
            asleep = self._asleep
            calm = asleep.isdisjoint(self._named("event", event_type)) and all(map(asleep.isdisjoint, shape.keys))
            found = self.keep(self._rousing, (event_type, shape), not calm)
        return found

    def _named(self, kind: str, name: str) -> frozenset[str]:
        """Every word that means a step of a kind and type, whatever it holds."""
        found = self._meanings.get((kind, name))
        return self.keep(self._meanings, (kind, name), self._meaning(kind, name)) if found is None else found

    def _meaning(self, kind: str, name: str) -> frozenset[str]:
        driver = Driver("event" if kind == "event" else "record", name)
        meant = {f"move:{machine}" for machine in reached_by(self._protocol).get(driver, ())}
        if kind != "event":
            return frozenset({*meant, f"record:{kind}"})
        if name in self._protocol.events:
            return frozenset({*meant, name, *(word for word, names in self._patterns.items() if name in names)})
        # A vendor may call an event whatever it likes, even like one of the words above.
        return frozenset({*meant, "unlisted", *(word for word in self._patterns if fitting(word, (name,)))})


def holds(given: Given, form: Form, astray: bool) -> bool:
    """True when a line of a form may hold what somebody looks for."""
    if isinstance(given, Condition):
        return given.test(form)
    return not given or form.has(given) or (astray and ASTRAY in given)


@dataclass(frozen=True, slots=True)
class _Pupil:
    """A ledger, and what it says about the steps that it learns from."""

    teacher: Teacher
    hears: frozenset[str] | None
    since: tuple[str, ...]
    given: Given


class Hearing:
    """Form, kind and type of a step to the ledgers that hear it."""

    def __init__(self, protocol: Protocol, ledgers: dict[type, Any]):
        self._pupils = [_pupil(kind, ledger) for kind, ledger in ledgers.items()]
        self._called: dict[frozenset[str], list[_Pupil]] = {}
        """By the words that mean a kind, type and place of a step, the ledgers that may hear it."""
        self.attention = Attention(protocol, {word for pupil in self._pupils for word in pupil.hears or ()})
        if not self.attention.is_whole:
            given = (word for pupil in self._pupils for word in minded(pupil.given))
            self.attention.mind(given, (word for pupil in self._pupils for word in pupil.since))

    def of(self, step: Step) -> tuple[Teacher, ...]:
        """The ledgers to show a step to, in the order of their names."""
        attention = self.attention
        if attention.is_whole:
            return tuple(pupil.teacher for pupil in self._pupils)
        lane = step.lane or attention.lane(step)
        found = lane.heard
        if found is None:
            named, awake = attention.rouse(step), attention.is_awake
            called = self._called.get(named) or self._call(named)
            form, astray = attention.form(step), lane.astray
            found = tuple(
                [
                    one.teacher
                    for one in called
                    if (not one.since or awake(one.since)) and (not one.given or holds(one.given, form, astray))
                ]
            )
            lane.heard = found
        return found

    def _call(self, named: frozenset[str]) -> list[_Pupil]:
        """The ledgers that words which mean a step concern."""
        called = [pupil for pupil in self._pupils if pupil.hears is None or not named.isdisjoint(pupil.hears)]
        self._called[named] = called
        return called

    def silence(self, failed: Iterable[type]) -> None:
        """Shows nothing more to ledgers that failed."""
        self._pupils = [pupil for pupil in self._pupils if pupil.teacher[0] not in failed]
        self._called.clear()
        self.attention.forget()


def _pupil(kind: type, ledger: Any) -> _Pupil:
    hears = getattr(ledger, "hears", None)
    heard = None if hears is None else frozenset(hears)
    return _Pupil((kind, ledger.apply), heard, getattr(kind, "since", ()), getattr(kind, "given", ()))


@functools.lru_cache(maxsize=512)
def _listed(protocol: Protocol, word: str) -> frozenset[str]:
    """The listed event types that a pattern fits."""
    return frozenset(fitting(word, protocol.events))


@functools.lru_cache(maxsize=16)
def reached_by(protocol: Protocol) -> dict[Driver, frozenset[str]]:
    """Event or record to the machines that it can drive, at once or through moves."""
    return {driver: frozenset(_reached(protocol, driver)) for driver in protocol.listeners if driver.kind != "move"}


def _reached(protocol: Protocol, driver: Driver) -> set[str]:
    found: set[str] = set()
    waiting = [machine.name for machine in protocol.listeners[driver]]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [machine.name for machine in protocol.listeners.get(Driver("move", name), ())]
    return found
