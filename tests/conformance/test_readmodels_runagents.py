"""The validator's own read models of RunAgents equal every expected model of the golden captures."""

import json

import pytest

from validator import resources
from validator.capture.lines import read_lines
from validator.protocol.honest import is_honest
from validator.protocol.protocol import load_protocol
from validator.replay.readmodels.runagents import ActionViews, RunViews, vocabulary_of
from validator.replay.world import World

GOLDEN = resources.fixtures() / "runagents" / "1" / "golden"


def by_word(value):
    """Honest values compare by their word, not by the sentence that explains it."""
    if is_honest(value):
        return {"honest": value["honest"]}
    if isinstance(value, dict):
        return {key: by_word(entry) for key, entry in value.items()}
    return [by_word(entry) for entry in value] if isinstance(value, list) else value


def replay(path):
    world = World(load_protocol("runagents"), (RunViews, ActionViews))
    for number, line in read_lines(path):
        world.apply(line, number)
    return world


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.ndjson")), ids=lambda path: path.stem)
def test_views_are_what_the_capture_amounts_to(path):
    world = replay(path)
    expected = json.loads(path.with_suffix("").with_suffix(".readmodel.json").read_text())["models"]
    for view in expected.get("run_view", []):
        assert by_word(world.ledger(RunViews).build(view["run_id"])) == by_word(view)
    for view in expected.get("action_view", []):
        assert by_word(world.ledger(ActionViews).build(view["action_id"])) == by_word(view)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.ndjson")), ids=lambda path: path.stem)
def test_views_fit_their_schemas(path):
    world = replay(path)
    store = world.protocol.store
    runs, actions = world.ledger(RunViews), world.ledger(ActionViews)
    for run in runs.runs():
        assert not store.errors(world.protocol.snapshots["run_view"], runs.build(run))
    for action in actions.actions():
        assert not store.errors(world.protocol.snapshots["action_view"], actions.build(action))


def test_a_pause_after_an_unreadable_line_is_stale():
    world = World(load_protocol("runagents"), (RunViews,))
    event = {"event_id": "e1", "run_id": "r1", "seq": 1, "type": "USER_MESSAGE", "timestamp": "2026-01-01T00:00:00Z"}
    world.apply(event, 1)
    world.doubt(2)
    assert world.ledger(RunViews).build("r1")["status"] == "stale"
    assert is_honest(world.ledger(RunViews).build("r1")["reason"])


def event(sequence, kind, **data):
    time = f"2026-01-01T00:00:{sequence:02}Z"
    return {"event_id": f"e{sequence}", "run_id": "r1", "seq": sequence, "type": kind, "timestamp": time, "data": data}


def told(*lines):
    world = World(load_protocol("runagents"), (RunViews, ActionViews))
    for number, line in enumerate(lines, start=1):
        world.apply(line, number)
    return world


@pytest.mark.parametrize(
    ("kinds", "vocabulary"),
    [(["ACME_NOTE"], None), (["APPROVAL_REQUIRED", "ACME_NOTE"], "shared"), (["RUN_CREATED"], "api")],
)
def test_words_that_no_table_lists_belong_to_no_vocabulary(kinds, vocabulary):
    world = told(*(event(sequence, kind) for sequence, kind in enumerate(kinds, start=1)))
    view = world.ledger(RunViews).build("r1")
    assert (view["vocabulary"], len(view["events"])) == (vocabulary, len(kinds))


def test_words_of_both_vocabularies_are_mixed():
    words = vocabulary_of(load_protocol("runagents"))
    kinds = [next(word for word in words if words[word] == side) for side in ("operations", "api")]
    for count, expected in ((1, "operations"), (2, "mixed")):
        world = told(*(event(sequence, kind) for sequence, kind in enumerate(kinds[:count], start=1)))
        assert world.ledger(RunViews).build("r1")["vocabulary"] == expected


def test_a_request_without_an_id_is_the_request_of_no_action():
    request = {"action_id": "a1", "scope": "once"}
    snapshot = {"record": "snapshot", "model": "approval_request"}
    lines = [
        event(1, "APPROVAL_REQUIRED", action_id="a1"),
        event(2, "APPROVED", action_id="a1"),
        {**snapshot, "snapshot": request},
    ]
    view = told(*lines).ledger(ActionViews).build("a1")
    assert is_honest(view["request_id"])
    assert is_honest(view["scope"])
    view = told(*lines, {**snapshot, "snapshot": {**request, "id": "q1"}}).ledger(ActionViews).build("a1")
    assert (view["request_id"], view["scope"]) == ("q1", "once")
