"""Every story of RunAgents is found faultless, and both readings agree on what it shows."""

import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from reference_runtime.capture import LineCapture
from reference_runtime.contract import Contract
from reference_runtime.lifecycles.runagents import demo
from reference_runtime.lifecycles.runagents.history import PROTOCOL
from reference_runtime.log.memory import MemoryStore
from reference_runtime.log.sqlite import SqliteStore
from reference_runtime.scripts.coverage import Coverage, Played
from tests.runtime.judging import judge, words
from tests.runtime.runagents.reading import disagreements
from validator.cli.group import cli

CONTRACT = Contract(PROTOCOL)
STORIES = {name: play for name, _, play in demo.stories()}
UNREACHED = Path(demo.__file__).with_name("unreached.yaml")


def captured(play, open_store):
    text = io.StringIO()
    return play(open_store, LineCapture(text, CONTRACT)), text.getvalue()


@pytest.fixture(scope="module")
def everything():
    """Each story played once, in memory: what it reached, and its capture."""

    def one(play):
        store = MemoryStore()
        return captured(play, lambda: store)

    return {name: one(play) for name, play in STORIES.items()}


@pytest.mark.parametrize("story", STORIES)
def test_the_judge_finds_nothing_of_any_level(everything, story):
    report = judge(everything[story][1], "complete")
    assert words(report) == []
    assert report.verdict == "conformant"


@pytest.mark.parametrize("story", STORIES)
def test_both_readings_agree_on_every_view(everything, story):
    text = everything[story][1]
    assert '"model":"run_view"' in text
    assert disagreements(text) == []


def test_nothing_of_the_contract_stays_unreached_without_a_reason(everything):
    total = Played()
    for played, _ in everything.values():
        total |= played
    coverage = Coverage(CONTRACT, UNREACHED)
    assert coverage.unexplained(total) == []
    assert coverage.standard_events() <= total.events


@pytest.mark.parametrize("story", ["03-approved", "19-restart"])
def test_the_durable_store_tells_the_same_story(everything, story, tmp_path):
    _, text = captured(STORIES[story], lambda: SqliteStore(tmp_path / "store.db"))
    assert text == everything[story][1]


@pytest.mark.parametrize("profile", ["default", "runagents", "strict"])
def test_the_stories_together_certify(everything, profile, tmp_path):
    for name, (_, text) in everything.items():
        (tmp_path / f"{name}.ndjson").write_text(text)
    assert CliRunner().invoke(cli, ["certify", "--profile", profile, str(tmp_path)]).exit_code == 0


def test_no_story_lets_a_payload_into_its_capture(everything):
    for _, text in everything.values():
        assert '"payload":' not in text
        assert "9999" not in text


def test_every_refusal_of_a_changed_payload_leaves_the_tool_alone(everything):
    for story in ("12-changed-payload", "13-changed-payload-operations"):
        lines = [json.loads(line) for line in everything[story][1].splitlines()]
        approved = next(at for at, line in enumerate(lines) if line.get("snapshot", {}).get("status") == "APPROVED")
        assert not any(line.get("type", "").startswith("TOOL") for line in lines[approved:])
        assert lines[-1]["snapshot"]["run"]["status"] == "FAILED"
