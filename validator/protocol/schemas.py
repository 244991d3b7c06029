"""Builds the immutable schema registry, and explains why a document does not fit the one schema picked for it.

A document's schema is chosen by its type (see `protocol.py`), so an error speaks about *this* event and never about a
hundred alternatives. The registry has no retriever: a `$ref` that our own files do not answer is refused at load.
Messages describe what was expected and never repeat the offending value, because it may be a secret.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from validator.datafile import json_pointer, read_json, shown
from validator.errors import DefinitionError
from validator.protocol.fastpath import Accept, Compiler, mode
from validator.protocol.fastpath.parts import UnsupportedError, resolve

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from referencing import Registry

BASE = "https://agent-runtime.example/schemas/"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
HONEST = "honest.schema.json"


@dataclass(frozen=True, slots=True)
class SchemaError:
    """One way in which a document does not fit: where, which keyword, and what was expected instead."""

    pointer: str
    keyword: str
    message: str

    @property
    def key(self) -> str:
        """What tells it from another at the same place."""
        return f"{self.keyword} {self.message}"


class SchemaStore:
    """All `*.schema.json` files below one folder, resolved against each other and nothing else."""

    def __init__(self, root: Path):
        self.root = root
        self.files: dict[str, Path] = {}
        self.documents: dict[str, dict[str, Any]] = {}
        for path in sorted(root.rglob("*.schema.json")):
            uri = BASE + path.relative_to(root).as_posix()
            document = read_json(path)
            _check_header(path, uri, document)
            self.files[uri], self.documents[uri] = path, document
        self._by_path = {uri.removeprefix(BASE): document for uri, document in self.documents.items()}
        self._check_references()
        self._validators: dict[str, Any] = {}
        self._compiler = Compiler(self._by_path)
        self._acceptors: dict[str, Accept] = {}
        self._subschemas: dict[str, Any] = {}

    @functools.cached_property
    def registry(self) -> Registry:
        """All files for the authority; built when it is first asked."""
        from validator.protocol.authority import build_registry

        return build_registry(self.documents)

    def _check_references(self) -> None:
        for uri, document in self.documents.items():
            for place, reference in references(document):
                try:
                    self._resolve(reference, uri.removeprefix(BASE))
                except LookupError as error:
                    raise DefinitionError(
                        f"the $ref {reference!r} leads nowhere",
                        source=shown(self.files[uri]),
                        place=json_pointer(place),
                        hint="references are relative to the file and never fetched",
                    ) from error

    def _resolve(self, reference: str, file: str) -> Any:
        """What a reference in a file names; a `LookupError` when nothing does."""
        try:
            return resolve(self._by_path, reference, file)[0]
        except UnsupportedError:
            from validator.protocol.authority import Unresolvable
        try:
            return self.registry.resolver(base_uri=BASE + file).lookup(reference).contents
        except Unresolvable as error:
            raise LookupError(reference) from error

    def check_dialect(self) -> None:
        """Holds every file against the 2020-12 meta-schema; too slow for every start, so tests and `lock` call it."""
        from validator.protocol.authority import Draft202012Validator, InvalidSchema

        for uri, document in self.documents.items():
            try:
                Draft202012Validator.check_schema(document)
            except InvalidSchema as error:
                place = json_pointer(error.absolute_path)
                raise DefinitionError(error.message, source=shown(self.files[uri]), place=place) from error

    def subschema(self, reference: str) -> Any:
        """The schema a reference below the root folder names, such as `common/1/ids.schema.json#/$defs/id`."""
        if reference not in self._subschemas:
            try:
                found = self._resolve(reference, "")
            except LookupError as error:
                raise DefinitionError(f"there is no schema {reference!r}") from error
            plain = isinstance(found, dict) and "$schema" in found
            self._subschemas[reference] = _without_dialect(found) if plain else found
        return self._subschemas[reference]

    def validator(self, reference: str) -> Any:
        """A `jsonschema` validator for one reference, formats on; built once."""
        if reference not in self._validators:
            from validator.protocol.authority import FORMATS, Validator

            self.subschema(reference)
            schema = {"$ref": BASE + reference}
            self._validators[reference] = Validator(schema, registry=self.registry, format_checker=FORMATS)
        return self._validators[reference]

    def accepts(self, reference: str, document: Any) -> bool:
        """True when a document certainly fits; False decides nothing."""
        accept = self._acceptors.get(reference)
        if accept is None:
            accept = self._acceptors[reference] = _never if mode() == "off" else self._compiler.accept(reference)
        try:
            return bool(accept(document))
        except RecursionError:
            return False

    def errors(self, reference: str, document: Any) -> list[SchemaError]:
        """Every reason why a document does not fit, in a stable order, each once."""
        if self.accepts(reference, document):
            return []
        found = {
            SchemaError(json_pointer(leaf.absolute_path), str(leaf.validator or "false"), describe(leaf))
            for error in self.validator(reference).iter_errors(document)
            for leaf in leaves(error)
        }
        return sorted(found, key=lambda error: (error.pointer, error.keyword, error.message))


def _without_dialect(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != "$schema"}


def _never(_document: Any) -> bool:
    return False


def _check_header(path: Path, uri: str, document: Any) -> None:
    if not isinstance(document, dict):
        raise DefinitionError("a schema file must hold an object", source=shown(path))
    if document.get("$id") != uri:
        raise DefinitionError(f"$id must be {uri}", source=shown(path), place="/$id")
    if document.get("$schema") != DIALECT:
        raise DefinitionError(f"$schema must be {DIALECT}", source=shown(path), place="/$schema")


@functools.lru_cache(maxsize=8)
def load_store(root: Path) -> SchemaStore:
    """The store of one folder; read once in a process."""
    return SchemaStore(root)


_DATA_KEYWORDS = {"const", "enum", "examples", "default"}


def references(schema: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every `$ref` in a schema with its place; values that are data are not searched."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "$ref" and isinstance(value, str):
                yield (*place, key), value
            elif key == "properties" and isinstance(value, dict):
                for name, sub in value.items():
                    yield from references(sub, (*place, key, name))
            elif key not in _DATA_KEYWORDS:
                yield from references(value, (*place, key))
    elif isinstance(schema, list):
        for index, value in enumerate(schema):
            yield from references(value, (*place, index))


def leaves(error: ValidationError) -> Iterator[ValidationError]:
    """The errors that tell a person what to mend: an `anyOf` is replaced by its branch that was meant."""
    if error.validator not in {"anyOf", "oneOf"} or not error.context:
        yield error
        return
    branches: dict[int, list[ValidationError]] = {}
    for child in error.context:
        branches.setdefault(int(child.schema_path[0]), []).append(child)
    meant = _meant(error, branches)
    if meant is None:
        yield error
        return
    for child in branches[meant]:
        yield from leaves(child)


def _meant(error: ValidationError, branches: dict[int, list[ValidationError]]) -> int | None:
    schemas = error.validator_value
    honest = {index for index in branches if str(schemas[index].get("$ref", "")).endswith(HONEST)}
    if isinstance(error.instance, dict) and "honest" in error.instance and honest:
        return min(honest)
    others = [index for index in branches if index not in honest]
    if len(others) == 1:
        return others[0]
    # Of several real alternatives, the one whose errors lie deepest came closest.
    depth = {index: max(len(child.relative_path) for child in branches[index]) for index in others}
    deepest = [index for index in others if depth[index] == max(depth.values()) > 0]
    return deepest[0] if len(deepest) == 1 else None


_JSON_TYPES = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number"}


def kind_of(value: Any) -> str:
    """The JSON name of a value's type, for messages that must not repeat the value."""
    return "null" if value is None else _JSON_TYPES.get(type(value), "value")


def describe(error: ValidationError) -> str:
    """What a keyword asked for, without the value that was found."""
    wanted, got = error.validator_value, kind_of(error.instance)
    match error.validator:
        case "type":
            names = wanted if isinstance(wanted, str) else " or ".join(wanted)
            return f"must be {names}, is {got}"
        case "required":
            missing = [name for name in wanted if name not in error.instance]
            return f"lacks {', '.join(missing)}"
        case "enum":
            return f"must be one of {', '.join(str(value) for value in wanted)}"
        case "const":
            return f"must be {wanted!r}"
        case "pattern":
            return f"must match {wanted}"
        case "format":
            return f"is not a {wanted} that exists"
        case "minimum" | "maximum" | "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties":
            return f"breaks {error.validator} {wanted}"
        case "anyOf" | "oneOf":
            return f"fits none of {len(wanted)} alternatives"
        case "additionalProperties" | "unevaluatedProperties":
            return "has a property that is not allowed here"
        case None:
            return "is not allowed here"
        case keyword:
            return f"breaks {keyword}"
