"""A command that a rule has yet to speak of at the end is not let go of, however long ago it was sent."""

import io
from itertools import chain

import pytest

from tests.conformance.test_rules import STREAMS, named
from tests.conformance.variations import document, renamed, written
from validator import resources
from validator.engine import Options, validate
from validator.protocol.protocol import load_protocol
from validator.replay import world
from validator.rulestreams import options_of

LEFT_OPEN = ("CMD001", "CMD004", "CMD005", "CMD006", "CMD012")
"""Rules that speak at the end of what never followed."""
MADE = [stream for stream in STREAMS if stream[1] in LEFT_OPEN and stream[2].stem.startswith("trips")]


def told_thrice(path):
    """A stream, and behind it the same two more times under other ids."""
    once = [document(line) for line in path.read_bytes().splitlines()]
    again = [one for one in once if one.get("record") != "header"]
    twice = [renamed(one) for one in again]
    return b"\n".join(map(written, [*once, *twice, *map(renamed, twice)])) + b"\n"


def found(protocol, rule, path, entry):
    report = validate(io.BytesIO(told_thrice(path)), path.name, options_of(protocol, entry))
    return [fault.line for fault in report.findings if fault.rule == rule]


@pytest.mark.parametrize(("name", "rule", "path", "entry"), MADE, ids=named)
def test_a_command_with_something_left_to_say_is_kept(name, rule, path, entry, monkeypatch):
    protocol = load_protocol(name)
    whole = found(protocol, rule, path, entry)
    assert len(whole) >= 3
    monkeypatch.setattr(world, "RECENT", 4)
    assert found(protocol, rule, path, entry) == whole


RULES = resources.fixtures() / "agent-runtime" / "0.3" / "rules"
QUEUED = [stream for stream in STREAMS if stream[1] == "CMD019"]


@pytest.mark.parametrize(("name", "rule", "path", "entry"), QUEUED, ids=named)
def test_an_interrupt_whose_policy_was_kept_hides_none_whose_was_not(name, rule, path, entry):
    assert len(found(load_protocol(name), rule, path, entry)) == (3 if path.stem.startswith("trips") else 0)


def test_a_second_answer_long_after_the_first_answers_a_command_that_was_let_go_of(monkeypatch):
    once = [document(line) for line in (RULES / "CMD003" / "near-joined.ndjson").read_bytes().splitlines()]
    copies = [once]
    for _ in range(5):
        copies.append([renamed(one) for one in copies[-1]])
    told = [*chain.from_iterable(copies), copies[1][-1]]
    assert found_by("CMD003", told) == []
    monkeypatch.setattr(world, "RECENT", 4)
    assert found_by("CMD003", told) == []


def test_what_a_forgotten_turn_belonged_to_cannot_be_held_against_an_answer(monkeypatch):
    told = [document(line) for line in (RULES / "CMD011" / "near-other-thread.ndjson").read_bytes().splitlines()]
    again = [renamed(one) for one in told[:6]]
    told[6:6] = [*again, *(renamed(one) for one in again)]
    assert found_by("CMD011", told) == []
    monkeypatch.setattr(world, "RECENT", 2)
    assert found_by("CMD011", told) == []


def found_by(rule, told):
    raw = b"\n".join(map(written, told)) + b"\n"
    report = validate(io.BytesIO(raw), "x", Options(protocol="agent-runtime", select=(rule,), expect="prefix"))
    assert report.looks.get(rule)
    return [fault.line for fault in report.findings]
