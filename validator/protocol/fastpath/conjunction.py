"""One value and everything that is said about it, as a Python expression."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from validator.protocol.fastpath.parts import (
    ANNOTATIONS,
    ARRAYS,
    JOINING,
    NUMBERS,
    OBJECTS,
    STRINGS,
    Part,
    UnsupportedError,
    spread,
)
from validator.protocol.formats import TIMESTAMP, ecma_regex

if TYPE_CHECKING:
    from validator.protocol.fastpath.compiler import Compiler

_TESTS = {
    "object": "type(v) is dict",
    "array": "type(v) is list",
    "string": "type(v) is str",
    "boolean": "type(v) is bool",
    "null": "v is None",
    "integer": "(type(v) is int or type(v) is float and v.is_integer())",
    "number": "(type(v) is int or type(v) is float)",
}
_SPECIFIC = {"object": OBJECTS, "array": ARRAYS, "string": STRINGS, "number": NUMBERS}
_LONGEST_INSTANT = 35
"""Characters of a plain instant with nine digits of a fraction and an offset."""
_IN_PLACE = 2
"""How many expressions that several properties share are written into the loop."""


class Expression(NamedTuple):
    """Python over `v` that is true only for valid values; exact when it is true for all of them."""

    text: str
    exact: bool


NEVER = Expression("False", False)


class Conjunction:
    """Everything that is said about one value."""

    def __init__(self, compiler: Compiler, parts: list[Part], known: str | None):
        self._compiler, self._parts, self._known = compiler, parts, known
        self._exact = True

    def expression(self) -> Expression:
        try:
            text = self._text()
        except UnsupportedError:
            return NEVER
        return Expression(text, self._exact) if text != "False" else NEVER

    def _text(self) -> str:
        listed = [[value] for value in self._each("const")] + self._each("enum")
        if listed:
            return self._one_of(listed)
        kinds = self._kinds()
        if kinds is None or len(kinds) > 1:
            return _all([self._by_kind(kinds), *self._generic(None)])
        (kind,) = kinds
        test = [] if kind == self._known else [_TESTS[kind]]
        return _all([*test, *self._generic(kind), *self._specific(kind)])

    def _each(self, keyword: str) -> list[Any]:
        return [part.schema[keyword] for part in self._parts if keyword in part.schema]

    def _kinds(self) -> set[str] | None:
        """The JSON types that all parts allow; None when none of them says."""
        found: set[str] | None = {self._known} if self._known else None
        for wanted in self._each("type"):
            names = {wanted} if isinstance(wanted, str) else set(wanted)
            if "number" in names:
                names.discard("integer")
            if found is None:
                found = names
            else:
                whole = {"integer"} if found | names >= {"number", "integer"} else set()
                found = (found & names) | whole
        if found is not None and not found:
            raise UnsupportedError
        return found

    def _by_kind(self, kinds: set[str] | None) -> str:
        """For several types: what each of them has to fulfil."""
        text = "True" if kinds is None else _any(_TESTS[kind] for kind in sorted(kinds))
        for kind in _SPECIFIC if kinds is None else sorted(kinds):
            rest = _all(self._specific(kind))
            if rest != "True":
                text = f"(({rest}) if {_TESTS[kind]} else ({text}))"
        return text

    def _specific(self, kind: str) -> list[str]:
        name = "number" if kind == "integer" else kind
        if not any(_SPECIFIC.get(name, frozenset()) & part.schema.keys() for part in self._parts):
            return []
        return {"string": self._string, "number": self._number, "array": self._array, "object": self._object}[name]()

    def _sub(self, subs: Iterable[tuple[Any, str]], known: str | None = None) -> str:
        found = self._compiler.conjunction(subs, known)
        self._exact = self._exact and found.exact
        return found.text

    def _one_of(self, listed: list[list[Any]]) -> str:
        """The values that `const` and `enum` leave, and that everything else that is said lets pass."""
        first, *others = listed
        values = [value for value in first if all(any(_equal(value, other) for other in more) for more in others)]
        kept = self._fitting(values)
        self._exact = kept == values and len(listed) == 1
        words = [value for value in kept if isinstance(value, str)]
        tests = [_is(value) for value in kept if not isinstance(value, str)]
        if len(words) == 1:
            tests.append(f"v == {words[0]!r}")
        elif words:
            tests.append(f"type(v) is str and v in {self._compiler.constant(frozenset(words))}")
        return _any(tests)

    def _fitting(self, values: list[Any]) -> list[Any]:
        """The values that everything but `const` and `enum` lets pass."""
        rest = [Part(_without(part.schema, "const", "enum"), part.file) for part in self._parts]
        if all(part.schema.keys() <= ANNOTATIONS | JOINING for part in rest):
            return values
        fits = self._compiler.evaluator(Conjunction(self._compiler, rest, None).expression())
        try:
            return [value for value in values if fits(value)]
        except NameError as error:  # a function that is still being written
            raise UnsupportedError from error

    def _generic(self, kind: str | None) -> Iterator[str]:
        for schema, file in self._parts:
            if "anyOf" in schema and not self._implied(schema["anyOf"], file):
                yield _any([self._sub([(sub, file)], kind) for sub in schema["anyOf"]])
            if "not" in schema:
                inner = self._compiler.conjunction([(schema["not"], file)], kind)
                if not inner.exact:
                    raise UnsupportedError
                yield f"not ({inner.text})"
            if "if" in schema:
                yield self._if(schema, file, kind)

    def _implied(self, alternatives: list[Any], file: str) -> bool:
        """True when all parts of one alternative are demanded anyway."""
        own = {id(part.schema) for part in self._parts}
        for sub in alternatives:
            try:
                meant = {id(part.schema) for part in spread(self._compiler.documents, sub, file)}
            except UnsupportedError:
                continue
            if meant and meant <= own:
                return True
        return False

    def _if(self, schema: dict[str, Any], file: str, kind: str | None) -> str:
        then = self._sub([(schema.get("then", True), file)], kind)
        otherwise = self._sub([(schema.get("else", True), file)], kind)
        condition = self._compiler.conjunction([(schema["if"], file)], kind)
        if not condition.exact:
            self._exact = False
            return _all([then, otherwise])
        return f"(({then}) if ({condition.text}) else ({otherwise}))"

    def _string(self) -> list[str]:
        formats, patterns = set(self._each("format")), set(self._each("pattern"))
        if formats - {"date-time"}:
            raise UnsupportedError
        checks = [*self._bounds("len(v)", "minLength", "maxLength")]
        checks += [f"{self._compiler.constant(ecma_regex(pattern).search)}(v) is not None" for pattern in patterns]
        if not formats:
            return checks
        full = _all([*checks, "is_date_time(v)"])
        roomy = not self._each("minLength") and min(self._each("maxLength"), default=99) >= _LONGEST_INSTANT
        # The usual form fits the pattern of our time schema and exists; anything else is looked at in full.
        return [f"(instant(v) or {full})"] if roomy and patterns <= {TIMESTAMP} else [full]

    def _number(self) -> list[str]:
        if self._each("exclusiveMinimum") or self._each("exclusiveMaximum"):
            raise UnsupportedError
        # Written as the authority compares, so that both say the same of NaN.
        least = [f"not v < {bound!r}" for bound in self._each("minimum")]
        return [*least, *(f"not v > {bound!r}" for bound in self._each("maximum"))]

    def _bounds(self, what: str, least: str, most: str) -> Iterator[str]:
        low, high = self._each(least), self._each(most)
        if low and high:
            yield f"{max(low)!r} <= {what} <= {min(high)!r}"
        elif low or high:
            yield f"{what} >= {max(low)!r}" if low else f"{what} <= {min(high)!r}"

    def _array(self) -> list[str]:
        checks = [*self._bounds("len(v)", "minItems", "maxItems")]
        items = self._sub([(part.schema["items"], part.file) for part in self._parts if "items" in part.schema])
        if items != "True":
            body = f"    for v in v:\n        if not ({items}):\n            return False\n    return True"
            checks.append(f"{self._compiler.define(body)}(v)")
        if any(self._each("uniqueItems")):
            self._exact = False
            checks.append("all(type(x) is str for x in v) and len(set(v)) == len(v)")
        return checks

    def _object(self) -> list[str]:
        required = dict.fromkeys(name for names in self._each("required") for name in names)
        checks = [*self._bounds("len(v)", "minProperties", "maxProperties"), *(f"{name!r} in v" for name in required)]
        loop = [*self._strangers(), *self._members()]
        if not loop:
            return checks
        guard = ["if not (" + _all(checks) + "):", "    return False"] if checks else []
        lines = [*guard, "for k, v in v.items():", *(f"    {line}" for line in loop), "return True"]
        name = self._compiler.define("\n".join(f"    {line}" for line in lines))
        return [f"{name}(v)"]

    def _strangers(self) -> Iterator[str]:
        """What is asked of names, and of properties that a part does not declare itself."""
        for schema, file in self._parts:
            own = self._compiler.constant(frozenset(schema.get("properties", ())))
            free = schema.get("additionalProperties", True)
            if free is False:
                yield from (f"if k not in {own}:", "    return False")
            elif free is not True:
                yield from (f"if k not in {own} and not ({self._sub([(free, file)])}):", "    return False")
            if "propertyNames" in schema:
                name = self._compiler.function(self._sub([(schema["propertyNames"], file)], "string"))
                yield from (f"if not {name}(k):", "    return False")

    def _members(self) -> Iterator[str]:
        """What is asked of declared properties: frequent expressions in place, the others by a table."""
        texts = {name: self._sub(subs) for name, subs in self._properties().items()}
        texts = {name: text for name, text in texts.items() if text != "True"}
        common = [text for text, times in Counter(texts.values()).most_common(_IN_PLACE) if times > 1]
        for text in common:
            names = self._compiler.constant(frozenset(name for name, own in texts.items() if own == text))
            yield from (f"if k in {names}:", f"    if {text}:", "        continue", "    return False")
        rest = {name: text for name, text in texts.items() if text not in common}
        if rest:
            yield from (f"f = {self._compiler.table(rest)}(k)", "if f is not None and not f(v):", "    return False")

    def _properties(self) -> dict[str, list[tuple[Any, str]]]:
        found: dict[str, list[tuple[Any, str]]] = {}
        for schema, file in self._parts:
            for name, sub in schema.get("properties", {}).items():
                found.setdefault(name, []).append((sub, file))
        return found


def _without(schema: dict[str, Any], *keywords: str) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in keywords}


def _all(checks: Iterable[str]) -> str:
    kept = [check for check in checks if check != "True"]
    if "False" in kept:
        return "False"
    return " and ".join(f"({check})" if " or " in check or " if " in check else check for check in kept) or "True"


def _any(checks: Iterable[str]) -> str:
    kept = [check for check in dict.fromkeys(checks) if check != "False"]
    if "True" in kept:
        return "True"
    return " or ".join(f"({check})" if " and " in check or " if " in check else check for check in kept) or "False"


def _is(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return f"v is {value!r}"
    if isinstance(value, int | float):
        return f"(type(v) is int or type(v) is float) and v == {value!r}"
    raise UnsupportedError


def _equal(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other
