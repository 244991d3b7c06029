"""Every story runs to its end, and neither the judge nor the other reading has a word against it."""

import io
import json

import pytest

from reference_runtime.__main__ import main
from reference_runtime.capture import LineCapture
from reference_runtime.contract import Contract
from reference_runtime.lifecycles.agenthub.demo import stories
from reference_runtime.log.memory import MemoryStore
from reference_runtime.log.sqlite import SqliteStore
from reference_runtime.scripts.coverage import Coverage, Played
from tests.cli.support import call
from tests.runtime.agenthub.readings import disagreements
from tests.runtime.judging import judge, words
from validator.engine import Options, validate

HUB = Contract("agenthub/1")
STORIES = {name: play for name, _, play in stories()}
BEYOND_STRICT = ("06-phases-in-silence", "10-ends-outside-the-diagram", "11-cancelled-in-every-phase")
"""Stories of what the protocol leaves free and profile strict does not."""


def played(name, open_store):
    text = io.StringIO()
    return STORIES[name](open_store, LineCapture(text, HUB)), text.getvalue()


@pytest.fixture(scope="module")
def everything():
    """Each story played once, in memory: what it reached, and its capture."""

    def one(name):
        store = MemoryStore()
        return played(name, lambda: store)

    return {name: one(name) for name in STORIES}


@pytest.mark.parametrize("story", STORIES)
def test_the_judge_finds_nothing_of_any_level(everything, story):
    report = judge(everything[story][1], "complete")
    assert words(report) == []
    assert report.verdict == "conformant"


@pytest.mark.parametrize("story", STORIES)
def test_strict_finds_what_the_protocol_leaves_free_and_nothing_else(everything, story):
    options = Options(expect="complete", profile="strict")
    report = validate(io.BytesIO(everything[story][1].encode()), options=options)
    assert {finding.rule for finding in report.findings} <= {"AHB004", "AHB010"}
    assert (report.verdict == "conformant") == (story not in BEYOND_STRICT)


@pytest.mark.parametrize("story", STORIES)
def test_both_readings_agree_on_every_view(everything, story):
    text = everything[story][1]
    assert '"record":"snapshot"' in text
    assert disagreements(text) == []


def test_a_view_that_differs_would_be_seen(everything):
    _, text = everything["01-whole-lifecycle"]
    assert disagreements(text.replace('"stateLabel":"Completed"', '"stateLabel":"Done"'))


def test_every_event_and_every_row_of_the_tables_is_reached(everything):
    total = Played()
    for one, _ in everything.values():
        total |= one
    coverage = Coverage(HUB)
    assert coverage.standard_events() == total.events
    assert {row.id for row in HUB.protocol.rows()} == total.rows


def test_the_seven_failure_codes_are_told_with_their_recovery(everything):
    lines = [json.loads(line) for _, text in everything.values() for line in text.splitlines()]
    told = {line["payload"]["code"]: line["payload"] for line in lines if line.get("type") == "run.failed"}
    rows = {row["id"]: row["text"]["en"]["recovery"] for row in HUB.protocol.tables["failures"]["rows"]}
    assert {code: payload["nextAction"] for code, payload in told.items()} == {
        code: f"{recovery}." for code, recovery in rows.items()
    }


def test_the_command_line_plays_one_story(everything, tmp_path):
    target = tmp_path / "thin.ndjson"
    assert main(["demo", "--story", "agenthub/thin-evidence", "--capture", str(target)]) == 0
    assert target.read_text(encoding="utf-8") == everything["12-thin-evidence"][1]


@pytest.mark.parametrize("story", ["01-whole-lifecycle", "13-stopped-in-the-middle"])
def test_the_durable_store_tells_the_same_story(everything, story, tmp_path):
    _, text = played(story, lambda: SqliteStore(tmp_path / "store.db"))
    assert text == everything[story][1]


@pytest.fixture(scope="module")
def captures(everything, tmp_path_factory):
    folder = tmp_path_factory.mktemp("agenthub")
    for name, (_, text) in everything.items():
        (folder / f"{name}.ndjson").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("profile", ["default", "agenthub"])
def test_the_stories_certify(captures, profile):
    done = call("certify", "--profile", profile, ".", cwd=captures)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"certified: {len(STORIES)} captures conform to agenthub/1, profile {profile}\n")


def test_what_keeps_to_the_diagram_certifies_for_strict(captures):
    names = [f"{name}.ndjson" for name in STORIES if name not in BEYOND_STRICT]
    done = call("certify", "--profile", "strict", *names, cwd=captures)
    assert (done.returncode, done.stderr) == (0, "")
