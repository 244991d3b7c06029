"""Every report says what the record beside it says: words, places, proofs and how often a rule looked."""

import pytest

from tests.conformance import skews
from tests.conformance.recorded import (
    HOME,
    golden_captures,
    golden_record,
    judge_golden,
    plain,
    read_record,
    record_path,
    stream_record,
)
from tests.conformance.test_rules import STREAMS, named
from tests.conformance.variations import answers
from tests.conftest import PROTOCOLS
from validator.protocol.protocol import load_protocol
from validator.rulestreams import judge

GOLDEN = [(name, path) for name in PROTOCOLS for path in golden_captures(load_protocol(name))]


@pytest.mark.parametrize(("name", "rule", "path", "entry"), STREAMS, ids=named)
def test_a_stream_is_told_in_the_recorded_words(name, rule, path, entry):
    protocol = load_protocol(name)
    record = read_record(protocol, rule).get(path.stem, {})
    record.pop("varied", None)
    assert plain(stream_record(rule, judge(protocol, path, entry))) == record


@pytest.mark.parametrize(("name", "rule", "path", "entry"), STREAMS, ids=named)
def test_a_stream_that_is_varied_is_answered_as_recorded(name, rule, path, entry):
    protocol = load_protocol(name)
    found = answers(protocol, rule, path, entry)
    assert found == read_record(protocol, rule).get(path.stem, {}).get("varied")
    assert not [said for said in found if "crash" in said]


@pytest.mark.parametrize(("name", "path"), GOLDEN, ids=named)
def test_a_golden_capture_is_looked_at_as_recorded(name, path):
    record = read_record(load_protocol(name), f"golden-{path.stem}")
    record.pop("skewed", None)
    assert golden_record(judge_golden(path)) == record


@pytest.mark.parametrize(("name", "path"), GOLDEN, ids=named)
def test_documents_that_depart_from_the_replay_are_answered_as_recorded(name, path):
    protocol = load_protocol(name)
    assert skews.answers(protocol, path) == read_record(protocol, f"golden-{path.stem}").get("skewed")


def test_nothing_is_recorded_that_is_not_judged():
    streams = {(record_path(load_protocol(name), rule), path.stem) for name, rule, path, _ in STREAMS}
    rules = {record for record, _ in streams}
    captures = {record_path(load_protocol(name), f"golden-{path.stem}") for name, path in GOLDEN}
    assert set(HOME.rglob("*.json")) == rules | captures
