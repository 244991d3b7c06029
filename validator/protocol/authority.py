"""The authority on validity: `jsonschema` with `referencing`. Loaded only when something is not certainly valid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema import validators as jsonschema_validators
from jsonschema.exceptions import SchemaError as InvalidSchema
from jsonschema.exceptions import ValidationError
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from validator.protocol.formats import ecma_regex, is_date_time

__all__ = [
    "FORMATS",
    "Draft202012Validator",
    "InvalidSchema",
    "Unresolvable",
    "ValidationError",
    "Validator",
    "build_registry",
    "jsonschema_validators",
]

FORMATS = FormatChecker(formats=())
FORMATS.checks("date-time")(is_date_time)


def _ecma_pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not ecma_regex(pattern).search(instance):
        yield ValidationError(f"does not match {pattern!r}")


Validator = jsonschema_validators.extend(Draft202012Validator, {"pattern": _ecma_pattern})


def build_registry(documents: dict[str, dict[str, Any]]) -> Registry:
    """An immutable registry of all documents by their addresses; nothing else can be reached from it."""
    # A document that names its dialect would be validated by the library's class for it instead of ours.
    resources = []
    for uri, document in documents.items():
        contents = {key: value for key, value in document.items() if key != "$schema"}
        resources.append((uri, Resource(contents=contents, specification=DRAFT202012)))
    return Registry().with_resources(resources).crawl()
