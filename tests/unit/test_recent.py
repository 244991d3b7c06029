"""What rules remember has a bound."""

from validator.rules._recent import Recent, Waiting


def test_the_oldest_entry_is_forgotten_first():
    recent = Recent(2)
    for key in "abc":
        recent.keep(key, key.upper())
    assert recent == {"b": "B", "c": "C"}


def test_an_entry_that_is_there_stays_and_forgets_nothing():
    recent = Recent(2)
    for key, value in (("a", 1), ("b", 2), ("a", 3)):
        recent.keep(key, value)
    assert recent == {"a": 1, "b": 2}


def test_what_waits_under_a_key_is_taken_once_in_its_order():
    waiting = Waiting(10)
    for key, value in ((1, "a"), (2, "b"), (1, "c")):
        waiting.add(key, value)
    assert list(waiting.take(1)) == ["a", "c"]
    assert list(waiting.take(1)) == []
    assert list(waiting.take(2)) == ["b"]


def test_of_all_that_waits_the_oldest_is_forgotten():
    waiting = Waiting(2)
    for key, value in ((1, "a"), (1, "b"), (2, "c"), (2, "d"), (3, "e")):
        waiting.add(key, value)
    assert {key: list(told) for key, told in waiting.items()} == {2: ["d"], 3: ["e"]}


def test_what_was_taken_is_not_forgotten_again():
    waiting = Waiting(1)
    waiting.add(1, "a")
    waiting.take(1)
    waiting.add(2, "b")
    assert {key: list(told) for key, told in waiting.items()} == {2: ["b"]}


def test_what_was_looked_at_and_left_there_is_forgotten_as_well():
    waiting = Waiting(2)
    for key, value in ((1, "a"), (1, "b")):
        waiting.add(key, value)
    assert {key: list(told) for key, told in waiting.items()} == {1: ["a", "b"]}
    waiting.add(2, "c")
    assert {key: list(told) for key, told in waiting.items()} == {1: ["b"], 2: ["c"]}
    waiting.add(2, "d")
    assert list(waiting) == [2]
    waiting.discard(2)
    assert list(waiting) == []
