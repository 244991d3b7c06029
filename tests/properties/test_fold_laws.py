"""Laws of the replay: how a stream is cut, repeated, decorated or mixed does not change what it amounts to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import PROTOCOLS
from tests.properties.streams import (
    GOLDEN,
    READABLE,
    calm,
    camel,
    insertions,
    interleaved,
    law,
    lines_of,
    renamed,
    replayed,
    shown,
    vendor_event,
)
from validator.capture.canonical import Canonical
from validator.protocol.protocol import load_protocol

CALM = {name: calm(name) for name in PROTOCOLS}
ALL = [*[(name, path) for name in PROTOCOLS for path in GOLDEN[name]], *[(name, path) for name, path, _ in READABLE]]


@law
@given(capture=st.sampled_from(ALL), data=st.data())
def test_prefix_then_suffix_is_the_whole(capture, data):
    name, path = capture
    lines = lines_of(path)
    cut = data.draw(st.integers(0, len(lines)))
    world = replayed(name, lines[:cut])
    shown(world)  # looking at a replay does not change it
    for number, line in enumerate(lines[cut:], start=cut + 1):
        world.apply(line, number)
    assert shown(world) == shown(replayed(name, lines))


@law
@given(capture=st.sampled_from(ALL), data=st.data())
def test_an_event_delivered_again_changes_nothing(capture, data):
    name, path = capture
    lines = lines_of(path)
    told = list(lines)
    for place in reversed(data.draw(insertions(len(lines)))):
        earlier = [line for line in lines[:place] if "record" not in line and identified(name, line, lines)]
        if earlier:
            told.insert(place, data.draw(st.sampled_from(earlier)))
    assert shown(replayed(name, told)) == shown(replayed(name, lines))


def identified(name, line, lines):
    """True for an event that can be told by its identity, which no other event of the stream has taken."""
    identity = identity_of(name, line)
    same = [other for other in lines if "record" not in other and identity_of(name, other) == identity]
    return identity is not None and all(other == line for other in same)


def identity_of(name, line):
    lens = load_protocol(name).lens
    named = lens.get(line, "event_id")
    return named if named is not None else lens.get(line, "sequence")


@law
@given(capture=st.sampled_from(ALL), data=st.data())
def test_what_nobody_lists_moves_nothing(capture, data):
    name, path = capture
    lines = lines_of(path)
    told = [
        {**line, "x_acme": {"status": "failed", "task_id": "t"}} if "record" not in line else line for line in lines
    ]
    for number, place in reversed(list(enumerate(data.draw(insertions(len(lines))), start=1))):
        event = vendor_event(name, number, lines[:place])
        if not any("session_id" in line for line in lines):
            # Events that name no session belong to the first one that is named.
            event.pop("session_id", None)
        told.insert(place, event)
    expected, found = shown(replayed(name, lines)), shown(replayed(name, told))
    assert found["states"] == expected["states"]
    assert about_listed(found["models"]) == about_listed(expected["models"])


def about_listed(models):
    """The documents without those about the vendor's own stream, and without the fields no schema lists."""
    return {key: listed(body) for key, body in models.items() if "acme" not in key[1]}


def listed(value):
    if isinstance(value, dict):
        return {key: listed(sub) for key, sub in value.items() if key != "x_acme"}
    return [listed(sub) for sub in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", PROTOCOLS)
@law
@given(data=st.data())
def test_independent_streams_commute(name, data):
    one, two = (lines_of(data.draw(st.sampled_from(CALM[name]))) for _ in range(2))
    one, two = renamed(one, "_one"), renamed(two, "_two")
    mixed, _ = interleaved(data.draw(st.lists(st.booleans(), max_size=60)), one, two)
    expected = [shown(replayed(name, lines)) for lines in (one, two)]
    found = shown(replayed(name, mixed))
    states = {
        machine: {**expected[0]["states"][machine], **subjects} for machine, subjects in expected[1]["states"].items()
    }
    assert found["states"] == states
    assert found["models"] == {**expected[0]["models"], **expected[1]["models"]}


@law
@given(path=st.sampled_from(GOLDEN["agent-runtime/0.3"]))
def test_the_other_casing_tells_the_same(path):
    core = load_protocol("agent-runtime")
    lines, canonical = lines_of(path), Canonical(core)
    told = [canonical.read(camel(core, line))[0].document for line in lines]
    assert shown(replayed(core.id, told)) == shown(replayed(core.id, lines))
