"""Acceptors for documents of one layout: what keys and kinds decide is decided once, and values are what is left.

Lines of a long capture have few layouts (`glance.py`). For one of them it is known which properties a document has, in
which order, and of which kind each value is; so a function without loops and look-ups does: it takes the values apart
and puts to each what the schema still asks of it. Like every acceptor it only ever says "certainly valid".

Who knows the layout of a document need not ask for it. Who does not, takes a wary acceptor: it looks at the keys and
sizes by itself, leaves the kinds to the expressions, and may be given anything.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from validator.protocol.fastpath.acceptors import Accept
from validator.protocol.fastpath.compiler import Compiler
from validator.protocol.fastpath.parts import Part, UnsupportedError, resolve, spread

_KINDS = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number"}
_WHOLE = frozenset({"const", "enum", "not", "if", "then", "else", "uniqueItems"})
"""Keywords that speak about an object or array as a whole; they are left to the expression for all layouts."""
_LONGEST = 16
"""Elements of an array that are taken apart."""
Subs = list[tuple[Any, str]]
Checks = list[str] | None
"""What is asked of the values of a document, all of it; None when it cannot fit."""


def straight(compiler: Compiler, reference: str, document: Any, *, wary: bool = False) -> Accept | None:
    """The acceptor of a reference for documents with the layout of this one; None when none of them fits."""
    try:
        plan = _Plan(compiler, wary)
        checks = plan.fit([resolve(compiler.documents, reference, "")], document, "v")
    except (UnsupportedError, RecursionError):
        return None
    if checks is None:
        return None
    lines = [*plan.lines, f"return {' and '.join(f'({check})' for check in checks) or 'True'}"]
    return compiler.made("\n".join(f"    {line}" for line in lines))


class _Plan:
    """The lines that take a document apart, and the checks of what they find."""

    def __init__(self, compiler: Compiler, wary: bool):
        self._compiler, self._wary = compiler, wary
        self.lines: list[str] = []
        self._guarded: set[str] = set()
        self._opened: dict[str, list[str]] = {}

    def fit(self, subs: Subs, value: Any, name: str) -> Checks:
        """What some schemas ask of a value that stands in a variable."""
        kind = _KINDS.get(type(value), "null")
        if kind == "object" or (kind == "array" and len(value) <= _LONGEST):
            parts = [part for schema, file in subs for part in spread(self._compiler.documents, schema, file)]
            if not parts:
                return []  # what nobody speaks about may hold anything, however deep
            self._guard(value, name)
            whole = [(self._compiler.only(part.schema, _WHOLE), part.file) for part in parts]
            inside = self._object(parts, value, name) if kind == "object" else self._array(parts, value, name)
            return _joined([self._decided([sub for sub in whole if sub[0]], kind, name), inside])
        return self._decided(subs, None if self._wary else kind, name)

    def _guard(self, value: Any, name: str) -> None:
        """Has a wary acceptor look whether an object or array is laid out as this one is."""
        if self._wary and name not in self._guarded:
            self._guarded.add(name)
            if type(value) is dict:
                other = f"type({name}) is not dict or tuple({name}) != {tuple(value)!r}"
            else:
                other = f"type({name}) is not list or len({name}) != {len(value)}"
            self.lines += [f"if {other}:", "    return False"]

    def _decided(self, subs: Subs, kind: str | None, name: str) -> Checks:
        """What the expression for all layouts asks of a value."""
        text = self._compiler.conjunction(subs, kind).text
        return None if text == "False" else [] if text == "True" else [_renamed(text, name)]

    def _object(self, parts: list[Part], value: dict[str, Any], name: str) -> Checks:
        if not all(_allows(part.schema, "object", len(value), "Properties") for part in parts):
            return None
        if not all(key in value for part in parts for key in part.schema.get("required", ())):
            return None
        if not all(self._named(part, key) for part in parts if "propertyNames" in part.schema for key in value):
            return None
        found = self._alternatives(parts, value, name)
        for (key, sub), place in zip(value.items(), self._open(name, len(value), ".values()"), strict=True):
            asked = [self.fit(_about(parts, key), sub, place)]
            found = _joined([found, *asked])
        return found

    def _array(self, parts: list[Part], value: list[Any], name: str) -> Checks:
        if not all(_allows(part.schema, "array", len(value), "Items") for part in parts):
            return None
        items = [(part.schema["items"], part.file) for part in parts if "items" in part.schema]
        places = self._open(name, len(value), "") if items else []
        asked = [self.fit(items, sub, place) for sub, place in zip(value, places, strict=False)]
        return _joined([self._alternatives(parts, value, name), *asked])

    def _alternatives(self, parts: list[Part], value: Any, name: str) -> Checks:
        """What is left of each `anyOf`: nothing where an alternative fits in any case."""
        found: Checks = []
        for schema, file in parts:
            if "anyOf" in schema:
                ways = [way for sub in schema["anyOf"] if (way := self.fit([(sub, file)], value, name)) is not None]
                if not ways:
                    return None
                if [] not in ways:
                    found = [*found, " or ".join(f"({' and '.join(f'({check})' for check in way)})" for way in ways)]
        return found

    def _named(self, part: Part, key: str) -> bool:
        wanted = self._compiler.conjunction([(part.schema["propertyNames"], part.file)], "string")
        return bool(self._compiler.evaluator(wanted)(key))

    def _open(self, name: str, size: int, how: str) -> list[str]:
        """The variables in which the values of an object or array stand."""
        if name not in self._opened:
            self._opened[name] = [f"{name}_{place}" for place in range(size)]
            if size:
                self.lines.append(f"{', '.join(self._opened[name])}, = {name}{how}")
        return self._opened[name]


def _about(parts: Iterable[Part], key: str) -> Subs:
    """The schemas that speak about a property."""
    found: Subs = []
    for schema, file in parts:
        declared = schema.get("properties", {})
        if key in declared:
            found.append((declared[key], file))
        elif "additionalProperties" in schema:
            found.append((schema["additionalProperties"], file))
    return found


def _allows(schema: dict[str, Any], kind: str, size: int, what: str) -> bool:
    """True when a schema allows an object or array of a size."""
    kinds = schema.get("type", kind)
    return (kind == kinds or kind in kinds) and schema.get(f"min{what}", 0) <= size <= schema.get(f"max{what}", size)


def _joined(found: Iterable[Checks]) -> Checks:
    every: list[str] = []
    for checks in found:
        if checks is None:
            return None
        every += checks
    return list(dict.fromkeys(every))


class _Renaming(ast.NodeTransformer):
    def __init__(self, name: str):
        self._name = name

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self._name, node.ctx) if node.id == "v" else node


def _renamed(text: str, name: str) -> str:
    """An expression over `v` as one over another variable."""
    return ast.unparse(_Renaming(name).visit(ast.parse(text, mode="eval")))
