"""Tables of declared fields: what may stand in a document, and what must."""

from __future__ import annotations

from validator.protocol.view import View
from validator.specgen.markdown import code, table

_RECORD_HINTS = {"date-time": "timestamp"}


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
    """What a place holds, in words: its vocabulary, or its type."""
    const = place.first("const")
    if const is not None:
        return f"`{const}`"
    enum = place.first("enum")
    if enum:
        return "one of " + code(enum)
    text = _type(place)
    return f"{text} or honest" if place.honest else text


def _type(place: View) -> str:
    types = place.types
    if "array" in types:
        inner = place.items()
        return f"list of {holds(inner)}" if inner.parts else "list"
    if "string" in types:
        hint = place.first("format")
        known = place.first("examples")
        if hint:
            return _RECORD_HINTS.get(hint, hint)
        if known and place.first("minLength") == 1 and not place.first("maxLength"):
            return "word, such as " + code(known)
        return "null or text" if "null" in types else "text"
    if "object" in types:
        inner = [name for name in place.properties() if name not in {"honest", "reason"} or not place.honest]
        return "object with " + code(inner) if inner else "object"
    return " or ".join(types) or "anything"
