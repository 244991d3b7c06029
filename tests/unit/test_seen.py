"""Every event is remembered, in no more bytes than it may cost."""

import random
from itertools import pairwise

from validator.replay import order
from validator.replay.seen import Noted, SeenEvents


def test_an_event_is_met_again_with_its_first_body_and_line_whatever_came_between():
    chance, seen = random.Random(5), SeenEvents()
    events = [(chance.getrandbits(64), chance.getrandbits(64)) for _ in range(20_000)]
    assert all(seen.meet(key, body, line) is None for line, (key, body) in enumerate(events))
    assert len(seen) == 20_000
    assert all(seen.meet(key, 0, 99) == (body, line) for line, (key, body) in enumerate(events))
    assert len(seen) == 20_000


def test_keys_that_fall_into_one_part_are_kept_apart():
    seen = SeenEvents()
    keys = [7 + 16 * 64 * step for step in range(50)] + [0]
    assert all(seen.meet(key, key % 1000, key) is None for key in keys[:1])
    for key in keys[1:]:
        assert seen.meet(key, 1, 2) is None
    assert seen.meet(7, 0, 0) == (7, 7)


def test_what_is_noted_again_replaces_what_was_noted():
    noted = Noted()
    noted.note(5, 1, 10)
    noted.note(5, 2, 11)
    assert (noted.get(5), noted.get(21), len(noted)) == ((2, 11), None, 1)


def test_what_the_tables_take_rises_evenly():
    chance, seen = random.Random(7), SeenEvents()
    sizes = [seen.bytes_used]
    for count in range(1, 30_000):
        seen.meet(chance.getrandbits(64), 0, count)
        sizes.append(seen.bytes_used)
    steps = [now / before for before, now in pairwise(sizes) if now != before]
    assert len(steps) > 100
    assert max(steps[16:]) < 1.05


def test_an_event_costs_at_most_48_bytes():
    chance, seen = random.Random(6), SeenEvents()
    worst = 0.0
    for count in range(1, 30_000):
        seen.meet(chance.getrandbits(64), 0, count)
        if count > 1024:
            worst = max(worst, seen.bytes_used / count)
    assert 20 < worst <= 48


def test_as_many_types_are_told_apart_as_the_bits_allow(core, monkeypatch):
    monkeypatch.setattr(order, "_KIND", 3)
    met = order.Order(core)
    for number, kind in enumerate(("session.created", "session.updated", "thread.started", "turn.started"), 1):
        met.meet({"type": kind, "event_id": f"e{number}"}, number)
    assert [met.find(f"e{number}") for number in range(1, 5)] == [
        (1, "session.created"),
        (2, "session.updated"),
        (3, "thread.started"),
        (4, ""),
    ]


def test_several_are_met_up_to_the_first_that_was_met_before():
    chance, seen, alone = random.Random(8), SeenEvents(), SeenEvents()
    keys = [chance.getrandbits(64) for _ in range(20_000)]
    for start in range(0, len(keys), 100):
        some = keys[start : start + 100]
        assert seen.meet_all(some, some, start) == 100
        for line, key in enumerate(some, start):
            alone.meet(key, key, line)
    assert len(seen) == len(alone) == 20_000
    assert [seen.get(key) for key in keys] == [alone.get(key) for key in keys]
    assert seen.meet_all([1, 2, keys[5], 3], [0] * 4, 7) == 2
    assert (seen.get(2), seen.get(3)) == ((0, 8), None)
    assert seen.meet_all([4, 5, 4], [0] * 3, 7) == 2
