"""A second validator agrees with the first on every fixture and on generated documents, formats on."""

from functools import cache

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import PROTOCOLS
from validator import resources
from validator.capture.lines import read_lines
from validator.datafile import read_json
from validator.protocol.formats import is_date_time
from validator.protocol.protocol import load_protocol
from validator.protocol.schemas import BASE, DIALECT, load_store
from validator.testing.strategies import documents, mutated

FIXTURES = resources.fixtures()
STORE = load_store(resources.schemas().resolve())
KINDS = [(name, kind) for name in PROTOCOLS for kind in load_protocol(name).references()]


@cache
def registry():
    return jsonschema_rs.Registry([(uri, document) for uri, document in STORE.documents.items()])


@cache
def second(reference):
    schema = {"$schema": DIALECT, "$ref": BASE + reference}
    return jsonschema_rs.validator_for(
        schema, registry=registry(), validate_formats=True, formats={"date-time": is_date_time}
    )


def agree(reference, document):
    first = STORE.validator(reference).is_valid(document)
    assert second(reference).is_valid(document) == first
    return first


@pytest.mark.parametrize("name", PROTOCOLS)
def test_both_agree_on_every_document_fixture(name):
    protocol = load_protocol(name)
    for kind, reference in protocol.references().items():
        for case in read_json(FIXTURES / name / "documents" / f"{kind}.json")["cases"]:
            assert agree(reference, case["document"]) == case["valid"], f"{kind} {case['id']}"


@pytest.mark.parametrize("name", PROTOCOLS)
def test_both_agree_on_every_golden_line(name):
    protocol = load_protocol(name)
    for path in sorted((FIXTURES / name / "golden").glob("*.ndjson")):
        for _, line in read_lines(path):
            if "record" not in line:
                assert agree(protocol.schema_for(protocol.type_of(line)), line)


@pytest.mark.parametrize(("name", "kind"), KINDS)
@settings(max_examples=5)
@given(data=st.data())
def test_both_agree_on_generated_documents(name, kind, data):
    protocol = load_protocol(name)
    reference = protocol.references()[kind]
    sources = documents(protocol, kind)
    assert agree(reference, data.draw(sources))
    agree(reference, data.draw(mutated(sources)))


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-29T00:00:00Z",
        "2024-02-29T00:00:00Z",
        "2016-12-31T23:59:60Z",
        "2016-12-31T23:58:60Z",
        "2026-01-01T00:00:00Z\n",
        "0000-01-01T00:00:00Z",
    ],
)
def test_both_agree_on_dates_that_cannot_be(text):
    reference = "common/1/time.schema.json#/$defs/timestamp"
    assert agree(reference, text) == is_date_time(text)


def test_both_agree_on_a_pattern_behind_a_reference_to_a_whole_file():
    # Found by the generated documents: a referenced file that names its dialect switched the validator class.
    protocol = load_protocol("runagents")
    event = {"event_id": "e", "run_id": "r", "seq": 1, "type": "CONSENT_REQUIRED", "timestamp": "2026-05-08T09:00:00Z"}
    reference = protocol.events["CONSENT_REQUIRED"]
    assert agree(reference, event)
    late = {**event, "timestamp": "2026-05-08T09:00:00Z\n"}
    assert not agree(reference, late)
    assert "pattern" in {error.keyword for error in protocol.store.errors(reference, late)}


@pytest.mark.parametrize(("text", "fits"), [("a" * 64, True), ("sha256:" + "a" * 64, True), ("a" * 64 + "\n", False)])
def test_both_agree_that_a_pattern_ends_at_the_end(text, fits):
    assert agree("common/1/ids.schema.json#/$defs/sha256", text) == fits
