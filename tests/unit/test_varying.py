"""Lines of a stream may differ in what nobody reads, and in nothing else."""

import re
from pathlib import Path

import jsonschema_rs
import pytest

import validator
from validator.holes import Hole
from validator.protocol.view import view
from validator.streamed import STREAMED
from validator.varying import READ, Varying, _declared

CORE, DELTA = STREAMED["agent-runtime"], "model.delta"
FIELDS = CORE.types[DELTA]
LINE = {"type": "model.delta", "event_id": "e1", "session_id": "s1", "payload": {"delta": "a", "index": 0}, "acme": 1}


@pytest.fixture
def varying(core):
    return Varying(core)


def learned(varying, before, after):
    varying.learn({**LINE, **before}, {**LINE, **after}, DELTA, FIELDS)
    return varying.holes({**LINE, **after}, DELTA)


@pytest.mark.parametrize(
    ("before", "after", "holes"),
    [
        ({}, {}, ()),
        ({}, {"event_id": "e2", "timestamp": "2026-05-08T09:00:01Z", "sequence": 2}, None),
        ({"event_id": "e1"}, {"event_id": "e2"}, ()),
        ({"acme": 1}, {"acme": 2}, (Hole("whole", ("acme",)),)),
        ({"acme": "a"}, {"acme": "b"}, (Hole("word", ("acme",)),)),
        ({"acme": 0.5}, {"acme": 0.25}, (Hole("fraction", ("acme",)),)),
        ({"acme": {"a": {"b": 1}}}, {"acme": {"a": {"b": 2}}}, (Hole("whole", ("acme", "a", "b")),)),
        ({"payload": {"index": 1}}, {"payload": {"index": 2}}, (Hole("count", ("payload", "index")),)),
        ({"payload": {"delta": "a"}}, {"payload": {"delta": "b"}}, ()),
        ({"acme": 1}, {"acme": "1"}, None),
        ({"acme": True}, {"acme": False}, None),
        ({"acme": [1]}, {"acme": [2]}, None),
        ({"acme": {"a": 1}}, {"acme": {"b": 1}}, None),
        ({"acme": {"honest": "unknown", "reason": "a"}}, {"acme": {"honest": "unknown", "reason": "b"}}, None),
        ({"acme_job_id": "j1"}, {"acme_job_id": "j2"}, None),
        ({"acme": {"request_id": "r1"}}, {"acme": {"request_id": "r2"}}, None),
        ({"turn_id": "t1"}, {"turn_id": "t2"}, None),
        ({"status": "a"}, {"status": "b"}, None),
        ({"message_id": "m1"}, {"message_id": "m2"}, None),
        ({"title": "declared elsewhere"}, {"title": "for another event"}, None),
        ({"payload": {"part": {}}}, {"payload": {"part": {"a": 1}}}, None),
        ({"payload": {"acme": 1}}, {"payload": {"acme": 2}}, None),
        ({"payload": 1}, {"payload": 2}, None),
        ({"payload": {"delta": "a"}}, {"payload": {"text": "a"}}, None),
    ],
)
def test_what_is_learned_of_two_lines(varying, before, after, holes):
    """Nothing is learned where somebody may read the difference, not even of what differs beside it."""
    beside = {**before, "other": 1}, {**after, "other": 2}
    assert learned(varying, *beside) == (() if holes is None else (*holes, Hole("whole", ("other",))))


def test_a_line_has_the_holes_that_it_has_values_for(varying):
    learned(varying, {"acme": {"a": 1, "b": "x"}}, {"acme": {"a": 2, "b": "y"}})
    assert varying.holes({**LINE, "acme": {"a": 3}}, DELTA) == (Hole("whole", ("acme", "a")),)
    assert varying.holes({**LINE, "acme": {"a": "now a word", "b": ""}}, DELTA) == (Hole("word", ("acme", "a")),)
    assert varying.holes({**LINE, "acme": {"a": None, "b": True}}, DELTA) == ()
    assert varying.holes({**LINE, "acme": ["a"]}, DELTA) == ()
    assert varying.holes({**LINE, "acme": {"a": 3}}, "reasoning.delta") == ()


def test_a_place_that_counts_is_no_hole_where_it_does_not_count(varying):
    learned(varying, {"payload": {"index": 1}}, {"payload": {"index": 2}})
    assert varying.holes({**LINE, "payload": {"index": "two"}}, DELTA) == ()


def test_lines_that_differ_in_too_much_are_not_alike(varying):
    many = [{"acme": {f"a{number}": value for number in range(9)}} for value in (1, 2)]
    assert learned(varying, *many) == ()
    few = [{"acme": {f"a{number}": value for number in range(8)}} for value in (1, 2)]
    assert len(learned(varying, *few)) == 8


def test_what_counts_up_fits_its_schema(core):
    """A number that is written in a hole is in any case one that the schema accepts."""
    for kind, names in CORE.counted.items():
        for name in names:
            place = view(core.store, core.events[kind]).at(f"payload.{name}")
            tests = [jsonschema_rs.validator_for(part.schema).is_valid for part in place.parts]
            assert set(place.types) <= {"integer", "number"} != set()
            assert all(test(number) for test in tests for number in (0, 7, 10**14))


def test_what_rules_read_of_a_line_is_declared_or_never_a_hole(core):
    """A rule that reads a name which no schema declares would miss what differs there."""
    read = set()
    for folder in ("rules", "replay"):
        for path in sorted((Path(validator.__file__).parent / folder).rglob("*.py")):
            if not {"agenthub", "runagents", "agent_threads"} & {*path.parts, path.stem}:
                read |= set(re.findall(r'(?:line|event|document)\.get\("(\w+)"', path.read_text(encoding="utf-8")))
    assert {"payload", "message_id"} <= read
    undeclared = {name for name in read if name not in _declared(core.store) and name not in core.identities}
    assert undeclared == READ
