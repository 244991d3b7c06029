"""A regex over the text of a JSON string, loosened into one over the bytes that the string is written as.

Wherever the exact regex matches a string, the loosened one matches the bytes of any JSON line that holds the string, as
a key or as a value; the reverse is not promised. Three facts carry this:

* a character is written as itself (one byte, or some bytes beyond ASCII) or as an escape. `ESCAPED` matches every
  line in which an ASCII character beside a quotation mark, a tab and the ends of lines is escaped, so that here only
  those short escapes and escapes beyond ASCII have to be reckoned with;
* a string begins and ends at a quotation mark, so `^` and `$` are one;
* asking for less only matches more: look-arounds are dropped, what may be repeated may be repeated for ever, counts are
  capped, and optional ends are cut off.

The result uses no more syntax than Hyperscan, RE2 and the standard library share.
"""

from __future__ import annotations

import re
from re import _constants as c
from re import _parser
from typing import Any

ESCAPED = r"\\(?:[\\/]|u(?:00[0-7]|013[01]|017[fF]|212[aA]))|%[0-9A-Fa-f]{2}|\xc4[\xb0\xb1]|\xc5\xbf|\xe2\x84\xaa"
"""A line may hide something in an escape, in a string that reads otherwise once it is decoded again, or in one of the
four letters beyond ASCII that equal an `i`, `s` or `k` when case is ignored."""
_SHORT = {'"': '"', "\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
_BEYOND = r"[\x80-\xff]+|\\u[0-9a-fA-F]{4}"
_MOST = 24
"""Repetitions that are counted."""
_CATEGORIES = {
    c.CATEGORY_DIGIT: re.compile(r"\d"),
    c.CATEGORY_NOT_DIGIT: re.compile(r"\D"),
    c.CATEGORY_SPACE: re.compile(r"\s"),
    c.CATEGORY_NOT_SPACE: re.compile(r"\S"),
    c.CATEGORY_WORD: re.compile(r"\w"),
    c.CATEGORY_NOT_WORD: re.compile(r"\W"),
}
_REPEATS = (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT)
_ENDS = (c.AT_BEGINNING, c.AT_BEGINNING_STRING, c.AT_END, c.AT_END_STRING)


def loosen(regex: str) -> str | None:
    """The loosened form of a regex, to be matched against bytes; None when `ESCAPED` finds whatever it matches.

    A construct that no pattern of ours uses raises ValueError.
    """
    parsed = _parser.parse(regex)
    return _sequence(_trimmed(list(parsed)), parsed.state.flags)


def _trimmed(nodes: list[Any]) -> list[Any]:
    """A sequence without what its end may lack."""
    while nodes:
        kind, value = nodes[-1]
        if kind is c.SUBPATTERN and not value[1] and not value[2]:
            inner = _trimmed(list(value[3]))
            if inner:
                return [*nodes[:-1], *inner]
        elif kind in _REPEATS and value[0]:
            return [*nodes[:-1], (kind, (value[0], value[0], value[2]))]
        elif kind not in _REPEATS:
            return nodes
        nodes = nodes[:-1]
    return nodes


def _sequence(nodes: Any, flags: int) -> str | None:
    """What follows one after the other; None when a part of it is certainly escaped."""
    parts = [_node(kind, value, flags) for kind, value in nodes]
    return None if None in parts else "".join(parts)


def _node(kind: Any, value: Any, flags: int) -> str | None:
    if kind is c.LITERAL:
        return _characters([(kind, value)], flags)
    if kind is c.NOT_LITERAL:
        return _characters([(c.NEGATE, None), (c.LITERAL, value)], flags)
    if kind is c.ANY:
        return _characters([(c.NEGATE, None), (c.LITERAL, 10)], flags)
    if kind is c.IN:
        return _characters(value, flags)
    if kind is c.SUBPATTERN:
        _, added, removed, inner = value
        return _branches([inner], (flags | added) & ~removed)
    if kind is c.BRANCH:
        return _branches(value[1], flags)
    if kind in _REPEATS:
        return _repeated(*value, flags)
    if kind is c.AT and value in _ENDS:
        return '"' if value in _ENDS[:2] else r'(?:"|\\)'
    if kind in (c.ASSERT, c.ASSERT_NOT, c.AT):
        return ""
    if kind is c.ATOMIC_GROUP:
        return _branches([value], flags)
    raise ValueError(f"cannot loosen {kind}")


def _branches(branches: list[Any], flags: int) -> str | None:
    found = [text for branch in branches if (text := _sequence(branch, flags)) is not None]
    return f"(?:{'|'.join(found)})" if found else None


def _repeated(least: int, most: Any, inner: Any, flags: int) -> str | None:
    body = _branches([inner], flags)
    if body is None:
        return None if least else ""
    if most == 1:
        return body if least else f"{body}?"
    count = min(least, _MOST)
    return body + {0: "*", 1: "+"}.get(count, f"{{{count},}}")


def _characters(items: list[Any], flags: int) -> str | None:
    """One character of a class, as itself or escaped."""
    raw = [char for char in map(chr, range(0x20, 0x80)) if char not in '"\\' and _holds(items, char, flags)]
    short = "".join(sign for char, sign in _SHORT.items() if _holds(items, char, flags))
    parts = [_byte_class(raw)] if raw else []
    parts += [rf"\\[{short}]"] if short else []
    parts += [_BEYOND] if _reaches_beyond(items) else []
    if len(parts) < 2:
        return parts[0] if parts else None
    return f"(?:{'|'.join(parts)})"


def _reaches_beyond(items: list[Any]) -> bool:
    """True unless every character of a class is ASCII; letters that only equal one without case are `ESCAPED`."""
    if items[0][0] is c.NEGATE or any(kind is c.CATEGORY for kind, _ in items):
        return True
    return any((value if kind is c.LITERAL else value[1]) > 0x7F for kind, value in items)


def _holds(items: list[Any], char: str, flags: int) -> bool:
    """True when a class holds an ASCII character."""
    forms = {char, char.lower(), char.upper()} if flags & re.IGNORECASE else {char}
    found = any(_matches(kind, value, form) for kind, value in items for form in forms)
    return found != (items[0][0] is c.NEGATE)


def _matches(kind: Any, value: Any, char: str) -> bool:
    if kind is c.LITERAL:
        return ord(char) == value
    if kind is c.RANGE:
        return value[0] <= ord(char) <= value[1]
    return kind is c.CATEGORY and _CATEGORIES[value].match(char) is not None


def _byte_class(chars: list[str]) -> str:
    if len(chars) == 1:
        return chars[0] if chars[0].isalnum() else re.escape(chars[0])
    spans: list[list[int]] = []
    for code in map(ord, chars):
        if spans and spans[-1][1] == code - 1:
            spans[-1][1] = code
        else:
            spans.append([code, code])
    return "[" + "".join(rf"\x{a:02x}" if a == b else rf"\x{a:02x}-\x{b:02x}" for a, b in spans) + "]"
