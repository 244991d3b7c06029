"""What a store promises.

A store holds an append-only log of events, the records that they add up to, and the answers to commands that carried
an idempotency key. All three change together: `commit` takes one change whole or not at all, and only at the position
at which it was decided.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from reference_runtime.facts.record import Record

Key = tuple[str, str]


@dataclass(slots=True)
class Change:
    """Everything that one command or one piece of work changes."""

    position: int
    """How many events the log held when the change was decided."""
    ordinal: int
    """The last place given to a record."""
    events: list[dict[str, Any]] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    reply: tuple[str, str, dict[str, Any]] | None = None
    """Idempotency key, digest of the command, and the answer."""
    streams: list[str | None] = field(default_factory=list)
    """The stream of each event, by which it is read again; a session in the core."""


class Contents(Protocol):
    """Where content lies that is too large for a store."""

    def read(self, reference: str) -> str | None:
        """The content behind a reference, or None when it is not kept here."""


class Store(Protocol):
    """The port that the service writes through."""

    records: Mapping[Key, Record | None]
    """Every record by its kind and identity, None for one that there is not; nobody changes what it gets."""

    def position(self) -> int:
        """How many events the log holds; what another writer changed is noticed here, and not before."""

    def ordinal(self) -> int:
        """The last place given to a record."""

    def load(self, kind: str, identity: str) -> Record | None:
        """One record, or None; the caller may change what it gets."""

    def find(self, kind: str, where: dict[str, str], is_open: bool | None) -> list[Record]:
        """The records of a kind that were told with all the ids named, in order."""

    def linked(self, link: tuple[str, str]) -> Collection[str] | None:
        """The kinds of all records that were told with an identity; None where the store would have to look."""

    def seek(self, kind: str, where: dict[str, str], is_open: bool | None) -> list[Record]:
        """What `find` gives, for a caller that does not change what it gets."""

    def read(self, after: int = 0, session: str | None = None) -> Iterator[dict[str, Any]]:
        """The events behind a position, in order; those of one stream where one is named."""

    def tail(self, session: str, after: int, limit: int) -> list[dict[str, Any]]:
        """The events of a session behind a sequence, in order, so many at most."""

    def reply(self, key: str) -> tuple[str, dict[str, Any]] | None:
        """The digest and the answer kept under an idempotency key."""

    def commit(self, change: Change) -> None:
        """Keeps a change, durably where the store is durable, or raises StoreError and keeps nothing."""

    def close(self) -> None:
        """Lets go of what the store holds."""
