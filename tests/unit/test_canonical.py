"""An event is respelt by its layout just as it is along its schema."""

import copy

import pytest

from tests.properties.streams import camel
from validator import resources
from validator.capture.canonical import Canonical
from validator.capture.lines import read_lines
from validator.protocol.respelling import respelling

GOLDEN = sorted((resources.fixtures() / "agent-runtime" / "0.3" / "golden").glob("*.ndjson"))


@pytest.fixture(params=["auto", "off"])
def fast(request, monkeypatch):
    monkeypatch.setenv("RUNTIME_VALIDATE_FAST", request.param)
    return request.param


def events(path):
    return [line for _, line in read_lines(path) if "record" not in line]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_what_is_respelt_by_its_layout_is_what_the_schema_says(core, path, fast):
    quick, long, told = Canonical(core), Canonical(core), []
    for event in events(path):
        written = camel(core, event)
        told += [quick.event(written) for _ in range(3)]
        quick.read(written)  # the first event tells the casing
        assert long.read(written)[0].document == event
        assert all(found in (None, event) for found in told[-3:])
    assert any(found is not None for found in told) == (fast == "auto")


def test_the_casing_is_not_known_before_the_first_event(core, fast):
    event = {"type": "session.created", "event_id": "e1", "session_id": "s1"}
    canonical = Canonical(core)
    assert canonical.event(event) is None
    canonical.read(event)
    assert canonical.event(event) is event


def told(core, first, *events):
    """What becomes of events after a first, each met three times."""
    canonical = Canonical(core)
    canonical.read(first)
    return [[canonical.event(event) for _ in range(3)][-1] for event in events]


CAMEL = {"type": "session.created", "eventId": "e1", "sessionId": "s1"}
SNAKE = {"type": "session.created", "event_id": "e1", "session_id": "s1"}


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (CAMEL, {**CAMEL, "thread_id": "t1"}),
        (CAMEL, {**CAMEL, "session_id": "s2"}),
        (SNAKE, {**SNAKE, "threadId": "t1"}),
        (CAMEL, {**CAMEL, "type": 7}),
        (CAMEL, {**CAMEL, "record": "run"}),
    ],
)
def test_what_is_spelt_in_two_ways_or_is_no_event_is_left_to_the_long_way(core, first, other):
    assert told(core, first, other) == [None]


def test_a_vendor_may_spell_its_own_names_as_it_likes(core):
    event = {**SNAKE, "payload": {"title": "One"}, "acmeTrace": {"spanId": 1}}
    assert told(core, SNAKE, event)[0] is event
    spelt = {**CAMEL, "payload": {"title": "One"}, "acme_trace": {"span_id": 1}}
    assert told(core, CAMEL, spelt) == [{**SNAKE, "payload": {"title": "One"}, "acme_trace": {"span_id": 1}}]


def test_a_respelling_does_the_same_to_other_values():
    before = {"aB": [{"cD": 1}, 2, [3]], "e": {"f": None}, "g": {"hI": "x"}}
    after = {"a_b": [{"c_d": 1}, 2, [3]], "e": {"f": None}, "g": {"h_i": "x"}}
    respell = respelling(before, after)
    assert respell(before) == after
    other = copy.deepcopy(before)
    other["aB"][0]["cD"], other["e"]["f"] = 9, {"jK": 1}
    assert respell(other) == {"a_b": [{"c_d": 9}, 2, [3]], "e": {"f": {"jK": 1}}, "g": {"h_i": "x"}}
    assert other["aB"][0] == {"cD": 9}, "what was read is not changed"


def test_nothing_respells_what_is_spelt_right():
    assert respelling({"a": [1, {"b": 2}], "c": "d"}, {"a": [1, {"b": 2}], "c": "d"}) is None


def test_a_document_of_another_layout_is_refused():
    respell = respelling({"aB": [{"cD": 1}]}, {"a_b": [{"c_d": 1}]})
    with pytest.raises(ValueError, match="zip"):
        respell({"aB": [{"cD": 1}, 2]})
