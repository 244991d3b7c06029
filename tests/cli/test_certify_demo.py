"""What the demo writes certifies for every shipped profile of the core, and the golden captures for the dialects'."""

import json
from dataclasses import replace

import pytest

from reference_runtime.__main__ import main
from tests.cli.support import call
from validator import resources
from validator.certify import certify, never_observed
from validator.protocol.profile import load_profile, shipped
from validator.protocol.protocol import load_protocol

DIALECTS = ("agent-threads", "agenthub", "runagents")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The folder that the demo wrote its captures to."""
    folder = tmp_path_factory.mktemp("demo")
    assert main(["demo", "--captures", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def usual(demo):
    """What the demo shows under the default profile."""
    return certify([str(path) for path in sorted(demo.glob("*.ndjson"))], "default")


def without(folder, source, families, name):
    """A copy of a capture whose events of some families lack an id."""
    path = folder / source.name
    with path.open("w") as file:
        for line in source.read_text().splitlines():
            document = json.loads(line)
            if document.get("type", "").startswith(families):
                document.pop(name, None)
            file.write(json.dumps(document) + "\n")
    return path


def test_the_demo_certifies_for_strict_on_the_command_line(demo):
    done = call("certify", "--profile", "strict", *sorted(path.name for path in demo.glob("*.ndjson")), cwd=demo)
    assert (done.returncode, done.stderr) == (0, "")
    count = len(list(demo.glob("*.ndjson")))
    assert count > 20
    assert done.stdout.startswith(f"certified: {count} captures conform to agent-runtime/0.3, profile strict\n")


@pytest.mark.parametrize("name", sorted(set(shipped(load_protocol("agent-runtime"))) - {"strict"}))
def test_the_demo_certifies_for_every_other_profile(usual, name):
    """They only ask to see more than `default`, and judge alike, so that judging once is enough."""
    profile = load_profile(usual.protocol, name)
    assert (profile.demands, profile.levels) == ((), {})
    missing = never_observed(usual.outcomes, profile, usual.protocol)
    stated = replace(usual, profile=profile, missing=missing)
    assert stated.reasons() == ()
    assert stated.exit_code == 0


def test_a_clause_that_the_demo_does_not_show_is_missed(usual):
    unseen = usual.missing[0].requirement
    profile = replace(usual.profile, clauses=(unseen,))
    stated = replace(usual, profile=profile, missing=never_observed(usual.outcomes, profile, usual.protocol))
    assert stated.reasons() == (f"{unseen} was never observed",)
    assert stated.exit_code == 3


@pytest.mark.parametrize(
    ("families", "name"),
    [(("permission.resolved",), "thread_id"), (("hook.", "permission.", "action.", "sandbox."), "turn_id")],
)
def test_strict_misses_ids_where_there_is_a_thread_or_a_turn(demo, tmp_path, families, name):
    path = without(tmp_path, demo / "02-approval.ndjson", families, name)
    assert call("certify", "--profile", "strict", path.name, cwd=tmp_path).returncode == 1


def test_every_event_has_a_payload_and_every_answer_somebody_behind_it(demo):
    lines = [json.loads(line) for path in demo.glob("*.ndjson") for line in path.read_text().splitlines()]
    assert all("payload" in line for line in lines if "type" in line)
    answers = [line["payload"] for line in lines if line.get("type") == "action.resolved"]
    assert {answer["decision"] for answer in answers} >= {"approved", "cancelled", "timed_out"}
    assert all(answer["decided_by"] for answer in answers)


@pytest.mark.parametrize("name", DIALECTS)
def test_the_golden_captures_of_a_dialect_certify_for_its_profile(name):
    protocol = load_protocol(name)
    folder = resources.fixtures() / protocol.name / protocol.version / "golden"
    done = call("certify", "--profile", name, *sorted(folder.glob("*.ndjson")), cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"conform to {protocol.id}, profile {name}" in done.stdout


def test_a_certified_page_calls_no_capture_incomplete_and_says_what_it_does_not_say(demo, tmp_path):
    words = ("--format", "markdown", "--out", f"json={tmp_path / 's.json'}")
    page = call("certify", "01-happy-path.ndjson", "04-interrupt.ndjson", *words, cwd=demo).stdout
    statement = json.loads((tmp_path / "s.json").read_text())
    assert [sample["verdict"] for sample in statement["captures"]] == ["conformant", "conformant"]
    assert "## Never observed, and not asked for" in page
    assert "and the profile asks for it" not in page
    assert all(f"`{sample['digest']}`" in page for sample in statement["captures"])
    assert all(entry["text"] and entry["stories"] for entry in statement["never_observed"])
    assert "`context.compaction.started`" in page.partition("## Coverage")[2]
