"""What one line changed."""

from __future__ import annotations

from collections.abc import Collection

from validator.capture.encode import pack
from validator.protocol.machine import Driver, Row
from validator.records import dataclass, field
from validator.replay.form import Form, Lane

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(slots=True)
class Move:
    """A subject took a row."""

    machine: str
    subject: str
    source: str
    target: str
    row: Row


@dataclass(frozen=True, slots=True)
class Refusal:
    """A driver found no row: the move would be illegal."""

    machine: str
    subject: str
    state: str
    driver: Driver
    clause: str
    beside: Collection[str] = ()
    """Of kin in one state that is refused the same only the first is told; those that are refused beside it, and it."""


@dataclass(slots=True)
class Place:
    """What the order of a stream says about an event."""

    stream: str | None
    sequence: int | None
    previous: int | None
    verdict: str
    """first, next, gap, behind (not greater than the last), same (equal to the last), or none (no sequence)."""
    previous_line: int | None = None


@dataclass(slots=True)
class Step:
    """One line and everything it moved or failed to move."""

    line: dict[str, Any]
    number: int = 0
    offset: int = 0
    at: str | None = None
    """Its place in the line, when the line is an export that holds several."""
    kind: str = "event"
    """event, or the kind of record."""
    type: str | None = None
    """The event's catalogued type, a snapshot's model, or the record's kind."""
    place: Place | None = None
    repeats: int | None = None
    """The line that delivered the same event before; a repetition moves nothing."""
    reused: int | None = None
    """The line that used the same event id for another body."""
    moves: list[Move] = field(default_factory=list)
    stays: tuple[Move, ...] = ()
    """Rows by which kin of what moved stays as it is, one for all that are in one state: nothing is heard of them."""
    refusals: list[Refusal] = field(default_factory=list)
    scope: dict[str, str] = field(default_factory=dict)
    form: Form | None = None
    """What its keys are; worked out when somebody asks."""
    lane: Lane | None = None
    """Who attends to it; likewise."""
    raw: bytes | dict[str, Any] | None = None
    """The line in few bytes: as it was read, or made when somebody asks."""

    def taken(self) -> list[Move]:
        """Every row that was taken."""
        return [*self.moves, *self.stays] if self.stays else self.moves

    def packed(self) -> bytes | dict[str, Any]:
        """The line in few bytes, for those who keep one that has none yet."""
        self.raw = pack(self.line)
        return self.raw


@dataclass(slots=True)
class Stretch:
    """Lines of one stream that follow one another and repeat a step, but for their places, times and texts.

    Who keeps every line keeps them together; one by one they are read only when somebody asks for them.
    """

    like: Step
    number: int
    """The line of the first of them, and its sequence; the others count on from there."""
    sequence: int
    lines: list[bytes]
