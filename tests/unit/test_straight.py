"""Acceptors for one layout accept nothing that the authority refuses, and the usual documents that it accepts."""

import pytest

from tests.unit.test_fastpath import SCHEMAS, VALUES, authority, documents
from validator.protocol import schemas
from validator.protocol.fastpath.compiler import Compiler
from validator.protocol.fastpath.straight import straight
from validator.protocol.glance import glance
from validator.protocol.schemas import SchemaStore

REFERENCE = "x.schema.json#/$defs/s"
EVENT = {
    "type": "turn.started",
    "event_id": "e",
    "sequence": 1,
    "timestamp": "2026-05-08T09:00:00Z",
    "session_id": "s",
    "thread_id": "t",
    "turn_id": "u",
    "payload": {"status": "preparing"},
}
HOLDERS = [
    {"a": "x", "b": 2}, {"a": "yy", "b": 3}, {"a": {"a": 1}}, {"a": {"a": 7}}, {"a": ["a", "b"]}, {"a": ["a", "a"]},
    {"a": {"honest": "unknown", "reason": "r"}}, {"kind": "y", "a": 1}, {"a": [{"a": 1}, {"a": 2}]}, ["a"] * 20,
    {"a": 1.5}, {"a": True}, {"a": None}, {"a": []}, [["a"], ["b"]],
]  # fmt: skip
NESTED = [
    {"properties": {"a": {"anyOf": [{"type": "string", "maxLength": 1}, {"type": "object"}]}}},
    {"properties": {"a": {"anyOf": [{"required": ["a"]}, {"required": ["honest"]}]}}},
    {"properties": {"a": {"anyOf": [{"properties": {"a": {"maximum": 5}}}, {"properties": {"a": {"minimum": 6}}}]}}},
    {"properties": {"a": {"type": "array", "items": {"enum": ["a"]}}}},
    {"properties": {"a": {"items": {"type": "string"}, "uniqueItems": True, "minItems": 1}}},
    {"properties": {"a": {"items": {"properties": {"a": {"const": 1}}}}}},
    {"properties": {"a": {"type": "string", "minLength": 2}}, "additionalProperties": {"maximum": 2}},
    {"properties": {"a": {"if": {"required": ["a"]}, "then": {"properties": {"a": {"maximum": 5}}}}}},
    {"propertyNames": {"maxLength": 3}, "maxProperties": 1},
    {"items": {"items": {"const": "a"}}},
]


def layout_of(value):
    return glance(value)[2] if isinstance(value, dict | list) else type(value)


@pytest.mark.parametrize("schema", [*SCHEMAS, *NESTED], ids=str)
def test_nothing_is_accepted_that_the_authority_refuses(schema):
    compiler, judge, values = Compiler(documents(schema)), authority(schema), [*VALUES, *HOLDERS]
    for sample in values:
        accept = straight(compiler, REFERENCE, sample)
        alike = [value for value in values if layout_of(value) is layout_of(sample)]
        assert [value for value in alike if accept and accept(value) and not judge.is_valid(value)] == []


@pytest.mark.parametrize("schema", [*SCHEMAS, *NESTED], ids=str)
def test_a_wary_one_may_be_given_anything(schema):
    compiler, judge, values = Compiler(documents(schema)), authority(schema), [*VALUES, *HOLDERS]
    for sample in values:
        accept = straight(compiler, REFERENCE, sample, wary=True)
        assert [value for value in values if accept and accept(value) and not judge.is_valid(value)] == []


@pytest.mark.parametrize("wary", [False, True])
@pytest.mark.parametrize("schema", NESTED, ids=str)
def test_what_fits_is_accepted(schema, wary):
    compiler, judge = Compiler(documents(schema)), authority(schema)
    fitting = [value for value in HOLDERS if judge.is_valid(value)]
    assert [value for value in fitting if not straight(compiler, REFERENCE, value, wary=wary)(value)] == []


def test_values_are_asked_and_not_only_those_of_the_sample():
    accept = straight(Compiler(documents({"properties": {"a": {"enum": ["x"]}}})), REFERENCE, {"a": "y"})
    assert accept({"a": "x"})
    assert not accept({"a": "y"})


@pytest.mark.parametrize("schema", [{"multipleOf": 2}, {"properties": {"a": {"multipleOf": 2}}}])
def test_a_schema_that_is_not_understood_has_no_acceptor(schema):
    assert straight(Compiler(documents(schema)), REFERENCE, {"a": 1}) is None


def nested(depth):
    value = {}
    for _ in range(depth):
        value = {"self": value}
    return value


def test_what_no_schema_speaks_about_is_not_looked_into():
    assert straight(Compiler(documents({"required": ["acme"]})), REFERENCE, {"acme": nested(5000)})({"acme": 1})


def test_what_is_nested_too_deep_has_no_acceptor():
    schema = {"type": "object", "properties": {"self": {"$ref": "#/$defs/s"}}}
    assert straight(Compiler(documents(schema)), REFERENCE, nested(3))(nested(3))
    assert straight(Compiler(documents(schema)), REFERENCE, nested(5000)) is None


def lines(count):
    return [{"type": "acme.note", "event_id": f"e{number}", "payload": {"n": number}} for number in range(count)]


def test_a_layout_gets_its_acceptor_when_it_comes_often(core, monkeypatch):
    monkeypatch.setattr(schemas, "_OFTEN", 3)
    made = []
    monkeypatch.setattr(SchemaStore, "_straight", lambda self, reference, document: made.append(document) or bool)
    store = SchemaStore(core.store.root)
    for line in lines(6):
        store.accepts_line(core.envelope, line)
    assert [line["event_id"] for line in made] == ["e3"]


def test_what_a_writer_writes_often_gets_a_way_for_each_of_a_few_layouts(core, monkeypatch):
    monkeypatch.setattr(schemas, "_SOON", 2)
    monkeypatch.setattr(schemas, "_FEW", 2)
    store, reference, made = SchemaStore(core.store.root), core.events["turn.started"], []
    straight_of = store._straight

    def noted(*asked, **how):
        made.append(asked[1]["payload"])
        return straight_of(*asked, **how)

    monkeypatch.setattr(store, "_straight", noted)
    once = {"status": "preparing"}
    layouts = [once, once, once, *({**once, f"acme_{number}": 1} for number in range(6))]
    assert all(store.accepts_alike(reference, {**EVENT, "payload": payload}) for payload in layouts)
    assert made == [once, {**once, "acme_1": 1}]
    assert not store.accepts_alike(reference, {**EVENT, "payload": {"status": 1}})


def test_ways_are_forgotten_when_there_are_too_many(core, monkeypatch):
    monkeypatch.setattr(schemas, "_MOST", 2)
    store, reference = SchemaStore(core.store.root), core.events["turn.started"]
    for number in range(5):
        assert store.accepts_alike(reference, {**EVENT, f"acme_{number}": 1})
        assert len(store._ways) <= 2


@pytest.mark.parametrize(("mode", "most", "does"), [("auto", 1, True), ("auto", 0, False), ("off", 1, False)])
def test_what_is_made_for_a_layout_depends_on_the_mode_and_how_many_there_are(core, monkeypatch, mode, most, does):
    monkeypatch.setenv("RUNTIME_VALIDATE_FAST", mode)
    monkeypatch.setattr(schemas, "_MOST", most)
    store = SchemaStore(core.store.root)
    accept = store._straight(core.events["turn.started"], EVENT)
    assert bool(accept(EVENT)) is does
    assert not accept({**EVENT, "timestamp": "2026-02-30T09:00:00Z"})
    assert store.line_errors(core.events["turn.started"], EVENT) == []


def test_what_is_asked_with_the_fast_path_off_leaves_nothing_behind(core, monkeypatch):
    store, reference = SchemaStore(core.store.root), "common/1/ids.schema.json#/$defs/id"
    monkeypatch.setenv("RUNTIME_VALIDATE_FAST", "off")
    assert not store.accepts(reference, "a")
    monkeypatch.setenv("RUNTIME_VALIDATE_FAST", "auto")
    assert store.accepts(reference, "a")
