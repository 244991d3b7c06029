"""Our schemas keep to the ground where all engines agree."""

import re

import pytest

from validator import resources
from validator.protocol.protocol import load_protocol
from validator.protocol.schemas import BASE, load_store

STORE = load_store(resources.schemas().resolve())
FILES = sorted(STORE.documents)


def nodes(schema, place=""):
    """Every subschema of a schema; data under const, enum and examples is not one."""
    if isinstance(schema, dict):
        yield place, schema
        for key, value in schema.items():
            if key in {"properties", "$defs"}:
                for name, sub in value.items():
                    yield from nodes(sub, f"{place}/{key}/{name}")
            elif key not in {"const", "enum", "examples", "required"}:
                yield from nodes(value, f"{place}/{key}")
    elif isinstance(schema, list):
        for index, value in enumerate(schema):
            yield from nodes(value, f"{place}/{index}")


def test_every_file_passes_the_meta_schema():
    STORE.check_dialect()


@pytest.mark.parametrize("uri", FILES)
def test_an_id_is_its_path(uri):
    assert uri == BASE + STORE.files[uri].relative_to(STORE.root).as_posix()


@pytest.mark.parametrize("uri", FILES)
def test_keywords_on_which_engines_differ_are_not_used(uri):
    for place, node in nodes(STORE.documents[uri]):
        assert not node.keys() & {"multipleOf", "dependencies", "definitions", "$dynamicRef"}, place
        assert isinstance(node.get("type", ""), str) or uri.startswith(BASE + "_meta/"), f"{place}: a list of types"
        pattern = node.get("pattern", "")
        assert not re.search(r"\\[dwspDWSP]", pattern), place
        if pattern.endswith("$"):
            assert "maxLength" in node, place


@pytest.mark.parametrize("uri", FILES)
def test_references_are_relative(uri):
    for place, node in nodes(STORE.documents[uri]):
        assert not str(node.get("$ref", "")).startswith(("http", "/")), place


@pytest.mark.parametrize("uri", [uri for uri in FILES if "/_meta/" not in uri and "/common/" not in uri])
def test_every_declared_field_says_what_it_means(uri):
    for place, node in nodes(STORE.documents[uri]):
        if "/if" in place or "/then" in place or "/else" in place or "/not" in place:
            continue
        for name, sub in node.get("properties", {}).items():
            explained = "description" in sub or "$ref" in sub or "const" in sub or name == "payload"
            assert explained or set(sub) <= {"properties", "required", "type"}, f"{place}/{name}"


def test_wire_documents_are_open():
    for uri in FILES:
        if "/events/" in uri or "/commands/" in uri or "/snapshots/" in uri:
            for place, node in nodes(STORE.documents[uri]):
                assert node.get("additionalProperties") is not False, f"{uri}{place}"


def test_no_schema_is_a_choice_between_many():
    for uri in FILES:
        for place, node in nodes(STORE.documents[uri]):
            assert len(node.get("oneOf", ())) + len(node.get("anyOf", ())) <= 8, f"{uri}{place}"


BROKEN = (
    {"honest": "unknown", "reason": "Nobody knows.", "value": 1},
    {"honest": "maybe", "reason": "Nobody knows."},
    {"honest": "unknown", "reason": ""},
    {"honest": "unknown"},
)
HONEST = {"honest": "unknown", "reason": "Nobody knows."}


def fields(prefix):
    """Every declared field below a folder, as a reference to its schema; a payload is a place and no field."""
    for uri in FILES:
        name = uri.removeprefix(BASE)
        for place, node in nodes(STORE.documents[uri]) if name.startswith(prefix) else ():
            for key in node.get("properties", {}):
                if key != "payload" and not {"if", "then", "else", "not", "anyOf"} & set(place.split("/")):
                    yield f"{name}#{place}/properties/{key}"


@pytest.mark.parametrize("broken", BROKEN, ids=("more", "word", "silent", "half"))
def test_no_field_takes_a_broken_honest_statement_for_a_value(broken):
    assert [place for place in fields("agent-runtime/") if not STORE.errors(place, broken)] == []


def drivers(protocol):
    """Event type and payload field of every condition in a state table."""
    for row in protocol.rows():
        kind = row.driver.name if row.driver.kind == "event" else {"action": "action.required"}.get(row.driver.name)
        for path, _ in (*(row.when or ()), *(row.unless or ())):
            first, _, name = path.partition(".")
            if kind in protocol.events and first == "payload":
                yield kind, name


def test_what_drives_a_state_cannot_be_honestly_unknown():
    protocol = load_protocol("agent-runtime/0.3")
    found = sorted(set(drivers(protocol)))
    assert ("task.completed", "reconciled") in found
    for kind, name in found:
        place = f"{protocol.schema_for(kind)}/properties/payload/properties/{name}"
        assert STORE.errors(place, HONEST), place
