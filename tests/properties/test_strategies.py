"""Strategies draw valid documents of every kind; vendors can rely on them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import PROTOCOLS
from validator.errors import UsageError
from validator.protocol.casing import to_camel, to_canonical
from validator.protocol.formats import is_date_time
from validator.protocol.protocol import load_protocol
from validator.testing.strategies import documents, events, mutated, timestamps

EVENTS = [(name, event) for name in PROTOCOLS for event in load_protocol(name).events]


@pytest.mark.parametrize(("name", "event"), EVENTS)
@settings(max_examples=4)
@given(data=st.data())
def test_a_drawn_event_is_valid_and_of_its_type(name, event, data):
    protocol = load_protocol(name)
    drawn = data.draw(events(protocol, event))
    assert protocol.store.errors(protocol.events[event], drawn) == []
    assert protocol.type_of(drawn) == event


@pytest.mark.parametrize("name", PROTOCOLS)
@given(data=st.data())
def test_any_event_of_a_protocol_can_be_drawn_by_name(name, data):
    protocol = load_protocol(name)
    drawn = data.draw(events(name))
    assert protocol.type_of(drawn) in protocol.events


@given(timestamps())
def test_a_drawn_instant_exists(text):
    assert is_date_time(text)


def test_mutation_really_breaks_documents(core):
    reference = core.events["task.created"]
    verdicts = []

    @settings(max_examples=60, derandomize=True, database=None)
    @given(mutated(events(core, "task.created")))
    def collect(document):
        verdicts.append(core.store.validator(reference).is_valid(document))

    collect()
    assert set(verdicts) == {True, False}


@settings(max_examples=60)
@given(data=st.data())
def test_the_camel_binding_is_lossless_for_any_valid_event(data):
    core = load_protocol("agent-runtime")
    event = data.draw(events(core))
    reference = core.schema_for(event["type"])
    there = to_camel(core.store, reference, event)
    assert to_canonical(core.store, reference, there.document).document == event


def test_an_unknown_kind_is_a_clear_error(core):
    with pytest.raises(UsageError, match=r"has no 'events/turn\.exploded'"):
        documents(core, "events/turn.exploded")
