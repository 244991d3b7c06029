"""Tables of declared fields: what may stand in a document, and what must."""

from __future__ import annotations

from validator.protocol.view import View
from validator.specgen.markdown import code, table

_PLAIN_NAMES = {
    "ids.id": "id",
    "ids.id_list": "list of ids",
    "ids.event_type": "event type",
    "ids.sha256": "SHA-256",
    "ids.ulid": "ULID",
    "refs.ref": "reference",
    "refs.ref_list": "list of references",
    "refs.refs": "map of references",
    "refs.relative_path": "relative path",
    "refs.error": "error",
    "time.timestamp": "timestamp",
    "time.duration_ms": "milliseconds",
}


def field_table(shape: View, skip: tuple[str, ...] = ()) -> str:
    """One row per declared field: name, what it holds, whether it is required, what it means."""
    required = shape.required()
    rows = [
        (f"`{name}`", holds(place), "yes" if name in required else "", str(place.first("description") or ""))
        for name, place in shape.properties().items()
        if name not in skip
    ]
    if not rows:
        return "No fields are declared; whatever stands there is carried."
    return table(("Field", "Holds", "Required", "Meaning"), rows)


def holds(place: View) -> str:
    """What a place holds, in words: its vocabulary, its definition's name, or its type."""
    const = place.first("const")
    if const is not None:
        return f"`{const}`"
    enum = place.first("enum")
    if enum:
        return "one of " + code(enum)
    text = _named(place) or _type(place)
    return f"{text}, or honest" if place.honest else text


def _named(place: View) -> str:
    for name in place.names:
        stem, _, definition = name.partition(".")
        if name in _PLAIN_NAMES:
            return _PLAIN_NAMES[name]
        if stem == "records":
            return f"`{definition}`"
    return ""


def _type(place: View) -> str:
    types = place.types
    if "array" in types:
        inner = place.items()
        return f"list of {holds(inner)}" if inner.parts else "list"
    if "string" in types:
        known = place.first("examples")
        if known and place.first("minLength") == 1 and not place.first("maxLength"):
            return "word, such as " + code(known)
        return "null or text" if "null" in types else "text"
    if "object" in types:
        inner = list(place.properties())
        return "object with " + code(inner) if inner else "object"
    return " or ".join(types) or "anything"
