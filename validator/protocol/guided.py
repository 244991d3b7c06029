"""The authority with a map: where a reference leads to what certainly fits, it does not follow.

A line that does not fit is read by the authority, which says what is wrong with it. Most of what such a line holds is
right all the same, and to find that out takes the authority longest where one schema refers to another. What an
acceptor accepts has no errors, so the errors of the rest are all there are.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from typing import Any

from referencing import Registry

from validator.protocol.authority import FORMATS, ValidationError, Validator, jsonschema_validators
from validator.protocol.fastpath.parts import UnsupportedError, resolve

Fits = Callable[[str, Any], bool]
_FOLLOW = Validator.VALIDATORS["$ref"]


class Guide:
    """What every reference of our schema files leads to."""

    def __init__(self, documents: dict[str, dict[str, Any]], base: str, registry: Registry, fits: Fits):
        self._documents, self._base, self._registry, self._fits = documents, base, registry, fits
        self._targets: dict[int, str] = {}
        """Subschemas, by their identity, to what they refer to; the files stay for as long as this does."""
        for path, document in documents.items():
            self._note(document, path)
        self._found: dict[str, Any] = {}
        self._validator = jsonschema_validators.extend(Validator, {"$ref": self._follow})
        self._roots: dict[str, dict[str, str]] = {}

    def validator(self, reference: str) -> Any:
        """A validator for one reference, formats on."""
        schema = self._roots.setdefault(reference, {"$ref": self._base + reference})
        self._targets[id(schema)] = reference
        return self._validator(schema, registry=self._registry, format_checker=FORMATS)

    def _note(self, schema: Any, path: str) -> None:
        waiting = [schema]
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict):
                reference = value.get("$ref")
                if isinstance(reference, str) and self._leads_somewhere(reference, path):
                    self._targets[id(value)] = _absolute(reference, path)
                waiting += value.values()
            elif isinstance(value, list):
                waiting += value

    def _leads_somewhere(self, reference: str, path: str) -> bool:
        try:
            resolve(self._documents, reference, path)
        except UnsupportedError:
            return False
        return True

    def _follow(self, validator: Any, reference: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
        target = self._targets.get(id(schema))
        if target is None:
            yield from _FOLLOW(validator, reference, instance, schema) or ()
        elif not self._fits(target, instance):
            found = self._found.get(target)
            if found is None:
                found = self._found[target] = self._registry.resolver().lookup(self._base + target)
            yield from validator.descend(instance, found.contents, resolver=found.resolver)


def _absolute(reference: str, path: str) -> str:
    """A reference of a file as one below the folder."""
    name, mark, fragment = reference.partition("#")
    home = posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) if name else path
    return f"{home}{mark}{fragment}"
