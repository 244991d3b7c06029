"""Records that stand before the log they sum up.

An export may begin with its run as it stood when the export was written. Read where it stands, such a record would say
that the run was over before it began. So a record before everything else about its subject waits while the events that
follow are older than it is: it is read before the first newer one, or at the end. Which records these are is protocol
data (`heads`).
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.capture.ndjson import Line
from validator.protocol.exports import parts
from validator.protocol.formats import instant
from validator.replay.world import World

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any


class Heads:
    """The records of one capture that wait for their place."""

    def __init__(self, world: World):
        self._world, self._lens = world, world.protocol.lens
        self._told = world.protocol.data.get("heads")
        self._waiting: dict[str, tuple[datetime, Line]] = {}

    def due(self, line: Line) -> Iterator[Line]:
        """The lines to read now that one more has come, in their order."""
        if self._told is None or not line.readable:
            yield line
            return
        for part in parts(self._world.protocol, line.document) if self._waiting else ():
            held = self._waiting.get(self._subject(part.document) or "")
            if held is not None and self._ends(part.document, held[0]):
                del self._waiting[self._subject(part.document) or ""]
                yield held[1]
        if not self._holds(line):
            yield line

    def rest(self) -> Iterator[Line]:
        """The lines that are read at the end."""
        while self._waiting:
            yield self._waiting.pop(next(iter(self._waiting)))[1]

    def _subject(self, document: dict[str, Any]) -> str | None:
        name = self._lens.get(document, self._told["subject"])
        return name if isinstance(name, str) else None

    def _holds(self, line: Line) -> bool:
        """True for a record that has to wait, because nothing about its subject came before it."""
        document, told = line.document, self._told
        if document.get("record") != told["record"] or document.get("status") in told["in_place"]:
            return False
        name, time = self._subject(document), instant(document.get(told["time"]))
        if name is None or time is None or self._world.state(told["machine"], name) is not None:
            return False
        self._waiting[name] = (time, line)
        return True

    def _ends(self, document: dict[str, Any], time: datetime) -> bool:
        """True for what a record of its subject has to stand before: another record about it, or a newer event."""
        if "record" in document:
            return True
        stamp = instant(self._lens.get(document, "timestamp"))
        return stamp is None or stamp > time
