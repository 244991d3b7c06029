"""A queue of very many turns costs no more per change than a short one."""

import pytest

from validator.rules.command.queue_miscounted import Queue


class Name(str):
    """Counts how often it is compared."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other):
        Name.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


@pytest.fixture
def queue():
    found, Name.compared = Queue(), 0
    for number in range(300):
        found.put(Name(f"q{number}"), None)
    return found


def test_a_turn_is_put_at_the_end_without_a_look_at_the_others(queue):
    assert Name.compared < 300
    assert queue.names[-1] == "q299"


def test_the_first_turn_is_taken_without_a_look_at_the_others(queue):
    Name.compared = 0
    for number in range(300):
        queue.take([Name(f"q{number}")])
    assert Name.compared <= 3 * 300
    assert (queue.names, dict(queue.counts)) == ([], {})


def test_a_turn_that_is_listed_twice_is_taken_wherever_it_stands():
    queue = Queue()
    queue.become(["a", "b", "a"])
    queue.put("b", 0)
    assert queue.names == ["b", "a", "a"]
    queue.take(["a"])
    assert queue.names == ["b"]
    queue.take(["b", "c"])
    assert not queue.counts
