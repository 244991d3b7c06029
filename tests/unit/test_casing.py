"""The camelCase binding renames what is declared and nothing else."""

import io
import json

import pytest

from tests.conftest import strangers_validator
from tests.properties.streams import camel as in_camel
from validator import resources
from validator.capture.lines import read_lines
from validator.engine import validate
from validator.protocol import glance
from validator.protocol.bundle import bundle
from validator.protocol.casing import camel, camel_schema, detect, has_camel, spelt, to_camel, to_canonical

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
    assert converted.foreign == {}


def test_a_declared_name_in_the_other_casing_is_told(core):
    event = {"type": "turn.started", "eventId": "e", "turn_id": "t", "turnId": "t", "payload": {"run_id": "r"}}
    converted = to_canonical(core.store, core.schema_for("turn.started"), event)
    assert converted.foreign == {"/turn_id": False, "/payload/run_id": False}
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
        assert there.foreign == back.foreign == {}
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


def spoken(report):
    """What became of every requirement but the one that speaks about the binding alone."""
    return [entry for entry in report.requirements if entry.requirement != "ENV-41"]


def mark(found):
    return found.rule, found.line, found.expected, found.witness, found.entity, camel(found.pointer)


def test_a_finding_points_to_the_property_as_it_is_spelt(core):
    line = {"type": "tool.started", "eventId": "e", "timestamp": "x", "payload": {"toolName": 5, "a/b": {"c~": 1}}}
    assert spelt(line, "/payload/tool_name") == "/payload/toolName"
    assert spelt(line, "/payload/a~1b/c~0") == "/payload/a~1b/c~0"
    assert spelt(line, "/payload/nowhere/0") == "/payload/nowhere/0"
    assert spelt({"toolCalls": [{"toolName": 5}]}, "/tool_calls/0/tool_name") == "/toolCalls/0/toolName"
    assert spelt({"toolCalls": [{"toolName": 5}]}, "/tool_calls/1/tool_name") == "/toolCalls/1/tool_name"
    report = validate(io.BytesIO(json.dumps(line).encode() + b"\n"))
    assert "/payload/toolName" in {found.pointer for found in report.findings}


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_capture_in_camel_case_is_judged_like_its_canonical_form(core, path):
    plain = validate(io.BytesIO(path.read_bytes()))
    lines = (json.dumps(in_camel(core, line)).encode() + b"\n" for _, line in read_lines(path))
    again = validate(io.BytesIO(b"".join(lines)))
    assert (again.verdict, spoken(again)) == (plain.verdict, spoken(plain))
    assert [mark(found) for found in again.findings] == [mark(found) for found in plain.findings]


def test_a_capital_is_seen_in_any_document_however_many_shapes_were_met(monkeypatch):
    monkeypatch.setattr(glance, "_KEPT", 1)
    monkeypatch.setattr(glance, "_known", {})
    for _ in range(2):
        assert has_camel({"a": [{"b": 1}, {"eventId": 2}]})
        assert not has_camel({"a": [{"b": 1}, {"event_id": "eventId"}]})
        assert has_camel({"a": [{"b": 1}] * 100 + [{"eventId": 2}]})
        assert len(glance._known) == 1
