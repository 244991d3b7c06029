"""A snapshot is compared with the replay at the sequence it claims, as far back as steps are kept."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from validator import resources
from validator.capture.lines import read_lines
from validator.engine import validate
from validator.protocol.protocol import load_protocol
from validator.replay.readmodels import MODELS, ReadModels
from validator.replay.readmodels.agent_runtime import recall
from validator.replay.readmodels.agent_runtime.recall import Replay
from validator.replay.step import Stretch
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


def test_too_many_events_are_given_up_with_their_session(monkeypatch):
    session = next(line["session_id"] for _, line in lines("task-board") if "record" not in line)
    events = sum("record" not in line for _, line in lines("task-board"))
    monkeypatch.setattr(recall, "TAKEN", events)
    assert replayed("task-board", Replay).at(session, 9, 10**6) is not None
    monkeypatch.setattr(recall, "TAKEN", events - 1)
    replay = replayed("task-board", Replay)
    assert replay.is_gone(session)
    assert replay.at(session, 9, 10**6) is None


@pytest.mark.parametrize(("sizes", "gone"), [((1, 8), 1), ((4, 4, 4), 1), ((4, 4, 4, 4), 2)])
def test_only_as_many_sessions_are_given_up_as_there_is_need_for(sizes, gone, monkeypatch):
    monkeypatch.setattr(recall, "TAKEN", 8)
    world, number = World(load_protocol("agent-runtime/0.3"), [Replay]), 0
    for session, size in enumerate(sizes):
        for sequence in range(1, size + 1):
            number += 1
            line = {"type": "acme.note", "event_id": f"e{number}", "timestamp": "2026-05-08T09:00:00Z"}
            world.apply({**line, "sequence": sequence, "session_id": f"ses_{session}"}, number)
    replay = world.ledger(Replay)
    assert [replay.is_gone(f"ses_{session}") for session in range(len(sizes))] == [
        session < gone for session in range(len(sizes))
    ]


def test_numbers_that_bytes_would_not_tell_are_kept_as_they_are():
    world = World(load_protocol("agent-runtime/0.3"), [ReadModels, Replay])
    line = {"type": "session.created", "event_id": "e1", "timestamp": "2026-05-08T09:00:00Z", "sequence": 1}
    payload = {"title": "\ud800", "metadata": {"huge": 10**40, "none": None, "infinite": float("inf")}}
    world.apply({**line, "session_id": "ses_1", "payload": payload}, 1)
    found = world.ledger(Replay).at("ses_1", 1, 10**6).models.build("session_snapshot", session_id="ses_1")
    assert found == world.ledger(ReadModels).build("session_snapshot", session_id="ses_1")


def test_a_line_that_could_not_be_read_is_in_doubt_in_the_past_as_well():
    story = [line for _, line in lines("two-threads")]
    middle = len(story) // 2
    world = World(load_protocol("agent-runtime/0.3"), [ReadModels, Replay])
    for number, line in enumerate(story[:middle], 1):
        world.apply(line, number)
    world.doubt(middle + 1)
    world.apply(story[middle], middle + 2)
    now = world.ledger(ReadModels)
    session = next(iter(now.sessions))
    found = world.ledger(Replay).at(session, now.sequence(session), 10**6)
    assert found.lost() == middle + 1
    assert documents(found.models) == documents(now)
    assert found.models.build("session_snapshot")["freshness"] == "stale"


def test_events_of_another_session_are_not_needed():
    world = World(load_protocol("agent-runtime/0.3"), [Replay])
    told = [("ses_1", 1), ("ses_2", 1), ("ses_1", 2), ("ses_2", 2)]
    for number, (session, sequence) in enumerate(told, 1):
        kind = "session.created" if sequence == 1 else "session.updated"
        line = {"type": kind, "event_id": f"e{number}", "timestamp": "2026-05-08T09:00:00Z", "sequence": sequence}
        world.apply({**line, "session_id": session, "payload": {"title": f"{number}"}}, number)
    replay = world.ledger(Replay)
    found = replay.at("ses_1", 1, 10**6).models
    assert found.sessions == ["ses_1"]
    assert replay.at("ses_1", 2, 10**6).models.sessions == ["ses_1"]
    both = replay.at("ses_1", 2, 10**6, alone=False).models
    assert both.build("session_snapshot", session_id="ses_2")["title"] == "4"


def noted(number, session, kind="acme.note", **more):
    line = {"type": kind, "event_id": f"e{number}", "timestamp": "2026-05-08T09:00:00Z", "sequence": number, **more}
    return {**line, "session_id": session} if session else line


def channels(replay):
    replay._settle()
    return {name: list(sessions) for name, sessions in replay._channels.items()}


def test_a_channel_told_before_any_session_belongs_to_the_first(core):
    world = World(core, [Replay])
    world.apply(noted(1, None, "channel.connected", channel_id="c"), 1)
    assert channels(world.ledger(Replay)) == {"c": [None]}
    world.apply(noted(2, "s"), 2)
    assert channels(world.ledger(Replay)) == {"c": ["s"]}


def test_a_channel_may_be_what_names_the_first_session(core):
    world = World(core, [Replay])
    world.apply(noted(1, None), 1)
    world.apply(noted(2, "s", "channel.connected", channel_id="c"), 2)
    assert channels(world.ledger(Replay)) == {"c": ["s"]}


def test_what_is_taken_in_together_is_taken_in_when_there_is_enough_of_it(core, monkeypatch):
    monkeypatch.setattr(recall, "_AT_ONCE", 2)
    world = World(core, [Replay])
    waits = []
    for number in (1, 2, 3):
        world.apply(noted(number, "s"), number)
        waits.append(len(world.ledger(Replay)._new))
    assert waits == [1, 0, 1]
    assert world.ledger(Replay).reached("s") == (3, 3)
    assert sorted(world.ledger(Replay).lines("s", 9)) == [1, 2, 3]


def test_a_channel_of_two_sessions_stays_with_the_one_that_is_kept(core, monkeypatch):
    monkeypatch.setattr(recall, "TAKEN", 3)
    world = World(core, [Replay])
    told = [("one", 1, "channel.connected", "c"), ("two", 1, "channel.disconnected", "c")]
    told += [("one", 2, "channel.connected", "d")]
    for number, (session, sequence, kind, channel) in enumerate(told, 1):
        world.apply({**noted(number, session, kind, channel_id=channel), "sequence": sequence}, number)
    assert channels(world.ledger(Replay)) == {"c": ["one", "two"], "d": ["one"]}
    world.apply({**noted(4, "two"), "sequence": 2}, 4)
    assert channels(world.ledger(Replay)) == {"c": ["two"]}


def test_a_repeated_event_of_a_session_that_was_given_up_is_not_kept(core, monkeypatch):
    monkeypatch.setattr(recall, "TAKEN", 1)
    world = World(core, [Replay])
    steps = [world.apply(noted(number, "s"), number) for number in (1, 2)]
    replay = world.ledger(Replay)
    assert replay.is_gone("s")
    replay.echo([Stretch(steps[-1], 3, steps[-1].place.sequence + 1, [b"{}", b"{}"])])
    assert replay.is_gone("s")
    assert "s" not in replay._waiting


def standing(replay, sessions):
    """All that a replay knows of some sessions, what waits being told one by one."""
    told = {name: (replay.reached(name), sorted(replay.lines(name, 1000)), replay.is_gone(name)) for name in sessions}
    waiting = {name: [(kept.number, kept.sequence) for kept in replay._unroll(name)] for name in sessions}
    counts = [(name, known.events, sorted(known.streams)) for name, known in replay._kept.items()]
    return told, waiting, counts, replay._held


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 6), st.booleans()), max_size=12), st.integers(1, 12))
def test_a_stretch_is_kept_as_its_events_are_one_by_one(told, taken):
    """Events of three sessions, some judged in full and some in stretches; few are kept."""
    together, apart = (World(load_protocol("agent-runtime/0.3"), [Replay]) for _ in range(2))
    number, places = 0, {}
    with pytest.MonkeyPatch.context() as patcher:
        patcher.setattr(recall, "TAKEN", taken)
        for session, count, asks in told:
            number, sequence = number + 1, places.get(session, 0) + 1
            first = {**noted(number, session), "sequence": sequence}
            for world, size in ((together, count), (apart, 1)):
                step = world.apply(first, number)
                for start in range(0, count, size):
                    lines = [b"{}"] * size
                    world.ledger(Replay).echo([Stretch(step, number + 1 + start, sequence + 1 + start, lines)])
            number, places[session] = number + count, sequence + count
            if asks:
                assert standing(together.ledger(Replay), "abc") == standing(apart.ledger(Replay), "abc")
        assert standing(together.ledger(Replay), "abc") == standing(apart.ledger(Replay), "abc")


@pytest.mark.parametrize("stream", ["SNP001/trips-other-attempt", "SNP006/trips-edge-gone", "SNP007/trips-answer"])
def test_what_a_session_that_was_given_up_told_is_held_against_no_answer(stream, monkeypatch):
    told = (resources.fixtures() / "agent-runtime" / "0.3" / "rules" / f"{stream}.ndjson").read_bytes()
    rule = stream.partition("/")[0]
    assert [found.rule for found in validate(io.BytesIO(told)).findings] == [rule]
    monkeypatch.setattr(recall, "TAKEN", 1)
    assert validate(io.BytesIO(told)).findings == ()
