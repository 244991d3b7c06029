"""Hides paths of machines and secrets, in events before they are kept and in output before it is stored.

A path is replaced by its last segment, so that a reader still knows which file was meant (RED-7); a secret by a
marker. Values that the host knows to be secret are hidden in their common encodings too.
"""

from __future__ import annotations

import base64
import functools
import re
from dataclasses import dataclass
from typing import Any

from reference_runtime.patterns import Span, leaks, may_leak, tables

MARKER = "[redacted]"
FREE = ("payload", "execution_environment", "telemetry")
_MORE = re.compile(r"(?:[^\s\"'<>|]*(?: [^\s\"'<>|/\\:]{1,40}){0,3}\\)*[^\s\"'<>|]*")
"""What still belongs to a path on a drive whose names hold spaces."""
_TRAILING = re.compile(r"[\s.,;:!?)\]}'\"…]+$")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ROUNDS = 8


def clean(event: dict[str, Any], free: tuple[str, ...] = FREE) -> dict[str, Any]:
    """The event without paths and secrets; ids, types and times are never touched (RED-23)."""
    told = {name: event[name] for name in free if name in event}
    texts: list[str] = []
    waiting: list[Any] = [told]
    for value in waiting:
        if type(value) is dict:
            if not _are_harmless(tuple(value)):
                break
            value = value.values()
        for sub in value:
            if type(sub) is str:
                if sub not in _harmless:
                    texts.append(sub)
            elif type(sub) is dict or type(sub) is list:
                waiting.append(sub)
    else:
        if not texts or _are_clean(texts):
            return event
    return event | {name: _clean(value, name) for name, value in told.items()}


_harmless: set[str] = set()
"""Short texts that hold no leak whatever their place; reasons, owners and kinds come again and again."""
_MOST, _SHORT = 4096, 64


def _are_clean(texts: list[str]) -> bool:
    """True when certainly none of these texts holds a leak; the short ones are remembered."""
    if may_leak(texts):
        return False
    if len(_harmless) > _MOST:
        _harmless.clear()
    _harmless.update([text for text in texts if len(text) <= _SHORT])
    return True


@functools.lru_cache(maxsize=4096)
def _are_harmless(keys: tuple[str, ...]) -> bool:
    """True when no key holds a leak, and none says that its value is a secret; objects have the same few keys."""
    return all(_name(key) == key and not _holds("secret", key) for key in keys)


def _clean(value: Any, name: str, beside: frozenset[str] = frozenset()) -> Any:
    if isinstance(value, str):
        return _told(value, name, beside)
    if isinstance(value, list):
        return [_clean(entry, name, beside) for entry in value]
    if isinstance(value, dict):
        return {_name(key): _clean(entry, key, frozenset(value)) for key, entry in value.items()}
    return value


@functools.lru_cache(maxsize=4096)
def _name(key: str) -> str:
    """A key without leaks; most are names of the contract and come again and again."""
    return hidden(key)[0]


def _told(text: str, name: str, beside: frozenset[str]) -> str:
    """A text as a field of that name may tell it."""
    if _holds("secret", name) and text.lower() not in tables().harmless and not tables().markers.match(text):
        return MARKER
    route = beside & set(tables().names["path"]["unless_beside"])
    place = "path" if _holds("path", name) and not route else "reference" if _holds("reference", name) else "text"
    return hidden(text, place, guesses=not _holds("identity", name))[0]


@functools.lru_cache(maxsize=4096)
def _holds(what: str, name: str) -> bool:
    """True when a field's name says that it holds a path, a reference, a secret or an identity."""
    words, names = [word.lower() for word in _WORDS.findall(name)], tables().names[what]
    if not words:
        return False
    by_end = words[-1] in names.get("last", ()) and (len(words) < 2 or words[-2] not in names.get("unless_before", ()))
    return by_end or " ".join(words) in names.get("whole", ())


def hidden(text: str, place: str = "text", *, guesses: bool = True) -> tuple[str, set[str]]:
    """A text in which nothing is left to hide, and the kinds of what was hidden."""
    kinds: set[str] = set()
    for _ in range(_ROUNDS):
        found = leaks(text, place, guesses=guesses)
        if not found:
            return text, kinds
        kinds |= {kind for _, _, kind in found}
        text = _replaced(text, found)
    return MARKER, kinds


def _replaced(text: str, found: list[Span]) -> str:
    parts, done = [], 0
    for start, end, kind in found:
        if start < done:
            continue
        if kind == "path":
            end = max(end, _MORE.match(text, end).end()) if "\\" in text[start:end] else end
            end = max(start + 1, end - len(_trailing(text[start:end])))
        parts += [text[done:start], _last(text[start:end]) if kind == "path" else MARKER]
        done = end
    return "".join(parts) + text[done:]


def _trailing(path: str) -> str:
    match = _TRAILING.search(path)
    return match.group() if match else ""


def _last(path: str) -> str:
    """The last segment of a path that is deep enough not to tell a person's name."""
    segments = [segment for segment in re.split(r"[\\/]+", path) if segment and not segment.endswith(":")]
    named = len(segments) > 2 and _PLAIN_NAME.fullmatch(segments[-1])
    return f"[{segments[-1]}]" if named and not leaks(segments[-1]) else "[path]"


@dataclass(frozen=True, slots=True)
class Mask:
    """Hides what one bench must not tell: its folders, the secrets it knows, and whatever has the shape of a leak."""

    folders: tuple[str, ...] = ()
    """Where the workspace lies; inside it paths are told as the workspace sees them."""
    known: tuple[str, ...] = ()

    def __call__(self, text: str) -> tuple[str, set[str]]:
        text, kinds = text.encode("utf-8", "replace").decode(), set()  # half a character is no text
        for form in self.forms():
            if form in text:
                text, kinds = text.replace(form, MARKER), kinds | {"secret"}
        for folder in self.folders:
            text = re.sub(re.escape(folder) + r"(?:/+|(?![A-Za-z0-9_.-]))", _inside, text)
        text, more = hidden(text)
        return text, kinds | more

    def begins(self) -> list[str]:
        """The first lines of known secrets that have several, in small letters."""
        return [form.partition("\n")[0].lower() for form in self.forms() if "\n" in form]

    def forms(self) -> list[str]:
        """Every known secret as it is and encoded, the longest first."""
        return sorted({form for value in self.known for form in _encoded(value)}, key=len, reverse=True)


def _inside(match: re.Match[str]) -> str:
    return "" if match.group().endswith("/") else "."


def _encoded(value: str) -> set[str]:
    raw = value.encode()
    forms = {value, raw.hex(), raw.hex().upper(), "".join(f"%{byte:02X}" for byte in raw)}
    for shift in range(3) if len(raw) >= 6 else ():
        core = base64.b64encode(b"\0" * shift + raw).decode().rstrip("=")
        core = core[(0, 2, 3)[shift] : len(core) - bool((len(raw) + shift) % 3)]
        forms |= {core, core.replace("+", "-").replace("/", "_")}
    return forms
