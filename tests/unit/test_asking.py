"""Rules that share a quiet function are run once per key, and every step of the key counts as looked at."""

import io
import json

import pytest

from validator.asking import Asker
from validator.context import Context, Options
from validator.engine import validate
from validator.replay.form import Condition, minded
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import Rule, finding, seen
from validator.tally import Tally


def make(check, quiet):
    return Rule("XXX001", "x", {"agent-runtime": ("C-1", "C-2")}, ("*",), check, quiet=quiet)


@pytest.fixture
def tally(core):
    return Tally("-", World(core), lambda clause: "MUST", 100)


def asker(tally, core):
    return Asker(tally, World(core), Context(Options(), lambda clause: "MUST"))


def settled(tally, asking):
    asking.settle()
    tally.settle("agent-runtime")
    return tally.rule_looks, tally.looks


def test_alike_steps_are_looked_at_once_and_counted_each(tally, core):
    runs = []

    def check(step, world, context):
        runs.append(step.number)
        yield seen("C-1")
        yield seen()

    asking = asker(tally, core)
    rules = (make(check, lambda step, world, context: step.type),)
    for number, kind in enumerate("aabab", start=1):
        asking.ask(rules, Step({}, number, type=kind))
    assert runs == [1, 3]
    assert settled(tally, asking) == ({"XXX001": 10}, {"C-1": 10, "C-2": 5})


def test_without_a_key_the_rules_are_run(tally, core):
    def check(step, world, context):
        yield finding(step, "this", "that")

    asking = asker(tally, core)
    rules = (make(check, lambda step, world, context: None),)
    for number in (1, 2):
        asking.ask(rules, Step({}, number))
    assert [entry.line for entry in tally.findings] == [1, 2]


def test_a_group_that_is_unsure_is_asked_every_time_and_the_others_are_counted(tally, core):
    runs = []

    def check(step, world, context):
        runs.append("sure")
        yield seen("C-1")

    def doubt(step, world, context):
        runs.append("unsure")
        yield seen("C-2")

    asking = asker(tally, core)
    rules = (make(check, lambda step, world, context: True), make(doubt, lambda step, world, context: None))
    for number in (1, 2, 3):
        asking.ask(rules, Step({}, number))
    assert runs == ["sure", "unsure", "unsure", "unsure"]
    assert settled(tally, asking) == ({"XXX001": 6}, {"C-1": 3, "C-2": 3})


def test_a_quiet_function_that_fails_leaves_it_to_the_rules(tally, core):
    def check(step, world, context):
        yield seen("C-1")

    def quiet(step, world, context):
        raise KeyError("a ledger that failed")

    asking = asker(tally, core)
    asking.ask((make(check, quiet),), Step({}, 1))
    assert settled(tally, asking) == ({"XXX001": 1}, {"C-1": 1})
    assert tally.crashes == []


def test_a_rule_that_crashed_is_asked_no_more(tally, core):
    def check(step, world, context):
        yield seen("C-1")
        raise ValueError

    asking = asker(tally, core)
    rules = (make(check, lambda step, world, context: True),)
    asking.ask(rules, Step({}, 1))
    asking.ask(rules, Step({}, 2))
    assert [crash.line for crash in tally.crashes] == [1]


def event(number, text):
    return {
        "type": "model.delta",
        "event_id": f"e{number}",
        "sequence": number,
        "timestamp": "2026-05-08T09:00:00Z",
        "session_id": "s",
        "turn_id": "t",
        "model_request_id": "m",
        "payload": {"delta": text},
    }


def test_a_leak_among_many_alike_lines_is_found_where_it_stands():
    texts = ["fine", "fine too", "see /home/alice/notes.md", "fine", r"see \u002fhome\u002falice\u002fx", "fine"]
    lines = b"".join(json.dumps(event(number, text)).encode() + b"\n" for number, text in enumerate(texts, start=1))
    report = validate(io.BytesIO(lines), options=Options(select=("RED002",)))
    assert [entry.line for entry in report.findings] == [3, 5]
    assert report.looks["RED002"] == len(texts) + len(report.findings)


def asked_about(core, tally, lines, **more):
    """The lines that a rule is asked about."""
    about = []

    def check(step, world, context):
        about.append(step.number)
        yield seen()

    world = World(core)
    world.attention.mind(minded(more.get("given", ())), more.get("since", ()))
    asking = Asker(tally, world, Context(Options(), lambda clause: "MUST"))
    rules = (Rule("XXX001", "x", {"agent-runtime": ("C-1",)}, ("*",), check, **more),)
    for number, line in enumerate(lines, 1):
        asking.ask(rules, world.apply({"event_id": f"e{number}", "session_id": "s", **line}, number))
    return about


LINES = [{"type": "a"}, {"type": "a", "payload": {"colour": "red"}}, {"type": "hook.started"}, {"type": "a"}]


@pytest.mark.parametrize(
    ("more", "about"),
    [
        ({}, [1, 2, 3, 4]),
        ({"given": ("colour", "shape")}, [2]),
        ({"given": Condition(("colour",), lambda form: "colour" in form.below)}, [2]),
        ({"given": Condition((), lambda form: form.twice)}, []),
        ({"since": ("hook.started",)}, [3, 4]),
        ({"since": ("hook.*", "colour")}, [2, 3, 4]),
        ({"given": ("payload",), "since": ("hook.started",)}, []),
    ],
)
def test_a_rule_is_asked_about_lines_that_concern_it(more, about, tally, core):
    assert asked_about(core, tally, LINES, **more) == about


def test_without_the_fast_path_a_rule_is_asked_about_everything(tally, core, monkeypatch):
    monkeypatch.setenv("RUNTIME_VALIDATE_FAST", "off")
    assert asked_about(core, tally, LINES, given=("colour",), since=("hook.started",)) == [1, 2, 3, 4]
