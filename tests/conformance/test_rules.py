"""Every rule trips on exactly its streams, looks at its near misses, and its proof stands on its own."""

import io
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import PROTOCOLS
from validator import resources
from validator.datafile import read_yaml
from validator.engine import validate
from validator.protocol.protocol import load_protocol
from validator.requirements import problems
from validator.rules._catalog import load_rules
from validator.rulestreams import check_stream, judge, options_of, rule_streams

FIXTURES = resources.fixtures()
OPEN = read_yaml(Path(__file__).parent / "open_clauses.yaml")
STREAMS = [
    (name, rule, path, entry)
    for name in PROTOCOLS
    for rule, path, entry in rule_streams(FIXTURES / name, load_protocol(name))
]


def named(value):
    return value if isinstance(value, str) else getattr(value, "stem", "")


@pytest.mark.parametrize(("name", "rule", "path", "entry"), STREAMS, ids=named)
def test_a_stream_is_judged_as_it_says(name, rule, path, entry):
    assert [failure.reason for failure in check_stream(load_protocol(name), rule, path, entry)] == []


@pytest.mark.parametrize("rule", load_rules())
def test_a_rule_has_a_stream_that_trips_it_and_a_near_miss(rule):
    kinds = {path.name.split("-")[0] for _, owner, path, _ in STREAMS if owner == rule}
    assert kinds == {"trips", "near"}


@pytest.mark.parametrize(
    ("name", "rule", "path", "entry"), [entry for entry in STREAMS if entry[2].name.startswith("trips-")], ids=named
)
def test_a_witness_is_enough_to_find_it_again(name, rule, path, entry):
    protocol, data = load_protocol(name), path.read_bytes()
    for found in judge(protocol, path, entry).findings:
        kept = frozenset({*found.witness, found.line})
        again = validate(io.BytesIO(data), path.name, replace(options_of(protocol, entry), lines=kept))
        marks = {(mark.rule, mark.line, mark.fingerprint) for mark in again.findings}
        assert (found.rule, found.line, found.fingerprint) in marks, f"{found.rule} at line {found.line}, kept {kept}"


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_clause_is_judged_in_exactly_one_way(name):
    """The clauses still to be assigned are listed by hand: the list bites both ways, and it has to become empty."""
    open_yet = {f"{clause} is judged in no way" for clause in OPEN.get(name, ())}
    assert set(problems(load_protocol(name))) == open_yet
