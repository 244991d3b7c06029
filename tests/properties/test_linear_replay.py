"""What showing a replay takes grows with it, and no faster.

Counted are the lines of our own code that are run, and how often ids are compared.
"""

from tests.bench.work import lines_run
from validator.protocol.protocol import load_protocol
from validator.renderers.masking import masked
from validator.renderers.replay import render_text
from validator.replay.run import Replayed

FEW, TIMES, MOST = 100, 4, 4.2
CORE = load_protocol("agent-runtime")


class Id(str):
    """An id that counts how often one is compared with another."""

    compared = 0

    __hash__ = str.__hash__

    def __eq__(self, other):
        Id.compared += 1
        return super().__eq__(other)


def test_a_subject_is_looked_for_once_among_those_in_doubt():
    def work(count):
        states = {"task": {Id(f"task_{number}"): "running" for number in range(count)}}
        doubted = {"task": tuple(Id(f"task_{number}") for number in range(count))}
        replayed = Replayed("a.ndjson", CORE, states=states, doubted=doubted)
        render_text(replayed)
        before = Id.compared
        return lines_run(lambda: render_text(replayed)) + Id.compared - before

    assert work(FEW * TIMES) < MOST * work(FEW)


def test_keys_that_are_masked_alike_are_told_apart_without_trying_every_number():
    def leaking(count):
        return {f"/home/alice/{number}": number for number in range(count)}

    def work(count):
        masked(leaking(count), CORE)
        return lines_run(lambda: masked(leaking(count), CORE))

    assert len(masked(leaking(FEW), CORE)) == FEW
    assert work(FEW * TIMES) < MOST * work(FEW)


def test_a_key_that_looks_like_a_numbered_one_keeps_its_name():
    (name,) = masked({"/home/alice/a": 1}, CORE)
    document = {"/home/alice/a": 1, f"{name} 2": 2, "/home/alice/b": 3, "/home/alice/c": 4}
    assert list(masked(document, CORE)) == [name, f"{name} 2", f"{name} 3", f"{name} 4"]
