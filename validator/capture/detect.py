"""Which protocol a capture is written in."""

from __future__ import annotations

from typing import Any

from validator.protocol import casing
from validator.protocol.exports import parts
from validator.protocol.protocol import Protocol, available, load_protocol


def detect(document: dict[str, Any]) -> str | None:
    """The protocol a line names (a header) or looks like (an event); None when it cannot be told."""
    if document.get("record") == "header":
        name, version = document.get("protocol"), document.get("version")
        known = [f"{name}/{version}", str(name)]
        matches = [entry for entry in available() if entry in known or entry.split("/")[0] in known]
        return matches[-1] if matches else None
    for entry in available():
        protocol = load_protocol(entry)
        inside = parts(protocol, document)[0].document
        for keys in protocol.data["detect"]:
            forms = [keys, [casing.camel(key) for key in keys]] if protocol.bindings else [keys]
            if any(all(key in inside for key in form) for form in forms):
                return entry
    return None


def protocol_of(document: dict[str, Any]) -> Protocol | None:
    """The protocol of a line, loaded."""
    found = detect(document)
    return load_protocol(found) if found else None
