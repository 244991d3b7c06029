"""Hypothesis strategies derived from the schemas: valid documents of every kind, and broken ones.

    from validator.testing.strategies import events
    @given(events("agent-runtime", "task.created"))
    def test_my_reader_accepts(event): ...

A strategy reads the same files as the validator. It understands the keywords our schemas use; whatever it draws is held
against the schema before it is handed out, so a keyword it does not understand costs draws and never correctness.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any, NamedTuple

from hypothesis import strategies as st

from validator.errors import UsageError
from validator.protocol.authority import FORMATS, Validator
from validator.protocol.protocol import Protocol, load_protocol
from validator.protocol.schemas import BASE, SchemaStore


class Part(NamedTuple):
    """A subschema and the resolver of its file. Hypothesis prints strategies, so its text is short."""

    schema: Any
    resolver: Any

    def __repr__(self) -> str:
        return "<schema>"


_MOST_OPTIONAL = 4
_DEEPEST = 6

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=6), inner, max_size=2),
    max_leaves=4,
)


def timestamps() -> st.SearchStrategy[str]:
    """RFC 3339 instants, with and without fractions and offsets."""
    suffixes = st.sampled_from(("Z", ".5Z", ".123456Z", "+00:00", "-07:30"))
    moments = st.datetimes(timezones=st.just(UTC)).map(
        lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
    )
    return st.tuples(moments, suffixes).map("".join).filter(lambda text: text[:4] not in {"0001", "9999"})


def documents(protocol: Protocol | str, kind: str) -> st.SearchStrategy[Any]:
    """Valid documents of a kind such as `commands/submit_turn` or `snapshots/queue_snapshot`."""
    loaded = load_protocol(protocol) if isinstance(protocol, str) else protocol
    reference = loaded.references().get(kind)
    if reference is None:
        raise UsageError(f"{loaded.id} has no {kind!r}")
    return from_schema(loaded.store, reference)


def events(protocol: Protocol | str, event_type: str | None = None) -> st.SearchStrategy[dict[str, Any]]:
    """Valid events of one type, or of any."""
    loaded = load_protocol(protocol) if isinstance(protocol, str) else protocol
    names = [event_type] if event_type else sorted(loaded.events)
    return st.sampled_from(names).flatmap(lambda name: documents(loaded, f"events/{name}"))


def from_schema(store: SchemaStore, reference: str) -> st.SearchStrategy[Any]:
    """Documents that fit one schema."""
    validator = store.validator(reference)
    parts = list(_spread({"$ref": BASE + reference}, store.registry.resolver(base_uri=BASE)))
    return _values(parts, 0).filter(validator.is_valid)


@st.composite
def mutated(draw: st.DrawFn, sources: st.SearchStrategy[Any]) -> Any:
    """A document with one thing wrong, or at least different: dropped, replaced, added, or an impossible date."""
    document = copy.deepcopy(draw(sources))
    places = list(_places(document))
    if not places:
        return draw(json_values)
    holder, key = draw(st.sampled_from(places))
    kind = draw(st.sampled_from(("drop", "replace", "add", "date", "newline")))
    if kind == "drop":
        del holder[key]
    elif kind == "replace":
        holder[key] = draw(json_values)
    elif kind == "date":
        holder[key] = draw(
            st.sampled_from(("2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z", "now"))
        )
    elif kind == "newline":
        holder[key] = f"{holder[key]}\n" if isinstance(holder[key], str) else [holder[key]]
    elif isinstance(holder, dict):
        holder[draw(st.text(min_size=1, max_size=8))] = draw(json_values)
    else:
        holder.append(draw(json_values))
    return document


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, sub in entries:
        yield value, key
        yield from _places(sub)


@dataclass(slots=True, repr=False)
class _Node:
    """Everything unconditional that is said about one place, and what is conditional beside it."""

    plain: dict[str, Any] = field(default_factory=dict)
    properties: dict[str, list[Part]] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    items: list[Part] = field(default_factory=list)
    values: list[Part] = field(default_factory=list)
    choices: list[list[Part]] = field(default_factory=list)
    conditions: list[Part] = field(default_factory=list)
    closed: bool = False


def _spread(schema: Any, resolver: Any) -> Iterator[Part]:
    """A schema and everything that `$ref` and `allOf` add to it."""
    if not isinstance(schema, dict):
        return
    yield Part(schema, resolver)
    if "$ref" in schema:
        found = resolver.lookup(schema["$ref"])
        yield from _spread(found.contents, found.resolver)
    for sub in schema.get("allOf", ()):
        yield from _spread(sub, resolver)


def _node(parts: list[Part]) -> _Node:
    node = _Node()
    for schema, resolver in parts:
        for name, sub in schema.get("properties", {}).items():
            node.properties.setdefault(name, []).extend(_spread(sub, resolver))
        node.required += [name for name in schema.get("required", ()) if name not in node.required]
        node.items += _spread(schema.get("items"), resolver)
        free = schema.get("additionalProperties")
        node.closed = node.closed or free is False
        node.values += _spread(free, resolver)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                node.choices.append([Part(sub, resolver) for sub in schema[keyword]])
        if "if" in schema:
            node.conditions.append(Part(schema, resolver))
        for keyword in ("type", "const", "enum", "examples", "pattern", "format", "minimum", "maximum"):
            if keyword in schema:
                node.plain.setdefault(keyword, schema[keyword])
        for keyword in ("minLength", "maxLength", "minItems"):
            if keyword in schema:
                node.plain[keyword] = schema[keyword]
    return node


@st.composite
def _values(draw: st.DrawFn, parts: list[Part], depth: int) -> Any:
    """A value that fits all parts; one alternative of each choice is taken."""
    node = _node(parts)
    if "const" in node.plain:
        return node.plain["const"]
    if "enum" in node.plain:
        return draw(st.sampled_from(node.plain["enum"]))
    if node.choices:
        chosen = [part for choice in node.choices for part in _spread(*draw(st.sampled_from(choice)))]
        return draw(_values([_without_choices(part) for part in parts] + chosen, depth))
    kind = node.plain.get("type") or ("object" if node.properties or node.required else None)
    if kind == "object":
        return draw(_objects(node, depth))
    if kind == "array":
        least = node.plain.get("minItems", 0)
        most = max(least, 2 if depth < _DEEPEST else 0)
        inner = _values(node.items, depth + 1) if node.items else json_values
        return draw(st.lists(inner, min_size=least, max_size=most))
    return draw(_scalars(kind, node.plain))


def _without_choices(part: Part) -> Part:
    schema, resolver = part
    return Part({key: value for key, value in schema.items() if key not in {"anyOf", "oneOf"}}, resolver)


@st.composite
def _objects(draw: st.DrawFn, node: _Node, depth: int) -> dict[str, Any]:
    optional = [name for name in node.properties if name not in node.required]
    most = _MOST_OPTIONAL if depth < 2 else 1 if depth < _DEEPEST else 0
    names = [
        *node.required,
        *draw(st.lists(st.sampled_from(optional), unique=True, max_size=most) if optional else st.just([])),
    ]
    document = {name: draw(_property(node.properties, name, depth)) for name in names}
    if node.values and not node.properties:
        document |= draw(st.dictionaries(st.text(min_size=1, max_size=8), _values(node.values, depth + 1), max_size=2))
    elif not node.closed and draw(st.integers(0, 9)) == 0:
        document["x_vendor"] = draw(json_values)
    # A completed condition may make another one hold.
    for condition in node.conditions * 2:
        _complete(draw, document, node, condition, depth)
    return document


def _property(properties: dict[str, list[Part]], name: str, depth: int) -> st.SearchStrategy[Any]:
    return _values(properties[name], depth + 1) if name in properties else json_values


def _complete(draw: st.DrawFn, document: dict[str, Any], node: _Node, condition: Part, depth: int) -> None:
    """Adds what a condition that holds demands."""
    schema, resolver = condition
    branch = schema.get("then" if _fits(document, schema["if"], resolver) else "else")
    if not isinstance(branch, dict) or _fits(document, branch, resolver):
        return
    demanded = _node([*_spread(branch, resolver)])
    for name in dict.fromkeys([*demanded.required, *(key for key in demanded.properties if key in document)]):
        both = {name: [*demanded.properties.get(name, []), *node.properties.get(name, [])]}
        document[name] = draw(_property(both if both[name] else {}, name, depth))


def _fits(document: Any, schema: Any, resolver: Any) -> bool:
    return Validator(schema, _resolver=resolver, format_checker=FORMATS).is_valid(document)


def _scalars(kind: str | None, plain: dict[str, Any]) -> st.SearchStrategy[Any]:
    if kind == "string":
        return _strings(plain)
    if kind == "integer":
        return st.integers(plain.get("minimum", -1000), plain.get("maximum", 2**40))
    if kind == "number":
        least, most = plain.get("minimum", -1000), plain.get("maximum", 10**6)
        return st.integers(int(least), int(most)) | st.floats(least, most, allow_nan=False)
    if kind == "boolean":
        return st.booleans()
    if kind == "null":
        return st.none()
    return json_values


def _strings(plain: dict[str, Any]) -> st.SearchStrategy[str]:
    if plain.get("format") == "date-time":
        return timestamps()
    if "pattern" in plain:
        return st.from_regex(plain["pattern"].replace("$", r"\Z"))
    least = plain.get("minLength", 0)
    free = st.text(min_size=least, max_size=min(plain.get("maxLength", 24), max(24, least)))
    return st.sampled_from(plain["examples"]) | free if plain.get("examples") else free
