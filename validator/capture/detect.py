"""Which protocol a capture is written in."""

from __future__ import annotations

from validator.protocol import casing
from validator.protocol.exports import parts
from validator.protocol.protocol import Protocol, available, load_protocol, outline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def detect(document: dict[str, Any]) -> str | None:
    """The protocol a line names (a header) or looks like (an event); None when it cannot be told."""
    if document.get("record") == "header":
        meant = [entry for entry in available() if names(document, entry)]
        namesakes = [entry for entry in available() if entry.partition("/")[0] == document.get("protocol")]
        return (meant or namesakes or [None])[-1]
    found = [(_likeness(load_protocol(entry), document), entry) for entry in available() if _may_be(entry, document)]
    best, name = max(found, key=lambda pair: pair[0], default=((False, 0), None))
    return name if best[1] else None


def names(header: dict[str, Any], protocol: str) -> bool:
    """True when a header names this protocol, in this version, in a later edition of it, or in none."""
    name, version = header.get("protocol"), header.get("version")
    known, _, number = protocol.partition("/")
    return name in (known, protocol) and (version is None or f"{version}.".startswith(f"{number}."))


def _may_be(entry: str, document: dict[str, Any]) -> bool:
    """False when a protocol's own file already says that a line is none of its events; then it need not be loaded."""
    data = outline(entry)
    if any(all(key in document for key in export["has"]) for export in data.get("exports", {}).values()):
        return True
    camel = data["casing"]["bindings"]
    return any(
        all(key in document or (camel and casing.camel(key) in document) for key in keys) for keys in data["detect"]
    )


def _likeness(protocol: Protocol, document: dict[str, Any]) -> tuple[bool, int]:
    """How much a line looks like an event: whether its type is listed, and how many telling keys it has."""
    inside = parts(protocol, document)[0].document
    telling = [keys for keys in protocol.data["detect"] for keys in _forms(protocol, keys) if keys <= inside.keys()]
    if not telling:
        return False, 0
    return protocol.type_of(inside) in protocol.events, max(map(len, telling))


def _forms(protocol: Protocol, keys: list[str]) -> list[set[str]]:
    camel = [{casing.camel(key) for key in keys}] if protocol.bindings else []
    return [set(keys), *camel]


def protocol_of(document: dict[str, Any]) -> Protocol | None:
    """The protocol of a line, loaded."""
    found = detect(document)
    return load_protocol(found) if found else None
