"""When each document last changed, found out piece by piece.

A piece is one kind of entry or group of fields: the turns, the open actions, where a thread stands. For each of its
keys it tells what is shown now and in which scopes. After an event only the keys that the event touches are looked at
again. Where the content is another one, all scopes that showed it or show it have changed; where only the scopes are
others, those that gained or lost it. Every document that holds the piece and has such a scope changed at that event.
What follows from the entries of a list alone, such as a count of them, is no piece: it changes when they do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from validator.replay.readmodels.agent_runtime.facts import Fact, Facts
from validator.replay.readmodels.agent_runtime.routing import Routing
from validator.replay.readmodels.agent_runtime.scope import EVERY_THREAD, NOWHERE, SESSION, Scope, Scopes
from validator.replay.readmodels.agent_runtime.touch import Touch
from validator.replay.step import Step

Look = tuple[Any, Scopes]
NOTHING: Look = (None, NOWHERE)


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that documents show: who shows it, what an event touches of it, and how it looks."""

    models: tuple[str, ...]
    touched: Callable[[Touch], Iterable[Any]]
    look: Callable[[Facts, Any], Look]
    """The content of a key, and the scopes in which it is shown."""
    order: str | None = None
    """The id whose first mention in a thread gives the order of the entries."""
    counted: bool = False
    """Only how often each content occurs is shown."""
    changed: Callable[[Facts, Any, Any], None] | None = None
    """Is told the key and the time when the content is another one, wherever it is shown."""


class Watch:
    """The looks of all pieces after the last event, and the time at which each document last changed."""

    def __init__(self, facts: Facts, pieces: tuple[Piece, ...]):
        self._facts, self._pieces = facts, pieces
        self._seen: list[dict[Any, Look]] = [{} for _ in pieces]
        self._ordered = {name: _by_order(pieces, name) for name in {piece.order for piece in pieces if piece.order}}
        self.times: dict[tuple[str, Scope], Any] = {}

    def before(self, step: Step) -> dict[int, tuple[Scope, list[Any]]]:
        """The orders that an event can change, as they are before the facts learn it."""
        ids, belonging = step.scope, self._facts.belonging
        thread = belonging.thread_of(ids)
        if thread is None:
            return {}
        scope, places = Scope(thread), set()
        if belonging.brings(ids):
            places = {place for found in self._ordered.values() for place in found}
        for name in ids.keys() & self._ordered.keys():
            shown = (place for place in self._ordered[name] if scope in self._seen[place].get(ids[name], NOTHING)[1])
            places.update(place for place in shown if self._facts.mentions.first(name, ids[name], scope) is None)
        return {place: (scope, self._in_order(place, scope)) for place in places}

    def _in_order(self, place: int, scope: Scope) -> list[Any]:
        name, keys = self._pieces[place].order, self._seen[place].items()
        shown = [key for key, (_, scopes) in keys if scope in scopes]
        return self._facts.mentions.order(str(name), shown, scope)

    def after(self, fact: Fact, orders: dict[int, tuple[Scope, list[Any]]]) -> None:
        """Looks again at whatever an event touched, once the facts have learned it."""
        if fact.late:
            self._facts.of(Routing).forget_sums()
        touch = Touch(self._facts, fact)
        for place, piece in enumerate(self._pieces):
            keys = dict.fromkeys(piece.touched(touch))
            if fact.late:
                keys |= dict.fromkeys(self._seen[place])
            changed = self._look(place, keys, fact.time) if keys else set()
            if place in orders and self._moved(place, *orders[place]):
                changed.add(orders[place][0])
            for scope in changed:
                self.times.update(dict.fromkeys(((model, scope) for model in piece.models), fact.time))

    def _look(self, place: int, keys: Iterable[Any], time: Any) -> set[Scope]:
        piece, seen = self._pieces[place], self._seen[place]
        looks = [(key, seen.get(key, NOTHING), piece.look(self._facts, key)) for key in keys]
        seen.update((key, new) for key, _, new in looks)
        for key, old, new in looks if piece.changed else ():
            if old[0] != new[0]:
                piece.changed(self._facts, key, time)
        if piece.counted:
            counts = [Counter(look[side][0] for look in looks if SESSION in look[side][1]) for side in (1, 2)]
            return {SESSION} if counts[0] != counts[1] else set()
        return {scope for _, old, new in looks for scope in self._differing(old, new)}

    def _differing(self, old: Look, new: Look) -> Scopes:
        """The scopes that show a key otherwise than before."""
        if old is new:
            return NOWHERE
        before, now = self._spread(old[1]), self._spread(new[1])
        return before ^ now if old[0] == new[0] else before | now

    def _spread(self, scopes: Scopes) -> Scopes:
        if EVERY_THREAD not in scopes:
            return scopes
        return frozenset(Scope(thread) for thread in self._facts.mentions.ids("thread_id", SESSION))

    def _moved(self, place: int, scope: Scope, before: list[Any]) -> bool:
        now = self._in_order(place, scope)
        return [key for key in now if key in before] != [key for key in before if key in now]

    def refresh(self, model: str) -> None:
        """Takes what a model shows in the session for unchanged, whatever it is."""
        for place, piece in enumerate(self._pieces):
            if model in piece.models:
                self._seen[place] = {key: piece.look(self._facts, key) for key in self._seen[place]}


def _by_order(pieces: tuple[Piece, ...], name: str) -> list[int]:
    return [place for place, piece in enumerate(pieces) if piece.order == name]
