"""JSON as the standard library reads and writes it, without loading the library.

To import `json` takes as long as to judge ten lines, and with it come regexes that nobody asks for. What it has written
in C does the work here too, and whatever that does not decide at once is left to the library.
"""

from __future__ import annotations

from collections.abc import Callable

try:
    from _json import encode_basestring_ascii, make_encoder, make_scanner
except ImportError:  # an interpreter that has none of it in C, or elsewhere
    make_encoder = make_scanner = None

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BLANK = " \t\n\r"


class _Hooks:
    """What a scanner reads by, named as the library names it."""

    strict, object_hook = True, None

    def __init__(self, hooks: dict[str, Any]):
        self.__dict__.update(hooks)


def reader(**hooks: Callable[[Any], Any]) -> Callable[[str], Any]:
    """Decodes texts as `json.JSONDecoder` does, with its four hooks."""
    if make_scanner is None:
        return _library(hooks)
    scan = make_scanner(_Hooks(hooks))

    def read(text: str) -> Any:
        try:
            value, end = scan(text, len(text) - len(text.lstrip(_BLANK)))
        except (StopIteration, SystemError):  # it has no words for a fault while nobody has loaded the library
            end = -1
        if end != len(text) and (end < 0 or text[end:].strip(_BLANK)):
            return _library(hooks)(text)  # which says what is wrong
        return value

    return read


def _library(hooks: dict[str, Any]) -> Callable[[str], Any]:
    import json

    return json.JSONDecoder(**hooks).decode


def _refuse(value: Any) -> None:
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _writer() -> Callable[[Any], str]:
    if make_encoder is None:
        import json

        return json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
    parts = make_encoder(None, _refuse, encode_basestring_ascii, None, ":", ",", True, False, True)
    return lambda value: "".join(parts(value, 0))


write = _writer()
"""The shortest text of a value, with its keys in order and nothing beyond ASCII."""
