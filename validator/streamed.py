"""Which events of a protocol are streamed text, and where what they say of themselves stands in them."""

from __future__ import annotations

import functools

from validator.protocol.protocol import Protocol
from validator.records import dataclass

Path = tuple[str, ...]
Fields = dict[str, str]
"""Fields of a payload to what they hold: `text`, a position that `grows`, or the `size` of the text."""
ENVELOPE = ("event_id", "timestamp", "sequence")
"""What a line of a stream says of itself beside its text, where its protocol has it."""


@dataclass(frozen=True, slots=True)
class Streamed:
    """The streamed text of one protocol."""

    group: str
    """The identity that all lines of one stream share, and another line that has to do with it has as well."""
    types: dict[str, Fields]
    """The fields of a payload in which such lines may differ."""
    counted: dict[str, frozenset[str]]
    """Fields of a payload that may count up, and that no rule reads."""


STREAMED = {
    "agent-runtime": Streamed(
        "session_id",
        {
            "model.delta": {"delta": "text", "text": "text"},
            "reasoning.delta": {"text": "text", "delta": "text"},
            "process.output": {"text": "text", "offset": "grows", "size_bytes": "size"},
            "tool.args": {"delta": "text"},
        },
        {"model.delta": frozenset({"index"})},
    ),
    "agent-threads": Streamed("stream_id", {"text-delta": {"delta": "text"}, "reasoning": {"text": "text"}}, {}),
}


@dataclass(frozen=True, slots=True)
class Frame:
    """Where the parts of an event stand in one protocol."""

    group: str
    """The key of a line whose value the lines of one stream share."""
    payload: Path
    envelope: dict[str, Path]
    """Those of `ENVELOPE` that the protocol has."""

    def own(self, fields: Fields) -> frozenset[Path]:
        """Where lines of one stream may differ."""
        return frozenset([*self.envelope.values(), *((*self.payload, name) for name in fields)])


@functools.lru_cache(maxsize=8)
def frame_of(protocol: Protocol) -> Frame:
    """The frame of a protocol that streams text."""
    lens = protocol.lens
    envelope = {name: lens.path(name) for name in ENVELOPE if name in protocol.data["fields"]}
    return Frame(lens.path(STREAMED[protocol.name].group)[0], lens.path("payload"), envelope)
