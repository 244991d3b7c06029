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
from validator.rules.command._commands import Commands
from validator.rulestreams import options_of

LEFT_OPEN = ("CMD001", "CMD004", "CMD005", "CMD006", "CMD007", "CMD009", "CMD012", "CMD016", "CMD019")
"""Rules that speak at the end of what never followed."""
KEYED = ("trips-after-restart", "trips-second-task", "trips-refused")
"""Streams with an idempotency key, which is no id and thus the same in every copy."""
MADE = [
    stream
    for stream in STREAMS
    if stream[1] in LEFT_OPEN and stream[2].stem.startswith("trips") and stream[2].stem not in KEYED
]


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
    # A repetition is compared with a first that is not long ago.
    monkeypatch.setattr(world, "RECENT", len(path.read_bytes().splitlines()) if rule == "CMD009" else 4)
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


def test_commands_that_nobody_answers_are_told_apart_by_their_subjects():
    sent = [command(number, "create_task", {"task_id": f"k{number}", "objective": "o"}) for number in range(3)]
    told = [task(number, f"k{number}") for number in (1, 0, 2)]
    assert effects([*sent, *told]) == {"c0": 5, "c1": 4, "c2": 6}


def test_an_event_that_names_no_subject_may_be_the_effect_of_any_command():
    sent = [command(number, "create_task", {"task_id": f"k{number}", "objective": "o"}) for number in range(2)]
    assert effects([*sent, task(0, None)]) == {"c0": 3, "c1": 3}


def test_a_command_that_names_no_subject_may_have_written_any_event():
    sent = [command(0, "create_task", {"objective": "o"}), command(1, "create_task", {"task_id": "k1"})]
    assert effects([*sent, task(0, "k1"), task(1, "k2")]) == {"c0": 3, "c1": 3}


def test_a_command_that_is_settled_has_no_more_effects():
    sent = command(0, "create_task", {"task_id": "k0", "objective": "o"})
    refused = {"record": "result", "command": "create_task", "command_id": "c0", "result": {"outcome": "rejected"}}
    read = command(1, "get_session", {"session_id": "s"})
    commands = heard([sent, read, refused, task(0, "k1")])
    assert commands.sent["c0"].first is None
    assert "task.created" in commands._live.by_event, "the chosen id may still appear"
    taken = heard([sent, task(0, "k0"), {**refused, "result": {"outcome": "accepted", "task_id": "k0"}}])
    assert taken.sent["c0"].first.line == 2
    assert "task.created" not in taken._live.by_event


def command(number, name, request):
    return {"record": "command", "command": name, "command_id": f"c{number}", "request": {"session_id": "s", **request}}


def task(number, name):
    ids = {"session_id": "s", **({"task_id": name} if name else {})}
    return {"type": "task.created", "event_id": f"e{number}", "sequence": number + 1, **ids, "payload": {}}


def heard(told):
    replay = world.World(load_protocol("agent-runtime"), [Commands])
    for number, line in enumerate(told, 1):
        replay.apply(line, number)
    return replay.ledger(Commands)


def effects(told):
    return {key: sent.first and sent.first.line for key, sent in heard(told).sent.items()}
