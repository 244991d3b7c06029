"""Errors name the place and the keyword, never the value; a broken schema file is refused at load."""

import json
import sys

import pytest

from validator.errors import DefinitionError
from validator.protocol.definition import read_definition
from validator.protocol.schemas import BASE, DIALECT, SchemaStore, kind_of


def event(**changes):
    base = {"type": "turn.failed", "event_id": "e", "timestamp": "2026-05-08T09:00:00Z", "turn_id": "t"}
    return {**base, "payload": {"reason": "policy"}, **changes}


def found(core, document):
    reference = core.schema_for(document.get("type"))
    return [(error.pointer, error.keyword) for error in core.store.errors(reference, document)]


def test_an_error_speaks_about_this_event(core):
    assert found(core, event()) == []
    assert found(core, event(payload={"status": "finished"})) == [("/payload/status", "enum")]
    assert found(core, event(payload={})) == [("/payload", "anyOf")]


def test_of_a_value_and_an_honest_statement_the_one_that_was_meant_is_explained(core):
    assert found(core, event(payload={"reason": 7})) == [("/payload/reason", "type")]
    assert found(core, event(payload={"reason": {"honest": "maybe", "reason": "x"}})) == [
        ("/payload/reason/honest", "enum")
    ]
    assert found(core, event(payload={"reason": {"honest": "unknown"}})) == [("/payload/reason", "required")]
    honest = {"honest": "unknown", "reason": "Not told.", "more": 1}
    assert found(core, event(payload={"reason": honest})) == [("/payload/reason", "additionalProperties")]


def test_the_identity_an_event_is_about_cannot_be_unknown_but_a_parent_can(core):
    honest = {"honest": "unknown", "reason": "No correlation."}
    assert found(core, event(turn_id=honest)) == [("/turn_id", "type")]
    assert found(core, event(session_id=honest)) == []


def test_unknown_types_and_fields_are_carried(core):
    assert found(core, event(type="acme.turn.paused", x_acme={"a": 1})) == []


@pytest.mark.parametrize(
    "document",
    [
        event(timestamp="secret-7f3a"),
        event(sequence="secret-7f3a"),
        event(payload={"status": "secret-7f3a"}),
        event(payload={"error": {"category": {"secret-7f3a": 1}}}),
        event(event_id={"honest": "secret-7f3a", "reason": "secret-7f3a"}),
        event(refs="secret-7f3a"),
    ],
)
def test_a_message_never_repeats_the_value(core, document):
    errors = core.store.errors(core.schema_for("turn.failed"), document)
    assert errors
    assert not any("secret-7f3a" in error.message for error in errors)


def test_json_types_have_their_json_names():
    values = (None, True, 1, 1.5, "", [], {})
    assert [kind_of(value) for value in values] == ["null", "boolean", "integer", "number", "string", "array", "object"]


def broken(contract, change):
    path = contract / "schemas" / "agent-runtime" / "0.3" / "events" / "turn.schema.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    return contract / "schemas"


def test_a_dangling_reference_is_refused_with_its_place(contract):
    def change(document):
        document["$defs"]["turn.failed"]["$ref"] = "../envelop.schema.json"

    with pytest.raises(DefinitionError) as caught:
        SchemaStore(broken(contract, change))
    assert caught.value.source == "schemas/agent-runtime/0.3/events/turn.schema.json"
    assert caught.value.place == "/$defs/turn.failed/$ref"
    assert "leads nowhere" in caught.value.reason


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda document: document.update({"$id": "https://elsewhere.example/turn"}), "/$id"),
        (lambda document: document.update({"$schema": "http://json-schema.org/draft-07/schema#"}), "/$schema"),
    ],
)
def test_a_file_that_is_not_what_its_path_says_is_refused(contract, change, place):
    with pytest.raises(DefinitionError) as caught:
        SchemaStore(broken(contract, change))
    assert caught.value.place == place


def test_a_keyword_the_dialect_does_not_allow_is_refused(contract):
    store = SchemaStore(
        broken(contract, lambda document: document["$defs"]["turn.failed"].update({"required": "turn_id"}))
    )
    with pytest.raises(DefinitionError) as caught:
        store.check_dialect()
    assert caught.value.place == "/$defs/turn.failed/required"


def test_a_schema_file_that_is_no_object_is_refused(contract):
    (contract / "schemas" / "common" / "1" / "ids.schema.json").write_text("[]")
    with pytest.raises(DefinitionError, match="must hold an object"):
        SchemaStore(contract / "schemas")


def test_a_schema_nobody_wrote_is_a_clear_error(core):
    with pytest.raises(DefinitionError, match="there is no schema"):
        core.store.validator("common/1/nothing.schema.json")


def stored(folder, schema):
    """A store of one file, and the reference of its schema."""
    header = {"$schema": DIALECT, "$id": f"{BASE}x.schema.json"}
    (folder / "x.schema.json").write_text(json.dumps({**header, **schema}))
    return SchemaStore(folder), "x.schema.json"


def test_a_constant_is_named_as_what_was_expected(tmp_path):
    store, reference = stored(tmp_path, {"properties": {"a": {"const": "x"}}})
    assert [(error.pointer, error.message) for error in store.errors(reference, {"a": 1})] == [("/a", "must be 'x'")]


def test_a_document_deeper_than_the_stack_is_not_accepted_and_stops_nothing(tmp_path):
    store, reference = stored(tmp_path, {"type": "object", "properties": {"a": {"$ref": "#"}}})
    document = {}
    assert store.accepts(reference, {"a": {"a": {}}})
    for _ in range(sys.getrecursionlimit()):
        document = {"a": document}
    assert not store.accepts(reference, document)


def test_the_authority_alone_reads_our_own_files_to_the_same_effect(core, monkeypatch):
    path = core.folder / "machines" / "turn.yaml"
    monkeypatch.setenv("RUNTIME_VALIDATE_FAST", "off")
    slow = SchemaStore(core.store.root)
    assert read_definition(path, "machine", slow) == read_definition(path, "machine", core.store)


def test_what_is_no_object_is_told_once(core):
    event = {"type": "model.completed", "event_id": "e1", "timestamp": "2026-05-08T09:00:00Z", "turn_id": "u1"}
    errors = core.store.errors(
        "agent-runtime/0.3/events/model.schema.json#/$defs/model.completed", event | {"payload": {"usage": None}}
    )
    assert [(error.pointer, error.message) for error in errors] == [("/payload/usage", "must be object, is null")]


def test_of_several_fields_one_of_which_is_needed_all_are_named(core):
    event = {"type": "turn.failed", "event_id": "e1", "timestamp": "2026-05-08T09:00:00Z", "turn_id": "u1"}
    errors = core.store.errors("agent-runtime/0.3/events/turn.schema.json#/$defs/turn.failed", event | {"payload": {}})
    assert [error.message for error in errors] == ["lacks one of error, reason, status"]
