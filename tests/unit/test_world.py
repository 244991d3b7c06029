"""What a world does when something in it is gone, or fails."""

import pytest

from validator.protocol.glance import Shape
from validator.replay import hearing
from validator.replay import world as worlds
from validator.replay.faded import Faded, Subjects
from validator.replay.hearing import ASTRAY
from validator.replay.subject import Subject
from validator.replay.world import World, _naming, _unknown


def note(number, kind="acme.note"):
    return {"type": kind, "event_id": f"e{number}", "sequence": number, "session_id": "s"}


class Steady:
    """Counts what it hears."""

    def __init__(self, world):
        self.heard = 0

    def apply(self, step):
        self.heard += 1


class Failing(Steady):
    """Cannot bear its second step."""

    def apply(self, step):
        super().apply(step)
        if self.heard == 2:
            raise ValueError("too much")


class Choosy(Steady):
    """Learns from some steps only."""

    hears = ("tool.*", "turn.started", "record:restart", "move:turn", "unlisted")


def test_a_ledger_that_failed_hears_nothing_more_and_is_not_read(core):
    world = World(core, [Failing, Steady])
    failing = world.ledger(Failing)
    for number in range(1, 5):
        world.apply(note(number), number)
    assert failing.heard == 2
    assert world.ledger(Steady).heard == 4
    with pytest.raises(ValueError, match="too much"):
        world.ledger(Failing)


@pytest.mark.parametrize(
    ("line", "heard"),
    [
        (note(1, "tool.progress"), True),
        (note(1, "tool.acme"), True),
        (note(1, "turn.started"), True),
        (note(1, "turn.completed"), True),
        (note(1, "acme.note"), True),
        (note(1, "policy.changed"), False),
        ({"record": "restart"}, True),
        ({"record": "run"}, False),
    ],
)
def test_a_ledger_hears_what_its_words_mean(line, heard, core):
    world = World(core, [Choosy])
    world.apply(line, 1)
    assert world.ledger(Choosy).heard == heard


@pytest.mark.parametrize("name", ["record:restart", "move:turn"])
def test_a_vendor_may_call_an_event_like_a_word_of_ours(name, core):
    class Restarts(Steady):
        hears = ("record:restart", "move:turn")

    world = World(core, [Restarts])
    world.apply(note(1, name), 1)
    assert world.ledger(Restarts).heard == 0


def test_with_too_many_types_the_ledgers_still_hear_what_they_heard(core, monkeypatch):
    monkeypatch.setattr(hearing, "_MOST", 1)
    world = World(core, [Choosy])
    for number, kind in enumerate(("acme.one", "acme.two", "policy.changed", "acme.two"), 1):
        world.apply(note(number, kind), number)
    assert world.ledger(Choosy).heard == 3


class Reader(Steady):
    """Learns from lines with some key, and from events out of order."""

    given = ("colour", ASTRAY)


class Sleeper(Steady):
    """Learns nothing before a hook runs or a colour is named."""

    since = ("hook.*", "colour")


@pytest.mark.parametrize(
    ("lines", "heard"),
    [
        ([note(1), note(2)], 0),
        ([note(1) | {"colour": "red"}], 1),
        ([note(1) | {"payload": {"parts": [{"colour": "red"}]}}], 1),
        ([note(1), note(3), note(4)], 1),
        ([note(2), note(1), note(3)], 1),
    ],
)
def test_a_ledger_hears_lines_that_hold_what_it_reads(lines, heard, core):
    world = World(core, [Reader])
    for number, line in enumerate(lines, 1):
        world.apply(line, number)
    assert world.ledger(Reader).heard == heard


@pytest.mark.parametrize("waking", [note(2, "hook.started"), note(2) | {"payload": {"colour": "red"}}])
def test_a_ledger_sleeps_until_what_it_waits_for(waking, core):
    world = World(core, [Sleeper])
    for number, line in enumerate((note(1), waking, note(3), note(4)), 1):
        world.apply(line, number)
    assert world.ledger(Sleeper).heard == 3


def test_types_that_wake_somebody_are_known_until_they_come(core):
    world = World(core, [Sleeper])
    types = ("hook.started", "hook.completed", "turn.started", "acme.note")
    bare, painted = Shape(()), Shape((("payload",), ("colour",)))
    assert [world.attention.rouses(kind, bare) for kind in types] == [True, True, False, False]
    assert world.attention.rouses("turn.started", painted)
    world.apply(note(1, "hook.started") | {"payload": {"colour": "red"}}, 1)
    assert not any(world.attention.rouses(kind, painted) for kind in types)


def test_who_hears_a_step_is_worked_out_again_when_too_much_is_remembered(core, monkeypatch):
    world = World(core, [Sleeper])
    steps = [world.apply(note(number, kind), number) for number, kind in enumerate(("hook.started", "turn.started"), 1)]
    monkeypatch.setattr(worlds, "_AUDIENCES", 1)
    first, _, again = (world.audience(step) for step in (*steps, steps[0]))
    assert first == again
    assert first is not again


def test_events_out_of_order_are_heard_by_who_asks_for_them(core):
    class Orderly(Steady):
        hears = (ASTRAY,)

    world = World(core, [Orderly])
    for number, sequence in enumerate((1, 2, 4, 5, 3), 1):
        world.apply(note(number) | {"sequence": sequence}, number)
    assert world.ledger(Orderly).heard == 2


@pytest.mark.parametrize(("pick", "picked"), [(_naming, ["a", ("a", "c")]), (_unknown, ["b", ("b", "c")])])
def test_keys_are_ids_or_hold_some(pick, picked):
    assert pick({"a"}, ["a", "b", ("a", "c"), ("b", "c")]) == picked


def test_without_the_fast_path_every_ledger_hears_every_step(core, monkeypatch):
    monkeypatch.setenv("RUNTIME_VALIDATE_FAST", "off")
    world = World(core, [Reader, Sleeper, Choosy])
    for number in (1, 2):
        world.apply(note(number, "policy.changed"), number)
    assert [world.ledger(kind).heard for kind in (Reader, Sleeper, Choosy)] == [2, 2, 2]


def test_a_ledger_that_is_not_there_is_not_found(core):
    with pytest.raises(KeyError):
        World(core, [Steady]).ledger(Choosy)


def test_a_faded_subject_is_found_by_its_id_and_no_other(monkeypatch):
    monkeypatch.setattr("validator.replay.faded._ASKED", 1)
    faded = Faded()
    turns = Subjects("turn", faded)
    with pytest.raises(KeyError):
        turns["t"]
    faded.keep(Subject("turn", "gone", "completed", "", history=[3, 7]))
    for name in ("t", "t", "u", "u"):
        assert turns.get(name) is None
        with pytest.raises(KeyError):
            turns[name]
    assert (turns["gone"].state, turns["gone"].history, turns["gone"].faded) == ("completed", [7], True)
    faded.keep(Subject("turn", "t", "failed", ""))
    assert turns["t"].state == "failed"
    turns["whole"] = Subject("turn", "whole", "running", "")
    assert turns.get("whole").state == turns["whole"].state == "running"
    turns["kept"] = Subject("turn", "kept", "running", "")
    assert turns.get("kept") is turns["kept"]


def test_what_was_forgotten_of_a_faded_subject_is_as_good_as_lost(core, monkeypatch):
    monkeypatch.setattr(worlds, "RECENT", 4)
    world = World(core)
    for number, kind in enumerate(("turn.submitted", "turn.started", "turn.completed"), 1):
        world.apply(note(number, kind) | {"turn_id": "t"}, number)
    for number in range(4, 12):
        world.apply(note(number), number)
    about = world.apply(note(12) | {"turn_id": "t"}, 12)
    assert world.subjects("turn")["t"].faded
    assert (world.unproved(about), world.unproved({"turn_id": "u"})) == (world.faded_at, None)
    monkeypatch.setattr(worlds, "_PRESENT", 0)
    assert [world.unproved({"turn_id": name}) for name in ("v", "u", "v", "t")] == [None, None, None, world.faded_at]
