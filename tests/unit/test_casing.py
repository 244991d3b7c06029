"""The camelCase binding renames what is declared and nothing else."""

import pytest

from tests.conftest import strangers_validator
from validator import resources
from validator.capture.lines import read_lines
from validator.protocol.bundle import bundle
from validator.protocol.casing import camel, camel_schema, detect, to_camel, to_canonical

GOLDEN = sorted((resources.fixtures() / "agent-runtime" / "0.3" / "golden").glob("*.ndjson"))


@pytest.mark.parametrize(
    ("snake", "expected"),
    [
        ("event_id", "eventId"),
        ("tool_call_id", "toolCallId"),
        ("type", "type"),
        ("sha256", "sha256"),
        ("input_price_per_million", "inputPricePerMillion"),
    ],
)
def test_a_name_is_spelt_in_camel_case(snake, expected):
    assert camel(snake) == expected


def test_free_maps_arguments_and_vendor_fields_keep_their_keys(core):
    event = {
        "type": "tool.started",
        "event_id": "e",
        "timestamp": "2026-05-08T09:00:00Z",
        "tool_call_id": "c",
        "x_vendor": {"some_key": 1},
        "refs": {"log_ref": "a"},
        "payload": {"tool_name": "shell", "safe_args": {"dry_run": True}, "my_field": {"a_b": 1}},
    }
    converted = to_camel(core.store, core.schema_for("tool.started"), event)
    assert converted.document == {
        "type": "tool.started",
        "eventId": "e",
        "timestamp": "2026-05-08T09:00:00Z",
        "toolCallId": "c",
        "x_vendor": {"some_key": 1},
        "refs": {"log_ref": "a"},
        "payload": {"toolName": "shell", "safeArgs": {"dry_run": True}, "my_field": {"a_b": 1}},
    }
    assert converted.foreign == []


def test_a_declared_name_in_the_other_casing_is_told(core):
    event = {"type": "turn.started", "eventId": "e", "turn_id": "t", "turnId": "t", "payload": {"run_id": "r"}}
    converted = to_canonical(core.store, core.schema_for("turn.started"), event)
    assert converted.foreign == ["/turn_id", "/payload/run_id"]
    assert converted.document["turn_id"] == "t"


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_there_and_back_is_the_same_event_and_the_verdict_is_too(core, path):
    camel_bundle = strangers_validator(bundle(core, "camelCase"))
    for _, line in read_lines(path):
        if "record" in line:
            continue
        reference = core.schema_for(line["type"])
        there = to_camel(core.store, reference, line)
        back = to_canonical(core.store, reference, there.document)
        assert back.document == line
        assert there.foreign == back.foreign == []
        assert camel_bundle.is_valid(there.document)
        assert not camel_bundle.is_valid(line), "the canonical form is not the binding"


def test_a_renamed_schema_keeps_its_data():
    schema = {"properties": {"on_timeout": {"enum": ["not_me"], "examples": ["nor_me"]}}, "required": ["on_timeout"]}
    assert camel_schema(schema) == {
        "properties": {"onTimeout": {"enum": ["not_me"], "examples": ["nor_me"]}},
        "required": ["onTimeout"],
    }


def test_the_casing_is_told_by_the_event_id():
    assert [detect({"event_id": "e"}), detect({"eventId": "e"}), detect({"id": "e"})] == [
        "snake_case",
        "camelCase",
        None,
    ]
