"""Every story of agent-threads: the judge finds nothing, both readings agree, and nothing of the tables is left out."""

import io
import json
from pathlib import Path

import pytest

from reference_runtime.capture import LineCapture
from reference_runtime.contract import Contract
from reference_runtime.lifecycles.agent_threads import demo
from reference_runtime.log.memory import MemoryStore
from reference_runtime.log.sqlite import SqliteStore
from reference_runtime.scripts.coverage import Coverage, Played
from tests.runtime.agent_threads.reading import comparisons
from tests.runtime.judging import judge, words
from validator.engine import Options, validate

CONTRACT = Contract("agent-threads/1")
STORIES = {name: play for name, _, play in demo.stories()}


def played(play, open_store):
    text = io.StringIO()
    return play(open_store, LineCapture(text, CONTRACT)), text.getvalue()


@pytest.fixture(scope="module")
def everything():
    """Each story played once, in memory: what it reached, and its capture."""

    def one(play):
        store = MemoryStore()
        return played(play, lambda: store)

    return {name: one(play) for name, play in STORIES.items()}


@pytest.mark.parametrize("story", STORIES)
@pytest.mark.parametrize("profile", ["default", "strict"])
def test_the_judge_finds_nothing_of_any_level(everything, story, profile):
    source = io.BytesIO(everything[story][1].encode())
    report = validate(source, options=Options(expect="complete", profile=profile))
    assert words(report) == []
    assert report.verdict == "conformant"


@pytest.mark.parametrize("story", STORIES)
def test_both_readings_agree_on_every_snapshot(everything, story):
    compared, found = comparisons(everything[story][1])
    assert found == []
    assert compared > 1


def test_a_reading_that_differs_is_noticed(everything):
    text = everything["02-regenerated"][1]
    assert comparisons(text.replace('"runStatus":"superseded"', '"runStatus":"committed"'))[1]
    assert comparisons(text.replace('"supersededBy":null', '"supersededBy":"01KR3D1BP69CH7EXYMVMFWC73F"'))[1]
    assert comparisons(text.replace('"branch":"all"', '"branch":"active"'))[1]


def test_every_kind_and_every_row_is_reached(everything):
    total = Played()
    for reached, _ in everything.values():
        total |= reached
    assert Coverage(CONTRACT, Path(demo.__file__).parent / "unreached.yaml").unexplained(total) == []


def test_only_what_nobody_can_show_is_never_observed(everything):
    """CAP-18 asks for a header that names a profile."""
    untold = None
    for _, text in everything.values():
        asked = judge(text, "complete").requirements
        missing = {entry.requirement for entry in asked if entry.outcome in {"not_observed", "not_applicable"}}
        untold = missing if untold is None else untold & missing
    assert untold == {"CAP-18"}


@pytest.mark.parametrize("story", ["03-concurrent", "06-recovery"])
def test_the_durable_store_tells_the_same_story(everything, story, tmp_path):
    _, text = played(STORIES[story], lambda: SqliteStore(tmp_path / "store.db"))
    assert text == everything[story][1]


def test_the_last_to_commit_stays_whichever_began_first(everything):
    lines = map(json.loads, everything["03-concurrent"][1].splitlines())
    tree = [line["snapshot"] for line in lines if line.get("model") == "thread_tree"][-1]
    forked = {node["runId"]: node["runStatus"] for node in tree["nodes"] if node["parentMessageId"]}
    assert list(forked.values()) == ["committed", "superseded", "superseded", "committed"]
