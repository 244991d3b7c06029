"""A profile can only demand more."""

import pytest

from tests.conftest import PROTOCOLS
from validator.errors import DefinitionError, UsageError
from validator.protocol.profile import Shortfall, load_profile, shipped
from validator.protocol.protocol import load_protocol

HEAD = "profile: acme\nprotocol: agent-runtime/0.3\nsummary: What Acme asks for.\nextends: default\n"


def load(core, tmp_path, body, head=HEAD):
    path = tmp_path / "acme.yaml"
    path.write_text(head + body)
    return load_profile(core, path)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_protocol_ships_a_default_and_a_strict_profile(name):
    protocol = load_protocol(name)
    assert {"default", "strict"} <= set(shipped(protocol))
    default, strict = load_profile(protocol), load_profile(protocol, "strict")
    assert default.at_least >= 1
    assert not default.demands
    assert not default.levels
    assert strict.at_least >= default.at_least
    assert strict.demands
    assert default.digest != strict.digest


def test_a_required_field_is_missed_and_found(core, tmp_path):
    profile = load(core, tmp_path, "tighten:\n  - {require: payload.reason, in: [task.paused], clause: TASK-12}\n")
    event = {"type": "task.paused", "payload": {}}
    assert [(e.pointer, e.keyword) for e in profile.errors("events/task.paused", event)] == [("/payload", "required")]
    assert list(profile.errors("events/task.paused", {"payload": {"reason": "Freeze."}})) == []
    honest = {"payload": {"reason": {"honest": "unknown", "reason": "Nobody said."}}}
    assert list(profile.errors("events/task.paused", honest)) == []
    assert list(profile.errors("events/task.resumed", event)) == []


def test_a_pattern_reaches_every_event_it_names(core, tmp_path):
    profile = load(core, tmp_path, "tighten:\n  - {require: turn_id, in: [tool.*], clause: TOOL-1}\n")
    assert {demand.document for demand in profile.demands} >= {"events/tool.started", "events/tool.catalog.resolved"}


def test_a_narrowed_vocabulary_refuses_what_it_left_out(core, tmp_path):
    body = "tighten:\n  - {narrow: payload.status, in: [turn.failed], to: [failed, cancelled], clause: TURN-10}\n"
    profile = load(core, tmp_path, body)
    found = profile.errors("events/turn.failed", {"payload": {"status": "lost"}})
    assert [(error.pointer, error.keyword) for error in found] == [("/payload/status", "enum")]
    assert list(profile.errors("events/turn.failed", {"payload": {"status": "failed"}})) == []
    assert list(profile.errors("events/turn.failed", {"payload": {}})) == []


def test_a_profile_inherits_and_its_digest_follows_its_content(core, tmp_path):
    plain = load(core, tmp_path, "")
    more = load(core, tmp_path, "observe: {at_least: 3, clauses: [TURN-1]}\n")
    assert (plain.at_least, more.at_least, more.clauses) == (1, 3, ("TURN-1",))
    assert plain.digest != more.digest
    assert plain.digest == load(core, tmp_path, "# a remark\n").digest


@pytest.mark.parametrize(
    ("body", "place", "reason"),
    [
        (
            "tighten:\n  - {forbid: payload.reason, in: [task.paused]}\n",
            "line 6 (/tighten/0)",
            "property that is not allowed",
        ),
        ("tighten:\n  - {require: payload.reason, in: [task.paused]}\n", "line 6 (/tighten/0)", "lacks clause"),
        ("tighten:\n  - {raise: TURN-1, to: MUST, in: [turn.failed]}\n", "line 6 (/tighten/0)", "is not allowed here"),
        (
            "tighten:\n  - {raise: TURN-1, to: SHOULD}\n",
            "line 6 (/tighten/0)",
            "TURN-1 is MUST already; SHOULD would not raise it",
        ),
        ("tighten:\n  - {raise: TURN-1, to: MAY}\n", "line 6 (/tighten/0/to)", "must be one of SHOULD, MUST"),
        ("tighten:\n  - {raise: NOPE-1, to: MUST}\n", "line 6 (/tighten/0)", "no chapter has a clause NOPE-1"),
        (
            "tighten:\n  - {require: payload.mood, in: [task.paused], clause: TASK-12}\n",
            "line 6 (/tighten/0)",
            "events/task.paused declares no payload.mood, and a profile adds no fields",
        ),
        (
            "tighten:\n  - {require: payload.reason, in: [task.stopped], clause: TASK-12}\n",
            "line 6 (/tighten/0)",
            "agent-runtime/0.3 has no document 'task.stopped'",
        ),
        (
            "tighten:\n  - {narrow: payload.status, in: [turn.failed], to: [failed, exploded], clause: TURN-10}\n",
            "line 6 (/tighten/0)",
            "exploded would widen payload.status of events/turn.failed",
        ),
        (
            "tighten:\n  - {require: payload.reason, in: [task.paused], clause: NOPE-2}\n",
            "line 6 (/tighten/0)",
            "no chapter has a clause NOPE-2",
        ),
        ("observe: {clauses: [NOPE-3]}\n", "line 5 (/observe/clauses/0)", "no chapter has a clause NOPE-3"),
        ("allow: everything\n", "", "has a property that is not allowed here"),
    ],
)
def test_what_does_not_only_tighten_is_refused_with_its_place(core, tmp_path, body, place, reason):
    with pytest.raises(DefinitionError) as caught:
        load(core, tmp_path, body)
    assert reason in caught.value.reason
    assert place in caught.value.place


def test_a_profile_for_another_protocol_is_refused(tmp_path):
    with pytest.raises(DefinitionError, match="the profile is for agent-runtime"):
        load(load_protocol("agenthub"), tmp_path, "", HEAD.replace("extends: default\n", ""))


def test_a_profile_that_extends_itself_is_refused(contract):
    folder = contract / "schemas" / "agent-runtime" / "0.3" / "profiles"
    text = (folder / "default.yaml").read_text()
    (folder / "default.yaml").write_text(text + "extends: default\n")
    with pytest.raises(DefinitionError, match="default extends itself"):
        load_profile(load_protocol("agent-runtime", contract / "schemas"), spec=contract / "spec")


def test_an_unknown_profile_lists_the_known_ones(core):
    with pytest.raises(UsageError, match="default"):
        load_profile(core, "lenient")


@pytest.mark.parametrize(
    ("keyword", "message", "pointer", "words", "told"),
    [
        ("required", "lacks reason", "/payload/reason", "", True),
        ("required", "lacks reason", "/payload", "no reason is given", True),
        ("required", "lacks reason", "/payload", "something else", False),
        ("required", "lacks reason", "/other/reason", "no reason is given", False),
        ("enum", "is another word", "/payload", "", True),
        ("enum", "is another word", "/payload/reason", "", False),
    ],
)
def test_a_remark_tells_a_shortfall_where_it_stands_or_by_its_name(keyword, message, pointer, words, told):
    found = Shortfall("/payload", keyword, message, clause="AB-1", name="reason")
    assert found.is_told_by(pointer, words) is told
