"""What rules remember has a bound."""

from validator.rules._recent import Recent


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
