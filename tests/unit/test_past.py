"""A snapshot is compared with the replay at the sequence it claims, as far back as steps are kept."""

import pytest

from validator import resources
from validator.capture.lines import read_lines
from validator.protocol.protocol import load_protocol
from validator.replay.readmodels import MODELS, ReadModels
from validator.replay.readmodels.agent_runtime import past
from validator.replay.readmodels.agent_runtime.past import Replay
from validator.replay.world import World

GOLDEN = resources.fixtures() / "agent-runtime" / "0.3" / "golden"
STORIES = ("task-board", "subagents", "gap-with-open-work", "two-threads")


def lines(story):
    return list(read_lines(GOLDEN / f"{story}.ndjson"))


def replayed(story, ledger, upto=None):
    world = World(load_protocol("agent-runtime/0.3"), [ledger])
    for number, line in lines(story)[:upto]:
        world.apply(line, number)
    return world.ledger(ledger)


def documents(models):
    """Every document of every session and thread."""
    threads = [None, "thr_1", "thr_2"]
    return {
        (session, model, thread): models.build(model, thread, None, session)
        for session in models.sessions
        for model in MODELS
        for thread in threads
    }


@pytest.mark.parametrize("story", STORIES)
def test_kept_steps_tell_what_the_world_tells(story):
    replay = replayed(story, Replay)
    assert documents(replay.at(None, None, 10**6).models) == documents(replayed(story, ReadModels))


@pytest.mark.parametrize("story", STORIES)
def test_an_earlier_sequence_is_told_as_it_was(story):
    middle = len(lines(story)) // 2
    event = next(line for _, line in reversed(lines(story)[:middle]) if "record" not in line)
    early = replayed(story, ReadModels, upto=middle)
    found = replayed(story, Replay).at(event["session_id"], event["sequence"], 10**6)
    assert found.models.sequence(event["session_id"]) == event["sequence"]
    assert documents(found.models) == documents(early)


def test_what_was_taken_in_is_not_taken_back():
    replay = replayed("task-board", Replay)
    session = next(line["session_id"] for _, line in lines("task-board") if "record" not in line)
    assert replay.at(session, 8, 10**6) is not None
    assert replay.at(session, 4, 10**6) is None
    assert replay.at(session, 9, 10**6) is not None


def test_few_steps_are_kept_and_nothing_is_forgotten(monkeypatch):
    monkeypatch.setattr(past, "KEPT", 5)
    exact = documents(replayed("task-board", ReadModels))
    replay = replayed("task-board", Replay)
    assert len(replay._waiting) == 5
    assert documents(replay.at(None, None, 10**6).models) == exact
