"""When each document last changed, found out piece by piece.

A piece is one kind of entry or group of fields: the turns, the open actions, where a thread stands. For each of its
keys it tells what is shown now and in which scopes. After an event only the keys that the event touches are looked at
again. Where the content is another one, all scopes that showed it or show it have changed; where only the scopes are
others, those that gained or lost it. Every document that holds the piece and has such a scope changed at that event.
What follows from the entries of a list alone, such as a count of them, is no piece: it changes when they do.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable
from typing import Any

from validator.replay.readmodels.agent_runtime.facts import Fact, Facts
from validator.replay.readmodels.agent_runtime.routing import Routing
from validator.replay.readmodels.agent_runtime.scope import EVERY_THREAD, NOWHERE, SESSION, Scope, Scopes
from validator.replay.readmodels.agent_runtime.watch.conversation import CONVERSATION
from validator.replay.readmodels.agent_runtime.watch.piece import CARRIED, NOTHING, Look
from validator.replay.readmodels.agent_runtime.watch.surroundings import GOVERNANCE, PEERS, RESULTS
from validator.replay.readmodels.agent_runtime.watch.touch import Touch
from validator.replay.readmodels.agent_runtime.watch.work import WORK
from validator.replay.step import Step

PIECES = (*CONVERSATION, *WORK, *GOVERNANCE, *RESULTS, *PEERS)
ORDERED: dict[str, list[int]] = {}
"""The places of the pieces by the id that gives their order."""
for _place, _piece in enumerate(PIECES):
    if _piece.order:
        ORDERED.setdefault(_piece.order, []).append(_place)


class Watch:
    """The looks of all pieces after the last event, and the time at which each document last changed."""

    def __init__(self, facts: Facts):
        self._facts = facts
        self._seen: list[dict[Any, Look]] = [{} for _ in PIECES]
        self.times: dict[tuple[str, Scope], Any] = {}

    def before(self, step: Step) -> dict[int, tuple[Scope, list[Any]]]:
        """The orders that an event can change, as they are before the facts learn it."""
        ids, belonging = step.scope, self._facts.belonging
        thread = belonging.thread_of(ids)
        if thread is None:
            return {}
        scope, places = Scope(thread), set()
        if belonging.brings(ids):
            places = {place for found in ORDERED.values() for place in found}
        for name, key in ids.items():
            for place in ORDERED.get(name, ()):
                shown = scope in self._seen[place].get(key, NOTHING)[1]
                if shown and self._facts.mentions.first(name, key, scope) is None:
                    places.add(place)
        return {place: (scope, self._in_order(place, scope)) for place in places}

    def _in_order(self, place: int, scope: Scope) -> list[Any]:
        name, keys = PIECES[place].order, self._seen[place].items()
        shown = [key for key, (_, scopes) in keys if scope in scopes]
        return self._facts.mentions.order(str(name), shown, scope)

    def after(self, fact: Fact, orders: dict[int, tuple[Scope, list[Any]]]) -> None:
        """Looks again at whatever an event touched, once the facts have learned it."""
        if fact.late:
            self._facts.of(Routing).forget_sums()
        touch = Touch(self._facts, fact)
        for place in dict.fromkeys((*self._fed(fact), *orders)):
            keys = dict.fromkeys(PIECES[place].touched(touch))
            if fact.late:
                keys |= dict.fromkeys(self._seen[place])
            changed = self._look(place, keys, fact.time) if keys else set()
            if place in orders and self._moved(place, *orders[place]):
                changed.add(orders[place][0])
            for scope in changed:
                for model in PIECES[place].models:
                    self.times[model, scope] = fact.time

    def _fed(self, fact: Fact) -> Iterable[int]:
        """The pieces that an event can touch.

        The first of all touches any, and so does one that brings others to a thread, or is the first in a thread or
        turn: what another session told of that thread may now be shown.
        """
        if fact.late or not self.times or "thread_id" in fact.anew:
            return range(len(PIECES))
        moved = tuple({move.machine: None for move in fact.step.moves})
        return _fed_by(fact.type, moved, (*fact.ids, *(name for name in CARRIED if name in fact.line)))

    def _look(self, place: int, keys: Iterable[Any], time: Any) -> set[Scope]:
        piece, seen = PIECES[place], self._seen[place]
        looks = [(key, seen.get(key, NOTHING), piece.look(self._facts, key)) for key in keys]
        seen.update((key, new) for key, _, new in looks)
        for key, old, new in looks if piece.changed else ():
            if old[0] != new[0]:
                piece.changed(self._facts, key, time)
        if piece.counted:
            counts = [Counter(look[side][0] for look in looks if SESSION in look[side][1]) for side in (1, 2)]
            return {SESSION} if counts[0] != counts[1] else set()
        if piece.part:
            return {scope for _, old, new in looks if old[0] != new[0] for scope in self._spread(new[1])}
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
        for place, piece in enumerate(PIECES):
            if model in piece.models:
                self._seen[place] = {key: piece.look(self._facts, key) for key in self._seen[place]}


@functools.lru_cache(maxsize=4096)
def _fed_by(event: str, moved: tuple[str, ...], carried: tuple[str, ...]) -> list[int]:
    return [place for place, piece in enumerate(PIECES) if piece.fed.by(event, moved, carried)]
