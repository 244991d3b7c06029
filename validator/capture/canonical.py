"""A line as the judge reads it: exports taken apart, and every declared property in the canonical casing."""

from __future__ import annotations

from collections.abc import Callable

from validator.capture.lines import RECORDS, inner
from validator.protocol import casing
from validator.protocol.exports import parts
from validator.protocol.fastpath import mode
from validator.protocol.glance import glance
from validator.protocol.protocol import Protocol
from validator.protocol.respelling import Respelling, respelling
from validator.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_UNMET, _MET = object(), object()
"""What is known of a layout that did not come yet, and of one that came once."""


@dataclass(slots=True)
class Reading:
    """One document to judge."""

    document: dict[str, Any]
    at: str | None = None
    """Its place in the line, when the line is an export."""
    export: str = ""
    """The export that it is the envelope of."""
    foreign: dict[str, bool] = field(default_factory=dict)
    """Declared properties in the casing the capture is not written in, and whether the usual one says otherwise."""


class Canonical:
    """Reads the lines of one capture; the first event tells the casing, unless the header did."""

    def __init__(self, protocol: Protocol):
        self._protocol = protocol
        self._is_bound, self._exports = bool(protocol.bindings), bool(protocol.data.get("exports"))
        self._casing: str | None = None
        self._by_layout = mode() != "off"

    @property
    def spell(self) -> Callable[[str], str]:
        """How the capture spells a declared property."""
        return casing.camel if self._casing == "camelCase" else str

    def event(self, line: dict[str, Any]) -> dict[str, Any] | None:
        """An event in canonical form, when the casing is known and its keys tell the rest; None leaves it to `read`."""
        if "record" in line:
            return None
        if not self._is_bound:
            return None if self._exports and self._protocol.lens.type(line) is None else line
        if self._casing is None:
            return None
        if self._casing == "snake_case" and not casing.has_camel(line):
            return line
        kind = line.get("type")
        if not self._by_layout or not isinstance(kind, str):
            return None
        layout, mark = glance(line)[2], (self._protocol, self._casing, self._protocol.schema_for(kind))
        known = layout.answers.get(mark, _UNMET)
        if known is _MET:
            known = layout.answers[mark] = self._respelling(line)
        elif known is _UNMET:
            layout.answers[mark] = _MET  # what comes once is not worth it
            return None
        return None if known is None else known(line)

    def _respelling(self, line: dict[str, Any]) -> Respelling | None:
        """What respells documents with the layout of this one; None where a name is spelt in the other casing."""
        converted = self._converted(line)
        return None if converted.foreign else respelling(line, converted.document) or _same

    def read(self, line: dict[str, Any]) -> list[Reading]:
        """What a line holds, in the order it is to be judged."""
        if self._is_bound:
            return [self._one(line)]
        return [Reading(part.document, part.at, part.export) for part in parts(self._protocol, line)]

    def _one(self, line: dict[str, Any]) -> Reading:
        if "record" in line:
            return self._record(line)
        if self._casing is None:
            self._casing = casing.detect(line)
        if self._casing != "camelCase" and not casing.has_camel(line):
            return Reading(line)
        converted = self._converted(line)
        return Reading(converted.document, foreign=converted.foreign)

    def _converted(self, line: dict[str, Any]) -> casing.Conversion:
        kind = line.get("type")
        reference = self._protocol.schema_for(kind if isinstance(kind, str) else None)
        return casing.to_canonical(self._protocol.store, reference, line, self._casing or "snake_case")

    def _record(self, line: dict[str, Any]) -> Reading:
        """A record's own fields in either casing; what it carries is held to the casing of the events."""
        if line["record"] == "header" and line.get("casing") in {"snake_case", "camelCase"} and not self._casing:
            self._casing = line["casing"]
        if self._casing != "camelCase" and not casing.has_camel(line):
            return Reading(line)
        own = self._own_names(line)
        found = inner(self._protocol, own)
        if found is None or not found[0]:
            return Reading(own)
        pointer, reference = found
        key = pointer.strip("/")
        written = self._casing or casing.spelling(own[key])
        converted = casing.to_canonical(self._protocol.store, reference, own[key], written)
        foreign = {pointer + place: contradicted for place, contradicted in converted.foreign.items()}
        return Reading({**own, key: converted.document}, foreign=foreign)

    def _own_names(self, line: dict[str, Any]) -> dict[str, Any]:
        store = self._protocol.store
        kind = line["record"]
        if not isinstance(kind, str) or kind not in store.subschema("capture/1/records.schema.json")["$defs"]:
            return line
        spellings = casing.names(store, RECORDS + kind).spellings
        return {spellings.get(key, key): value for key, value in line.items()}


def _same(document: dict[str, Any]) -> dict[str, Any]:
    return document
