"""Every story runs to its end, and neither the judge nor the other reading has a word against it."""

import io
import json

import pytest

from reference_runtime.__main__ import main
from reference_runtime.capture import LineCapture
from reference_runtime.log.memory import MemoryStore
from reference_runtime.log.sqlite import SqliteStore
from reference_runtime.scripts.coverage import Coverage, Played
from reference_runtime.scripts.player import Player, StoryError, load, playable, stories
from tests.runtime.judging import disagreements, findings, judge, words

STORIES = [path for path in stories() if playable(load(path))]


def played(path, open_store):
    text = io.StringIO()
    return Player(load(path), open_store, LineCapture(text)).play(), text.getvalue()


@pytest.fixture(scope="module")
def everything():
    """Each story played once, in memory: what it reached, and its capture."""

    def one(path):
        store = MemoryStore()
        return played(path, lambda: store)

    return {path.stem: one(path) for path in STORIES}


@pytest.mark.parametrize("story", [path.stem for path in STORIES])
def test_the_judge_finds_nothing_of_any_level(everything, story):
    report = judge(everything[story][1], "complete")
    assert words(report) == []
    assert report.verdict == "conformant"


@pytest.mark.parametrize("story", [path.stem for path in STORIES])
def test_both_readings_agree_on_every_snapshot(everything, story):
    text = everything[story][1]
    assert '"record":"snapshot"' in text
    assert disagreements(text) == []


def test_nothing_of_the_contract_stays_unreached_without_a_reason(everything):
    total = Played()
    for one, _ in everything.values():
        total |= one
    assert Coverage().unexplained(total) == []
    assert Coverage().standard_events() <= total.events


def test_a_missing_row_without_a_reason_is_named():
    assert "turn#1" in Coverage().unexplained(Played())


@pytest.mark.parametrize("story", ["03-queue", "19-restart", *(path.stem for path in STORIES if "real" in path.stem)])
def test_the_durable_store_tells_the_same_story(everything, story, tmp_path):
    path = next(path for path in STORIES if path.stem == story)
    _, text = played(path, lambda: SqliteStore(tmp_path / "store.db"))
    assert text == everything[story][1]


def test_a_story_that_goes_wrong_says_in_which_act():
    act = {"command": "get_session", "request": {"session_id": "nowhere"}}
    with pytest.raises(StoryError, match=r"act 1 \(command\): get_session"):
        Player({"acts": [act]}, MemoryStore).play()


def test_the_command_line_plays_one_story_and_derives_its_read_models(tmp_path, capsys):
    target, again = tmp_path / "queue.ndjson", tmp_path / "again.ndjson"
    assert main(["demo", "--story", "queue", "--capture", str(target)]) == 0
    capsys.readouterr()
    assert main(["replay", str(target), "--capture", str(again)]) == 0
    models = [json.loads(line)["model"] for line in capsys.readouterr().out.splitlines()]
    assert {"session_snapshot", "thread_read_model", "queue_snapshot"} <= set(models)
    assert findings(again.read_text()) == []
    assert disagreements(again.read_text()) == []


def test_a_story_nobody_knows_is_an_error(capsys):
    assert main(["demo", "--story", "nobody"]) == 1
    assert "there is no story" in capsys.readouterr().err
