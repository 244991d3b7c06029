"""Builds the immutable schema registry, and explains why a document does not fit the one schema picked for it.

A document's schema is chosen by its type (see `protocol.py`), so an error speaks about *this* event and never about a
hundred alternatives. The registry has no retriever: a `$ref` that our own files do not answer is refused at load.
Messages describe what was expected and never repeat the offending value, because it may be a secret.
"""

from __future__ import annotations

import functools
import os
import posixpath
from collections.abc import Iterator

from validator.datafile import json_pointer, read_json, shown
from validator.errors import DefinitionError
from validator.protocol.fastpath import Accept, mode, restore
from validator.protocol.glance import glance
from validator.protocol.keep import Keep, keep_for
from validator.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from jsonschema.exceptions import ValidationError
    from referencing import Registry

    from validator.protocol.fastpath.compiler import Compiler
    from validator.protocol.guided import Guide

BASE = "https://agent-runtime.example/schemas/"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
HONEST = "honest.schema.json"
_OFTEN = 200
"""Lines of one layout after which an acceptor of their own costs less than it saves."""
_MOST = 1024
"""Layouts that get one."""
_SOON, _FEW = 16, 8
"""Documents of a writer after which a layout among them gets one, and layouts of the same keys that do."""
_SOME = 32
"""Documents that do not fit before it pays to find out of their parts which of them do."""


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


class Definitions:
    """The definitions of one contract that were read, and those that earlier runs read and found sound."""

    def __init__(self, root: str, kept: Keep):
        self._base, self._kept = os.path.dirname(root), kept
        self._new: dict[str, Any] = {}

    def get(self, path: str) -> dict[str, Any] | None:
        """What a file holds, if that is kept."""
        return (self._kept.get("definitions") or {}).get(self._name(path))

    def are_proved(self, path: str) -> bool:
        """True for a file whose content was checked as a whole before it was kept."""
        return self.get(path) is not None

    def keep(self, path: str, data: dict[str, Any]) -> dict[str, Any]:
        """Has a definition kept; the whole run has to prove sound first."""
        if self._name(path) is not None:
            self._new[self._name(path)] = data
            self._kept.put("definitions", lambda: {**(self._kept.get("definitions") or {}), **self._new})
        return data

    def _name(self, path: str) -> str | None:
        """A file's name below the contract; None for a file elsewhere, which is never kept."""
        return path[len(self._base) :] if path.startswith(self._base + os.sep) else None


class Ways(list[Accept]):
    """Acceptors of layouts, and how many documents had none of them."""

    missed = 0


class SchemaStore:
    """All `*.schema.json` files below one folder, resolved against each other and nothing else."""

    def __init__(self, root: str | Path):
        self.place = os.fspath(root)
        self.kept = keep_for(self.place)
        self.definitions = Definitions(self.place, self.kept)
        self._validators: dict[str, Any] = {}
        self._acceptors: dict[str, Accept] = {}
        self._ways: dict[tuple[str, ...], Ways] = {}
        """By a reference and the keys of a document, the acceptors of layouts that a writer came with."""
        self._guides: dict[str, Any] = {}
        self._subschemas: dict[str, Any] = {}
        self._refused = 0
        """Documents that the authority was asked about."""
        self._made = 0
        """Acceptors that were made for layouts."""
        # The proof is an entry of its own: what the files hold is asked for only when a document does not fit.
        if self.kept.get("references") is None:
            self._check_references()
            self.kept.put("references", lambda: True)

    @functools.cached_property
    def root(self) -> Path:
        """The folder."""
        from pathlib import Path

        return Path(self.place)

    @functools.cached_property
    def _by_path(self) -> dict[str, dict[str, Any]]:
        """Every schema file by its path below the folder; read when it is first asked for."""
        known = self.kept.get("schemas")
        if known is not None:
            return known
        found = {}
        for path in sorted(self.root.rglob("*.schema.json")):
            name = path.relative_to(self.root).as_posix()
            document = read_json(path)
            _check_header(path, BASE + name, document)
            found[name] = document
        self.kept.put("schemas", lambda: found)
        return found

    @functools.cached_property
    def documents(self) -> dict[str, dict[str, Any]]:
        """Every schema file by its address."""
        return {BASE + name: document for name, document in self._by_path.items()}

    @property
    def files(self) -> dict[str, Path]:
        """Where each schema lies, by its address."""
        return {BASE + name: self.root / name for name in self._by_path}

    @functools.cached_property
    def _compiler(self) -> Compiler:
        return self._new_compiler()

    def _new_compiler(self) -> Compiler:
        from validator.protocol.fastpath.compiler import Compiler  # what is kept needs none

        return Compiler(self._by_path)

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
        from validator.protocol.fastpath.parts import UnsupportedError, resolve

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

    def guided(self, reference: str) -> Any:
        """A validator for one reference that says the same and leaves out what certainly fits."""
        if reference not in self._guides:
            self._guides[reference] = self._guide.validator(reference)
        return self._guides[reference]

    @functools.cached_property
    def _guide(self) -> Guide:
        from validator.protocol.guided import Guide  # what fits throughout needs none

        return Guide(self._by_path, BASE, self.registry, self.accepts)

    def accepts(self, reference: str, document: Any) -> bool:
        """True when a document certainly fits; False decides nothing."""
        accept = self._acceptors.get(reference)
        if accept is None:
            if mode() == "off":
                return False  # not remembered: another capture of this process may be judged in another mode
            accept = self._acceptors[reference] = self._acceptor(reference)
        try:
            return bool(accept(document))
        except RecursionError:
            return False

    def accepts_alike(self, reference: str, document: dict[str, Any]) -> bool:
        """The same for what one writer writes: it comes in few layouts, and each that comes often has its own way."""
        mark = (reference, *document)
        ways = self._ways.get(mark)
        if ways is None:
            if len(self._ways) >= _MOST:
                self._ways.clear()
            ways = self._ways[mark] = Ways()
        for accept in ways:
            if _says(accept, document):
                return True
        if not self.accepts(reference, document):
            return False
        ways.missed += 1
        if ways.missed % _SOON == 0 and len(ways) < _FEW:
            ways.append(self._straight(reference, document, wary=True))
        return True

    def accepts_line(self, reference: str, document: dict[str, Any]) -> bool:
        """The same for a line of a capture: of a layout that comes often, more is decided beforehand."""
        answers, mark = glance(document)[2].answers, (self, reference)
        known = answers.get(mark, 0)
        if type(known) is int:
            answers[mark] = self._straight(reference, document) if known == _OFTEN else known + 1
        elif _says(known, document):
            return True
        return self.accepts(reference, document)

    def _straight(self, reference: str, document: dict[str, Any], *, wary: bool = False) -> Accept:
        """The acceptor of documents with the layout of this one."""
        from validator.protocol.fastpath.straight import straight  # short captures need none

        self._made += 1
        if mode() == "off" or self._made > _MOST:
            return _never
        return straight(self._compiler, reference, document, wary=wary) or _never

    def _acceptor(self, reference: str) -> Accept:
        """An acceptor from what is kept of the reference's folder, or compiled."""
        home = posixpath.dirname(reference.partition("#")[0])
        known = self._kept_acceptors(f"acceptors/{home}")
        if reference not in known:
            self.kept.put(f"acceptors/{home}", lambda: self._written(home))
            return self._compiler.accept(reference)
        return known[reference]

    @functools.lru_cache(maxsize=32)  # noqa: B019 - a store lives as long as the process
    def _kept_acceptors(self, name: str) -> dict[str, Accept]:
        found = self.kept.get(name)
        return restore(found) if found else {}

    def _written(self, home: str) -> Any:
        """The code of every acceptor that was asked for below a folder, now or in runs before."""
        names = {name for name in self._acceptors if name.startswith(home)}
        before = self.kept.get(f"acceptors/{home}")
        return self._new_compiler().written(sorted(names | set(before["entries"] if before else ())))

    def errors(self, reference: str, document: Any) -> list[SchemaError]:
        """Every reason why a document does not fit, in a stable order, each once."""
        return [] if self.accepts(reference, document) else self._refusals(reference, document)

    def line_errors(self, reference: str, line: dict[str, Any]) -> list[SchemaError]:
        """The same for a line of a capture."""
        return [] if self.accepts_line(reference, line) else self._refusals(reference, line)

    def _refusals(self, reference: str, document: Any) -> list[SchemaError]:
        self._refused += 1
        is_guided = self._refused > _SOME and mode() != "off"
        return refusals(self.guided(reference) if is_guided else self.validator(reference), document)


def refusals(validator: Any, document: Any) -> list[SchemaError]:
    """Every reason that the authority has against a document, in a stable order, each once."""
    found = {
        SchemaError(json_pointer(leaf.absolute_path), str(leaf.validator or "false"), describe(leaf))
        for error in validator.iter_errors(document)
        for leaf in leaves(error)
    }
    # What may not be in an object says nothing about what is none.
    untyped = {error.pointer for error in found if error.keyword == "type"}
    found = {error for error in found if error.keyword != "not" or error.pointer not in untyped}
    return sorted(found, key=lambda error: (error.pointer, error.keyword, error.message))


def _without_dialect(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != "$schema"}


def _says(accept: Accept, document: Any) -> bool:
    try:
        return bool(accept(document))
    except RecursionError:
        return False


def _never(_document: Any) -> bool:
    return False


def _check_header(path: Path, uri: str, document: Any) -> None:
    if not isinstance(document, dict):
        raise DefinitionError("a schema file must hold an object", source=shown(path))
    if document.get("$id") != uri:
        raise DefinitionError(f"$id must be {uri}", source=shown(path), place="/$id")
    if document.get("$schema") != DIALECT:
        raise DefinitionError(f"$schema must be {DIALECT}", source=shown(path), place="/$schema")


def load_store(root: str | Path) -> SchemaStore:
    """The store of one folder; read once in a process."""
    return _store(os.fspath(root))


@functools.lru_cache(maxsize=8)
def _store(place: str) -> SchemaStore:
    return SchemaStore(place)


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
        case "anyOf" if isinstance(error.instance, dict) and all(set(branch) == {"required"} for branch in wanted):
            return f"lacks one of {', '.join(' and '.join(branch['required']) for branch in wanted)}"
        case "anyOf" | "oneOf":
            return f"fits none of {len(wanted)} alternatives"
        case "additionalProperties" | "unevaluatedProperties":
            return "has a property that is not allowed here"
        case None:
            return "is not allowed here"
        case keyword:
            return f"breaks {keyword}"
