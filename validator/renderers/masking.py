"""Documents of a capture made fit to be printed: no private path, secret or canary is left in a key or a value."""

from __future__ import annotations

from typing import Any

from validator import redact
from validator.protocol.protocol import Protocol

_PATHS = ("path", "escape", "backslash")


def masked(value: Any, protocol: Protocol, canaries: tuple[str, ...] = ()) -> Any:
    """A copy of a document in which every leak is masked; a field that is one leak as a whole is masked as a whole."""
    whole = {
        leak.segments: "[masked path]" if leak.kind in _PATHS else "[masked secret]"
        for leak in redact.scan(value, protocol, canaries)
        if not leak.in_key
    }
    return _Copy(whole, canaries).of(value, ())


class _Copy:
    """One document's walk."""

    def __init__(self, whole: dict[redact.Segments, str], canaries: tuple[str, ...]):
        self._whole, self._canaries = whole, canaries

    def of(self, value: Any, place: redact.Segments) -> Any:
        if isinstance(value, dict):
            return self._object(value, place)
        if isinstance(value, list):
            return [self.of(entry, (*place, index)) for index, entry in enumerate(value)]
        if not isinstance(value, str):
            return self._whole.get(place, value)
        shown = redact.mask(value, self._canaries)
        return shown if shown != value else self._whole.get(place, value)

    def _object(self, value: dict[str, Any], place: redact.Segments) -> dict[str, Any]:
        leaks = place in self._whole
        copied: dict[str, Any] = {}
        alike: dict[str, int] = {}
        for key, entry in value.items():
            name = _fresh(redact.mask(key, self._canaries), copied, alike)
            copied[name] = self._whole[place] if leaks and isinstance(entry, str) else self.of(entry, (*place, key))
        return copied


def _fresh(name: str, taken: dict[str, Any], alike: dict[str, int]) -> str:
    """Two names that are masked alike stay two; up to which number they are taken is noted."""
    if name not in taken:
        return name
    number = alike.get(name, 1) + 1
    while (fresh := f"{name} {number}") in taken:
        number += 1
    alike[name] = number
    return fresh
