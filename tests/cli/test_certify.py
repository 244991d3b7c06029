"""Certification of a set of captures: what is shown somewhere counts, what is nowhere is named with its story."""

import hashlib
import json

import pytest

from tests.cli.support import BAD, CREATED, GOOD, STARTED, call, capture
from validator import resources
from validator.certify import certify
from validator.protocol.profile import load_profile, shipped
from validator.protocol.protocol import available, load_protocol
from validator.protocol.schemas import load_store
from validator.requirements import load_requirements
from validator.stories import stories

RAISING = {"strict"}
"""Profiles that raise levels; the packaged captures keep to the default ones."""


@pytest.fixture(scope="module", params=available())
def whole(request):
    """The packaged captures of a protocol, judged together."""
    protocol = load_protocol(request.param)
    folder = resources.fixtures() / protocol.name / protocol.version / "golden"
    return certify([str(path) for path in sorted(folder.glob("*.ndjson"))], "default")


def test_the_packaged_captures_certify_for_every_shipped_profile(whole):
    assert whole.reasons() == ()
    observed = {entry.requirement for entry in whole.outcomes if entry.outcome in {"pass", "warn"}}
    for name in set(shipped(whole.protocol)) - RAISING:
        profile = load_profile(whole.protocol, name)
        assert set(profile.clauses) <= observed, name
        assert profile.levels == {}
        assert profile.digest.startswith("sha256:")


def test_every_event_type_and_row_is_covered_and_the_totals_add_up(whole):
    assert whole.coverage.events == whole.coverage.all_events
    assert whole.coverage.rows == whole.coverage.all_rows
    assert sum(whole.totals().values()) == len(whole.outcomes)


def test_what_was_never_observed_has_a_story(whole):
    assert whole.missing
    assert all(entry.stories for entry in whole.missing)


@pytest.mark.parametrize(
    ("clause", "story"),
    [
        ("ACT-3", "row action#9: action.resolved (payload.decision allow or approved) while the action is approved"),
        ("TURN-9", "row turn#30: turn.completed while the turn is preparing or running or streaming or "),
        ("QUE-8", "CMD017/near-queued: A busy thread queues a second turn"),
        ("PERM-17", "the opposite of GOV009/trips-plan: A call writes in mode plan"),
        ("LIM-7", "what LIM-7 describes, so that UNK010 can judge it"),
        ("ENV-30", "a capture with events/*"),
    ],
)
def test_a_story_is_about_its_requirement_and_not_only_about_its_rule(clause, story):
    core = load_protocol("agent-runtime")
    assert next(stories(core).of(load_requirements(core)[clause])).startswith(story)


def test_each_protocol_ships_the_profiles_it_promises():
    core = {"default", "strict", "core", "replay", "control", "recovery", "redaction"}
    assert set(shipped(load_protocol("agent-runtime"))) == core
    for name in ("agenthub", "runagents", "agent-threads"):
        assert set(shipped(load_protocol(name))) == {"default", "strict", name}


def test_a_small_set_says_what_it_lacks_and_what_would_show_it(tmp_path):
    capture(tmp_path, "a.ndjson", GOOD)
    done = call(
        "certify", "--profile", "core", "a.ndjson", "--out", "json=s.json", "--out", "markdown=s.md", cwd=tmp_path
    )
    assert done.returncode == 3
    assert done.stdout.startswith("not certified (agent-runtime/0.3, profile core): ENV-15 was never observed (and ")
    assert "to show TURN-1: row turn#1: turn.submitted (payload.status absent or accepted) while the" in done.stdout
    statement = json.loads((tmp_path / "s.json").read_text())
    assert load_store(resources.schemas().resolve()).errors("certificate/1/certificate.schema.json", statement) == []
    assert statement["certified"] is False
    assert (
        statement["captures"][0]["digest"]
        == "sha256:" + hashlib.sha256((tmp_path / "a.ndjson").read_bytes()).hexdigest()
    )
    assert statement["coverage"]["event_types"]["seen"] == 3
    asked, _, others = (tmp_path / "s.md").read_text().partition("## Never observed, and not asked for")
    assert "| TURN-1 (MUST) | A turn MUST " in asked
    unasked = [entry["id"] for entry in statement["never_observed"] if not entry["required"]]
    assert unasked
    assert all(f"| {name} (" in others and f"| {name} (" not in asked for name in unasked)


def test_a_fault_in_one_capture_fails_the_set(tmp_path):
    capture(tmp_path, "a.ndjson", GOOD)
    capture(tmp_path, "b.ndjson", BAD)
    done = call("certify", ".", "--format", "json", cwd=tmp_path)
    assert done.returncode == 1
    statement = json.loads(done.stdout)
    assert {entry["id"]: entry["outcome"] for entry in statement["requirements"]}["TASK-20"] == "fail"
    assert json.loads(done.stderr)["error"] == "violations"


def test_a_capture_that_is_incomplete_by_itself_leaves_the_set_incomplete(tmp_path):
    capture(tmp_path, "a.ndjson", GOOD)
    capture(tmp_path, "b.ndjson", [CREATED, STARTED])
    done = call("certify", ".", cwd=tmp_path)
    assert done.returncode == 3
    assert "b.ndjson: task t1 is still running" in done.stdout


def test_a_vendors_stricter_profile_works_the_same_way(tmp_path):
    own = (
        "profile: ours\nprotocol: agent-runtime/0.3\nextends: default\nsummary: Tasks.\nobserve: {clauses: [TASK-20]}\n"
    )
    (tmp_path / "ours.yaml").write_text(own)
    capture(tmp_path, "a.ndjson", GOOD)
    assert call("certify", "--profile", "ours.yaml", "a.ndjson", cwd=tmp_path).returncode == 0
    (tmp_path / "ours.yaml").write_text(own.replace("TASK-20", "TURN-1"))
    assert call("certify", "--profile", "ours.yaml", "a.ndjson", cwd=tmp_path).returncode == 3


def test_suppressions_and_baselines_do_not_help(tmp_path):
    (tmp_path / "runtime-validate.toml").write_text('[[suppress]]\nrule = "STA"\nreason = "we know about it"\n')
    capture(tmp_path, "a.ndjson", BAD)
    assert call("certify", "a.ndjson", cwd=tmp_path).returncode == 1


def test_what_cannot_be_stated_is_refused(tmp_path):
    capture(tmp_path, "a.ndjson", GOOD)
    capture(tmp_path, "b.ndjson", [{"seq": 1, "streamId": "run:x", "event": {}}])
    assert "a statement is about one protocol" in call("certify", "a.ndjson", "b.ndjson", cwd=tmp_path).stderr
    assert "a statement names files" in call("certify", "-", cwd=tmp_path).stderr


def test_statements_are_repeatable(tmp_path):
    capture(tmp_path, "a.ndjson", GOOD)
    first, second = (call("certify", "a.ndjson", "--format", "json", cwd=tmp_path).stdout for _ in range(2))
    assert first == second


def test_an_id_steers_no_terminal(tmp_path):
    wild = [{**entry, "task_id": "t\n::error::\x1b[31m"} for entry in (CREATED, STARTED)]
    capture(tmp_path, "a.ndjson", wild)
    for form in ("text", "markdown"):
        told = call("certify", "a.ndjson", "--format", form, cwd=tmp_path).stdout
        assert "is still running" in told
        assert "\x1b" not in told
        assert not [line for line in told.splitlines() if line.startswith("::")]
