"""What the compiled acceptors accept, the authority accepts; keyword by keyword, and against values made to deceive."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from validator.errors import UsageError
from validator.protocol.authority import FORMATS, Validator
from validator.protocol.fastpath import mode
from validator.protocol.fastpath.compiler import Compiler
from validator.protocol.fastpath.parts import spread
from validator.protocol.formats import TIMESTAMP, ecma_regex, is_date_time, parse_date_time, plain_instant
from validator.protocol.schemas import SchemaStore

DEEP = {"a": {"a": {"a": {"a": 1}}}}
VALUES = [
    None, True, False, 0, 1, 1.0, 1.5, -1, 2**53 + 1, 2**64, 1e308, float("nan"), float("inf"), "", "a", "ab", "abc\n",
    "abc", "\ud800", "é" * 3, "2026-05-08T09:00:00Z", "2026-02-30T09:00:00Z", "2026-05-08T09:00:00Z\n", [], [1],
    [True, 1],
    ["a", "a"], ["a", "b"], [[], []], {}, {"a": 1}, {"a": "x", "b": 2}, {"b": 2}, {"kind": "x"}, {"kind": "x", "a": 1},
    {"kind": 7, "a": "s"}, {"a": None}, {"A": 1}, {"honest": "unknown", "reason": "r"}, DEEP, {"self": {"self": {}}},
    {"self": {"self": {"a": 1}}},
]  # fmt: skip
SCHEMAS = [
    True, False, {}, {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": ["string", "null"]},
    {"type": ["integer", "boolean"]}, {"type": "object"}, {"type": "array"}, {"type": "null"}, {"type": "boolean"},
    {"minLength": 1}, {"type": "string", "minLength": 2, "maxLength": 3}, {"maxLength": 2}, {"pattern": "^[a-c]+$"},
    {"type": "string", "pattern": "b"}, {"format": "date-time"}, {"type": "string", "format": "date-time"},
    {"type": "string", "format": "date-time", "pattern": TIMESTAMP, "maxLength": 64},
    {"type": "string", "format": "date-time", "pattern": TIMESTAMP, "maxLength": 12}, {"format": "email"},
    {"minimum": 0}, {"type": "integer", "minimum": 1, "maximum": 2}, {"type": "number", "maximum": 1},
    {"exclusiveMinimum": 0}, {"multipleOf": 2}, {"const": 1}, {"const": True}, {"const": None}, {"const": "a"},
    {"const": {"a": 1}}, {"enum": ["a", "ab"]}, {"enum": ["a", 1, None]}, {"enum": ["a", "abc"], "minLength": 2},
    {"enum": ["a", "ab"], "const": "ab"}, {"enum": [1, 0], "type": "integer"},
    {"type": "array", "items": {"type": "string"}},
    {"items": {"type": "integer"}, "minItems": 1}, {"type": "array", "maxItems": 1}, {"uniqueItems": True},
    {"items": False},
    {"prefixItems": [{"type": "string"}]}, {"contains": {"type": "integer"}}, {"required": ["a"]}, {"minProperties": 1},
    {"type": "object", "required": ["a"], "maxProperties": 1}, {"properties": {"a": {"type": "integer"}}},
    {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False},
    {"properties": {"a": True}, "additionalProperties": {"type": "integer"}}, {"additionalProperties": False},
    {"propertyNames": {"pattern": "^[a-z]+$"}}, {"properties": {"a": False}}, {"patternProperties": {"a": False}},
    {"unevaluatedProperties": False}, {"anyOf": [{"type": "string"}, {"required": ["a"]}]},
    {"oneOf": [{}, {"type": "null"}]},
    {"allOf": [{"type": "object"}, {"properties": {"a": {"type": "integer"}}}], "additionalProperties": False},
    {"not": {"type": "string"}}, {"not": {"minimum": 1}}, {"not": {"uniqueItems": True}}, {"not": {"multipleOf": 2}},
    {"not": {"properties": {"a": {"const": "x"}}, "required": ["a"]}}, {"not": {}},
    {"if": {"properties": {"kind": {"const": "x"}}, "required": ["kind"]}, "then": {"required": ["a"]}},
    {"if": {"uniqueItems": True}, "then": {"type": "array"}, "else": {"type": "object"}},
    {"if": {"type": "object"}, "else": {"type": "string"}}, {"if": {"type": "string"}, "then": False},
    {"type": "object", "properties": {"self": {"$ref": "#/$defs/s"}}, "not": {"required": ["a"]}},
    {"$ref": "#/$defs/word"}, {"$ref": "#/$defs/word", "maxLength": 2}, {"nullable": True},
    {"type": "string", "anyOf": [{"$ref": "#/$defs/word"}, {"type": "object"}]},
    {"anyOf": [{"multipleOf": 2}, {"type": "string"}]}, {"required": [f"name_{number}" for number in range(40)]},
    {"properties": {"self": {"enum": ["a", "b"], "anyOf": [{"$ref": "#/$defs/s"}]}}},
]  # fmt: skip


def documents(schema):
    """One schema file whose definition `s` is the schema at hand."""
    return {"x.schema.json": {"$defs": {"s": schema, "word": {"type": "string", "minLength": 2}}}}


def authority(schema):
    (document,) = documents(schema).values()
    return Validator({**document, "$ref": "#/$defs/s"}, format_checker=FORMATS)


def differences(accept, judge, exact, values):
    """The values for which an acceptor says more than it may, or, when it is exact, less than it should."""
    for value in values:
        accepted, valid = bool(accept(value)), judge.is_valid(value)
        if (accepted and not valid) or (exact and accepted != valid):
            yield value


def check(schema, values):
    compiler = Compiler(documents(schema))
    expression = compiler.expression("x.schema.json#/$defs/s")
    return list(differences(compiler.evaluator(expression), authority(schema), expression.exact, values))


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_an_acceptor_accepts_nothing_that_the_authority_refuses(schema):
    assert check(schema, VALUES) == []


def test_two_schemas_that_speak_about_one_value_are_both_heard():
    plain = [schema for schema in SCHEMAS if isinstance(schema, dict) and "allOf" not in schema]
    for turn, (one, other) in enumerate(itertools.combinations(plain, 2)):
        assert check({"allOf": [one, other]}, VALUES[turn % 7 :: 7]) == [], (one, other)


def test_a_whole_number_is_accepted_where_a_number_is_asked_for_as_well():
    compiler = Compiler(documents({"allOf": [{"type": "number"}, {"type": ["integer", "string"]}]}))
    accept = compiler.evaluator(compiler.expression("x.schema.json#/$defs/s"))
    assert [accept(value) for value in (1, 1.5, "a")] == [True, False, False]


def test_parts_that_demand_nothing_are_left_out():
    schema = {"description": "A word.", "allOf": [{"title": "Short."}, {"maxLength": 2}]}
    assert [part.schema for part in spread({}, schema, "x.schema.json")] == [{"maxLength": 2}]


def test_the_comparison_tells_an_acceptor_that_accepts_too_much_or_too_little():
    judge = authority({"type": "string"})
    assert list(differences(lambda value: True, judge, False, ["a", 1])) == [1]
    assert list(differences(lambda value: False, judge, False, ["a", 1])) == []
    assert list(differences(lambda value: False, judge, True, ["a", 1])) == ["a"]


@pytest.mark.parametrize(
    "schema",
    [
        {"oneOf": [{}]},
        {"multipleOf": 2},
        {"nullable": True},
        {"$ref": "#/$defs/none"},
        {"$ref": "y.json"},
        {"$ref": "https://elsewhere.example/x.schema.json#/$defs/word"},
        {"$dynamicRef": "#x"},
    ],
    ids=str,
)
def test_what_the_compiler_does_not_understand_is_left_to_the_authority(schema):
    assert not Compiler(documents(schema)).accept("x.schema.json#/$defs/s")(2)


def test_a_schema_that_is_not_there_accepts_nothing():
    assert not Compiler(documents(True)).accept("x.schema.json#/$defs/none")({})


def test_an_expression_that_is_too_long_to_repeat_is_called():
    names = [f"name_{number}" for number in range(40)]
    accept = Compiler(documents({"required": names})).accept("x.schema.json#/$defs/s")
    assert accept(dict.fromkeys(names))
    assert not accept(dict.fromkeys(names[1:]))


def test_a_record_that_holds_records_of_its_kind_is_judged_all_the_way_down():
    schema = {"type": "object", "properties": {"self": {"$ref": "#/$defs/s"}}, "not": {"required": ["bad"]}}
    accept = Compiler(documents(schema)).accept("x.schema.json#/$defs/s")
    assert accept({"self": {"self": {}}})
    assert not accept({"self": {"self": {"bad": 1}}})


PARTS = [(0, 9999), (0, 13), (0, 32), (0, 25), (0, 61), (0, 61)]
NUMBERS = st.tuples(*(st.integers(low, high) | st.sampled_from((low, high)) for low, high in PARTS))


@given(NUMBERS, st.sampled_from(("Z", "z", ".5Z", ".1234567890Z", ".Z", "Z\n", "", "+00:00", ".5-00:00", "+00:01")))
def test_a_plain_instant_exists_and_fits_the_pattern(numbers, tail):
    text = "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}".format(*numbers) + tail
    if plain_instant()(text):
        assert is_date_time(text)
        assert ecma_regex(TIMESTAMP).search(text)


def test_the_usual_timestamp_is_plain_and_an_impossible_one_is_not():
    assert plain_instant()("2026-05-31T23:59:59.123Z")
    assert plain_instant()("2026-05-31T23:59:59.123456+00:00")
    assert parse_date_time("2026-05-31T23:59:59.5+00:00") == parse_date_time("2026-05-31T23:59:59.5Z")
    for text in ("2026-02-30T00:00:00Z", "2026-04-31T00:00:00Z", "0000-01-01T00:00:00Z", "2026-01-01T00:00:60Z"):
        assert not plain_instant()(text)


def test_a_plain_instant_that_is_too_long_is_not_accepted():
    texts = [f"2026-05-31T23:59:59.{'1' * digits}{zone}" for digits in range(1, 10) for zone in ("Z", "+00:00")]
    assert all(map(plain_instant(), texts))
    for most in range(20, 40):
        schema = {"type": "string", "format": "date-time", "pattern": TIMESTAMP, "maxLength": most}
        assert check(schema, texts) == [], most


def test_the_time_schema_still_has_the_pattern_that_plain_instants_fit(core):
    assert core.store.subschema("common/1/time.schema.json#/$defs/timestamp")["pattern"] == TIMESTAMP


@pytest.mark.parametrize(("word", "accepted"), [("off", False), ("auto", True), ("on", True)])
def test_the_switch_decides_whether_acceptors_are_asked(core, monkeypatch, word, accepted):
    monkeypatch.setenv("RUNTIME_VALIDATE_FAST", word)
    store = SchemaStore(core.store.root)
    assert store.accepts("common/1/ids.schema.json#/$defs/id", "a") is accepted
    assert store.errors("common/1/ids.schema.json#/$defs/id", "a") == []
    assert [error.keyword for error in store.errors("common/1/ids.schema.json#/$defs/id", "")] == ["minLength"]


def test_an_unknown_word_for_the_switch_is_refused(monkeypatch):
    monkeypatch.setenv("RUNTIME_VALIDATE_FAST", "yes")
    with pytest.raises(UsageError):
        mode()
