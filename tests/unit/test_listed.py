"""Lists whose entries are found by what tells them apart, and texts found within others."""

import pytest

from validator.protocol.protocol import load_protocol
from validator.replay.readmodels.agent_runtime.records import shape_of
from validator.replay.readmodels.listed import Listed
from validator.rules.agenthub._needles import Needles
from validator.rules.snapshot._compare import compare

SHAPE = shape_of(load_protocol("runagents"), "run_view")


def listed(*ids):
    entries = Listed("event_id")
    for rank, key in enumerate(ids):
        entries.enter(key, rank, {"event_id": key, "seq": rank})
    return entries


def told(expected, served):
    """How often something differs, by kind and pointer."""
    found = {}
    for entry in compare(expected, served, SHAPE):
        place = entry.kind, entry.pointer
        found[place] = found.get(place, 0) + entry.times
    return found


def test_entries_stand_in_the_order_of_their_ranks():
    entries = Listed("event_id")
    for key, rank in (("b", 2), ("a", 1), ("b", 0), ("c", 2), ("b", 1)):
        entries.enter(key, rank, f"{key}{rank}")
    assert entries == ["b0", "a1", "b1", "b2", "c2"]
    assert (entries.known["b"], entries.first["b"], entries.times("b")) == ("b2", 0, 3)
    assert (entries.times("c"), entries.times("d")) == (1, 0)


def test_the_last_of_several_alike_is_the_one_that_is_known():
    entries = Listed("event_id")
    for rank in (1, 3, 2):
        entries.enter("a", rank, f"a{rank}")
    assert (entries.known["a"], entries.first["a"], entries.times("a")) == ("a3", 1, 3)


def test_an_entry_can_leave():
    entries = listed("a", "b", "c")
    entries.leave("b")
    assert ([entry["event_id"] for entry in entries], "b" in entries.known) == (["a", "c"], False)


@pytest.mark.parametrize(
    "served",
    [
        [],
        ["a"],
        ["c", "b"],
        ["a", "b", "c", "d"],
        ["c", "b", "a", None],
        ["b", "a", "c"],
    ],
)
@pytest.mark.parametrize("expected", [(), ("a", "b", "c"), ("a", None, "c"), ("a", "b", "a")])
def test_a_list_differs_as_its_entries_do(expected, served):
    plain = [{"event_id": key, "seq": rank} for rank, key in enumerate(expected)]
    shown = {"events": [{"event_id": key} if key else {"seq": 1} for key in served]}
    assert told({"events": listed(*expected)}, shown) == told({"events": plain}, shown)


@pytest.mark.parametrize("served", [[], ["a"], ["b", "a"], ["a", "b", "c"], ["a", "a"], ["a", 1]])
def test_words_differ_as_in_any_list(served):
    words = Listed()
    for word in ("a", "b", "a"):
        words.add(word)
    assert words == ["a", "b"]
    assert told({"action_ids": words}, {"action_ids": served}) == told(
        {"action_ids": ["a", "b"]}, {"action_ids": served}
    )


def test_texts_are_found_within_others_and_others_within_them():
    needles = Needles()
    for text in ("make", "make docs", "ls", "make"):
        needles.add(text)
    assert set(needles.within("run make docs")) == {"make", "make docs"}
    assert list(needles.within("rm")) == []
    assert [needles.contain(text) for text in ("docs", "ls", "make ls", "rm")] == [True, True, False, False]
    needles.add("")
    assert list(needles.within("rm")) == [""]
