"""Our schemas keep to the ground where all engines agree."""

import re

import pytest

from validator import resources
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
