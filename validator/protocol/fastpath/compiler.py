"""Compiles schemas into Python functions.

Theory of operation: everything that `$ref` and `allOf` say about one value is one *conjunction* of parts. A conjunction
becomes an expression over `v` (see `conjunction.py`); objects and arrays become functions that loop over what a
document holds, because our schemas declare many properties and documents carry few. Each expression knows whether it
is *exact*: an exact one refuses nothing that is valid, so that it may stand under `not` and `if`, where refusing would
accept.
"""

from __future__ import annotations

from collections.abc import Iterable

from validator.protocol.fastpath.acceptors import Accept, scope_of_all
from validator.protocol.fastpath.conjunction import NEVER, Conjunction, Expression
from validator.protocol.fastpath.parts import UnsupportedError, resolve, spread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LONGEST = 400
"""Characters of an expression that is repeated in place; longer ones are called."""


class Compiler:
    """Acceptors for the schemas of one folder; each is compiled when it is first asked for."""

    def __init__(self, documents: dict[str, Any]):
        self.documents = documents
        """Every schema file, by its path below the folder."""
        self._done: dict[tuple[Any, ...], Expression] = {}
        self._under_way: dict[tuple[Any, ...], str] = {}
        self._called_back: set[str] = set()
        self._reduced: dict[tuple[int, frozenset[str]], dict[str, Any]] = {}
        self._functions: dict[str, str] = {}
        self._tables: dict[str, str] = {}
        self._constants: dict[Any, str] = {}
        self._scope: dict[str, Any] = scope_of_all()
        self._source: list[str] = []
        self._executed: list[str] = []
        self._count = 0

    def accept(self, reference: str) -> Accept:
        """The acceptor of a reference below the folder, such as `common/1/ids.schema.json#/$defs/id`."""
        return self.evaluator(self.expression(reference))

    def expression(self, reference: str) -> Expression:
        """The expression of a reference, and whether it decides exactly."""
        try:
            schema, file = resolve(self.documents, reference, "")
        except UnsupportedError:
            return NEVER
        return self.conjunction([(schema, file)])

    def evaluator(self, expression: Expression) -> Accept:
        """The function that evaluates an expression."""
        return self._made(self.function(expression.text))

    def made(self, body: str) -> Accept:
        """The function of `v` with this body."""
        return self._made(self.define(body))

    def _made(self, name: str) -> Accept:
        if self._source:
            source, self._source = self._source, []
            exec(compile("\n".join(source), "<schemas>", "exec"), self._scope)
            self._executed += source
        return self._scope[name]

    def written(self, references: Iterable[str]) -> dict[str, Any]:
        """The acceptors of references as code, names and constants that can be kept; `acceptors.py` reads them."""
        entries = {reference: self.function(self.expression(reference).text) for reference in references}
        code = compile("\n".join([*self._executed, *self._source]), "<schemas>", "exec")
        named = {name: value for value, name in self._constants.items()}
        words = {name: value for name, value in named.items() if isinstance(value, frozenset)}
        patterns = {name: value.__self__.pattern for name, value in named.items() if name not in words}
        return {"code": code, "entries": entries, "words": words, "patterns": patterns}

    def conjunction(self, subs: Iterable[tuple[Any, str]], known: str | None = None) -> Expression:
        """The expression of a value that several subschemas speak about; `known` is a type it certainly has."""
        try:
            parts = [part for schema, file in subs for part in spread(self.documents, schema, file)]
        except UnsupportedError:
            return NEVER
        key = (known, *sorted({id(part.schema) for part in parts}))
        if key in self._under_way:
            # A record that holds records of its own kind calls itself.
            self._called_back.add(self._under_way[key])
            return Expression(f"{self._under_way[key]}(v)", False)
        if key not in self._done:
            name = self._under_way[key] = self._name("r")
            found = self._short(Conjunction(self, parts, known).expression())
            if name in self._called_back:
                self._source.append(f"def {name}(v):\n    return {found.text}")
            self._done[key] = found
            del self._under_way[key]
        return self._done[key]

    def only(self, schema: dict[str, Any], keywords: frozenset[str]) -> dict[str, Any]:
        """A schema that says no more than some keywords of another; made once, because schemas are told by identity."""
        key = (id(schema), keywords)
        if key not in self._reduced:
            self._reduced[key] = {word: value for word, value in schema.items() if word in keywords}
        return self._reduced[key]

    def function(self, text: str) -> str:
        """The name of a function that evaluates an expression."""
        return self.define(f"    return {text}")

    def define(self, body: str) -> str:
        """The name of the function of `v` with this body."""
        if body not in self._functions:
            self._functions[body] = self._name("f")
            self._source.append(f"def {self._functions[body]}(v):\n{body}")
        return self._functions[body]

    def table(self, texts: dict[str, str]) -> str:
        """The name of a look-up from property names to functions."""
        entries = ", ".join(f"{name!r}: {self.function(text)}" for name, text in texts.items())
        if entries not in self._tables:
            self._tables[entries] = self._name("t")
            self._source.append(f"{self._tables[entries]} = {{{entries}}}.get")
        return self._tables[entries]

    def constant(self, value: Any) -> str:
        """The name of a constant in the scope of the generated code."""
        if value not in self._constants:
            self._constants[value] = self._name("k")
            self._scope[self._constants[value]] = value
        return self._constants[value]

    def _name(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"

    def _short(self, expression: Expression) -> Expression:
        if len(expression.text) <= _LONGEST:
            return expression
        return Expression(f"{self.function(expression.text)}(v)", expression.exact)
