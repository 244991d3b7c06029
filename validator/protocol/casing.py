"""The camelCase binding, derived from the schemas and never written by hand.

Only declared properties are renamed. Keys of free maps, tool arguments and vendor fields are data and stay as they are,
which is why a document can be converted only along its schema. Going there and back gives the same document.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from validator.protocol.glance import Keys, glance, remembered
from validator.protocol.regex import compiled
from validator.protocol.schemas import SchemaStore
from validator.protocol.view import View, view
from validator.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_UNDERSCORE = r"(?<=[a-z0-9])_([a-z0-9])"


def camel(name: str) -> str:
    """`tool_call_id` as `toolCallId`."""
    return compiled(_UNDERSCORE).sub(lambda match: match.group(1).upper(), name)


@dataclass(slots=True)
class Conversion:
    """A document in another casing, and where it held declared properties in the casing it is not written in."""

    document: Any
    foreign: dict[str, bool] = field(default_factory=dict)
    """Pointer to whether the other spelling stands beside it with another value."""


class Names:
    """What one place of a schema declares, in both spellings; worked out when it is first asked for."""

    def __init__(self, shape: View):
        self._shape = shape
        self._below: dict[str, Names] = {}

    @functools.cached_property
    def _declared(self) -> dict[str, View]:
        return self._shape.properties()

    @functools.cached_property
    def spellings(self) -> dict[str, str]:
        """Either spelling of a declared property, to the canonical one."""
        return {camel(name): name for name in self._declared} | {name: name for name in self._declared}

    @functools.cached_property
    def items(self) -> Names:
        return Names(self._shape.items())

    @functools.cached_property
    def values(self) -> Names:
        return Names(self._shape.values())

    def below(self, name: str) -> Names:
        """What is declared inside a declared property."""
        if name not in self._below:
            self._below[name] = Names(self._declared[name])
        return self._below[name]


@functools.lru_cache(maxsize=1024)
def names(store: SchemaStore, reference: str) -> Names:
    """The names of one schema; made once."""
    return Names(view(store, reference))


def to_camel(store: SchemaStore, reference: str, document: Any) -> Conversion:
    """A canonical document in the camelCase binding."""
    return _convert(store, reference, document, "snake_case", camel)


def to_canonical(store: SchemaStore, reference: str, document: Any, written: str = "camelCase") -> Conversion:
    """A document in canonical form; it is written in one casing, and the other is read all the same."""
    return _convert(store, reference, document, written, str)


def _convert(
    store: SchemaStore, reference: str, document: Any, written: str, spell: Callable[[str], str]
) -> Conversion:
    conversion = Conversion(None)
    usual = camel if written == "camelCase" else str
    conversion.document = _rename(document, names(store, reference), usual, spell, conversion.foreign, "")
    return conversion


def _rename(
    value: Any,
    known: Names,
    usual: Callable[[str], str],
    spell: Callable[[str], str],
    foreign: dict[str, bool],
    pointer: str,
) -> Any:
    if isinstance(value, list):
        return [
            _rename(element, known.items, usual, spell, foreign, f"{pointer}/{index}")
            for index, element in enumerate(value)
        ]
    if not isinstance(value, dict):
        return value
    renamed: dict[str, Any] = {}
    for key, sub in value.items():
        here = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
        name = known.spellings.get(key)
        if name is None:
            renamed[key] = _rename(sub, known.values, usual, spell, foreign, here)
            continue
        if usual(name) != key:
            foreign[here] = usual(name) in value and value[usual(name)] != sub
            if usual(name) in value:
                continue
        renamed[spell(name)] = _rename(sub, known.below(name), usual, spell, foreign, here)
    return renamed


def has_camel(value: dict[str, Any] | list[Any]) -> bool:
    """True when any key of a document has a capital: most documents in snake_case need no other look."""
    return remembered(_has_capital, glance(value)[0])


def _has_capital(shape: Keys) -> bool:
    whole = "".join(["".join(keys) for keys in shape])
    return whole != whole.lower()


def camel_schema(schema: Any) -> Any:
    """A schema with its declared properties renamed; enums, examples and constants are data and stay."""
    if isinstance(schema, list):
        return [camel_schema(sub) for sub in schema]
    if not isinstance(schema, dict):
        return schema
    renamed: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            renamed[key] = {camel(name): camel_schema(sub) for name, sub in value.items()}
        elif key == "required":
            renamed[key] = [camel(name) for name in value]
        elif key in {"enum", "const", "examples", "default"}:
            renamed[key] = value
        elif key == "$defs":
            renamed[key] = {name: camel_schema(sub) for name, sub in value.items()}
        else:
            renamed[key] = camel_schema(value)
    return renamed


def spelt(document: Any, pointer: str) -> str:
    """A pointer into the canonical form of a document, with the names that the document itself uses."""
    steps: list[str] = []
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict):
            if name not in document and camel(name) in document:
                name, step = camel(name), camel(step)
            document = document.get(name)
        elif isinstance(document, list) and name.isdecimal() and int(name) < len(document):
            document = document[int(name)]
        steps.append(step)
    return "".join(f"/{step}" for step in steps)


def spelling(document: Any) -> str:
    """The casing most of a document's own keys are in, for what comes before the first event."""
    keys = list(document) if isinstance(document, dict) else []
    return "camelCase" if sum(key != key.lower() for key in keys) > sum("_" in key for key in keys) else "snake_case"


def detect(event: dict[str, Any]) -> str | None:
    """The casing of an event, told by the one name that every event carries and that the casings spell apart."""
    if "event_id" in event:
        return "snake_case"
    return "camelCase" if "eventId" in event else None
