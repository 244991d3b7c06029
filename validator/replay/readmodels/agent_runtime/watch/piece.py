"""What a piece of the read models is, and the kinds of pieces that many models have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from validator.records import dataclass
from validator.replay.readmodels.agent_runtime.facts import Facts
from validator.replay.readmodels.agent_runtime.scope import NOWHERE, SESSION, Scope, Scopes
from validator.replay.readmodels.agent_runtime.watch.touch import Touch

Look = tuple[Any, Scopes]
NOTHING: Look = (None, NOWHERE)
IN_SESSION: Scopes = frozenset({SESSION})
SHELL, THREAD = ("session_snapshot",), ("thread_read_model",)
CARRIED = ("runtime_id", "trace_id", "span_id", "telemetry", "execution_environment", "cost_state")
"""Values and side objects of an envelope that feed pieces, whatever event carries them."""


@dataclass(frozen=True, slots=True)
class Feed:
    """Which events can touch a piece."""

    words: tuple[str, ...] = ()
    """Event types, or the first words of them."""
    moves: tuple[str, ...] = ()
    """Tables whose subjects are moved."""
    carries: tuple[str, ...] = ()
    """Ids and side objects that are carried."""
    always: bool = False

    def by(self, event: str, moved: Iterable[str], carried: Iterable[str]) -> bool:
        """True when an event of a type that moves and carries something can touch the piece."""
        told = event in self.words or event.split(".")[0] in self.words
        return (
            self.always
            or told
            or any(name in self.moves for name in moved)
            or any(name in self.carries for name in carried)
        )


def on(*words: str, moves: tuple[str, ...] = (), carries: tuple[str, ...] = ()) -> Feed:
    """The events that touch a piece: by type, by the tables they move, by what they carry."""
    return Feed(words, moves, carries)


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that documents show: who shows it, what an event touches of it, and how it looks."""

    models: tuple[str, ...]
    fed: Feed
    touched: Callable[[Touch], Iterable[Any]]
    """The keys that an event can have changed."""
    look: Callable[[Facts, Any], Look]
    """The content of a key, and the scopes in which it is shown."""
    order: str | None = None
    """The id whose first mention in a thread gives the order of the entries."""
    counted: bool = False
    """Only how often each content occurs is shown."""
    changed: Callable[[Facts, Any, Any], None] | None = None
    """Is told the key and the time when the content is another one, wherever it is shown."""
    part: bool = False
    """It is shown wherever another piece is, and that one tells where it is gained or lost."""


Content = Callable[[Facts, Scope], Any]


def scoped(models: tuple[str, ...], fed: Feed, content: Content) -> Piece:
    """Fields that hold what was told last in a scope."""

    def look(facts: Facts, scope: Scope) -> Look:
        shown = content(facts, scope)
        return shown, NOWHERE if shown is None else frozenset({scope})

    return Piece(models, fed, lambda touch: touch.scopes, look)


def of_thread(models: tuple[str, ...], fed: Feed, content: Content) -> Piece:
    """Fields of a thread."""

    def look(facts: Facts, thread: str) -> Look:
        shown = content(facts, Scope(thread))
        return shown, NOWHERE if shown is None else frozenset({Scope(thread)})

    return Piece(models, fed, lambda touch: touch.threads, look)


def logged(models: tuple[str, ...], fed: Feed, kind: type[Any], name: str) -> Piece:
    """A list with one entry for each event of a log; an event that tells an empty list adds none."""

    def look(facts: Facts, index: int) -> Look:
        log = getattr(facts.of(kind), name)
        told = log.entries.get(index)
        return (told.value, log.scopes(index)) if told and told.value != [] else NOTHING

    return Piece(models, fed, lambda touch: (touch.fact.index,), look)
