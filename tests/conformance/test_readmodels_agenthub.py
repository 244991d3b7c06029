"""The run view folded from every golden AgentHub capture is the one beside it."""

import json

import pytest

from validator import resources
from validator.capture.lines import read_lines
from validator.protocol.honest import is_honest
from validator.protocol.protocol import load_protocol
from validator.replay.readmodels.agenthub import RunViews
from validator.replay.world import World

PROTOCOL = load_protocol("agenthub")
STORIES = sorted((resources.fixtures() / "agenthub" / "1" / "golden").glob("*.ndjson"))


def fold(lines):
    """The world and the views after some lines; a line that is None could not be read."""
    world = World(PROTOCOL)
    views = RunViews(world)
    for number, line in enumerate(lines, start=1):
        if line is None:
            world.doubt(number)
        else:
            views.apply(world.apply(line, number))
    return views


def lines_of(story):
    path = next(path for path in STORIES if path.stem == story)
    return [line for _, line in read_lines(path)]


def worded(value):
    """The value with honest objects reduced to their word; the reason is free text."""
    if is_honest(value):
        return {"honest": value["honest"]}
    if isinstance(value, dict):
        return {key: worded(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [worded(entry) for entry in value]
    return value


def fits(view):
    return not PROTOCOL.store.errors(PROTOCOL.snapshots["run_view"], view)


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_golden_views(path):
    expected = json.loads(path.with_suffix(".readmodel.json").read_text(encoding="utf-8"))["models"]["run_view"]
    views = fold(line for _, line in read_lines(path))
    assert set(views.run_ids) == {entry["runId"] for entry in expected}
    for entry in expected:
        view = views.build(entry["runId"])
        assert worded(view) == worded(entry)
        assert fits(view)


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_every_prefix_and_every_suffix_fits_the_schema(path):
    lines = [line for _, line in read_lines(path)]
    for cut in range(1, len(lines)):
        for part in (lines[:cut], lines[cut:]):
            views = fold(part)
            assert all(fits(views.build(run)) for run in views.run_ids)


def test_a_run_whose_beginning_was_not_seen_is_unknown():
    view = fold(lines_of("whole-lifecycle")[7:10]).build("run_quickstart")
    assert (view["state"], view["reviewMode"], view["lastSequence"]) == ("unknown", "unknown", 9)
    assert {worded(view[name])["honest"] for name in ("terminal", "actor", "project", "startedAt")} == {"unknown"}


def test_an_open_run_is_stale_after_a_lost_line_until_it_is_heard_of():
    lines = lines_of("whole-lifecycle")
    stale = fold([*lines[:8], None]).build("run_quickstart")
    assert (stale["state"], stale["reviewMode"]) == ("stale", "stale")
    assert worded(stale["endedAt"]) == worded(stale["failureCode"]) == {"honest": "stale"}
    assert fits(stale)
    assert fold([*lines[:8], None, lines[8]]).build("run_quickstart")["state"] == "Running"


def test_a_run_that_is_over_stays_over_after_a_lost_line():
    lines = lines_of("whole-lifecycle")
    assert fold([*lines, None]).build("run_quickstart")["state"] == "Completed"


def test_an_event_delivered_again_or_refused_changes_no_fact():
    lines = lines_of("rejection-told-as-failure")
    once, twice = fold(lines), fold([*lines, *lines])
    assert once.build("run_push") == twice.build("run_push")
    late = {
        **lines[-1],
        "id": "evt_late",
        "sequence": 90,
        "type": "run.completed",
        "payload": {"finalResponse": "Done."},
    }
    view = fold([*lines, late]).build("run_push")
    assert (view["state"], view["finalResponse"], view["lastSequence"]) == ("Cancelled", None, 90)


def test_a_patch_proposed_again_is_the_same_patch():
    lines = lines_of("whole-lifecycle")
    place = next(index for index, line in enumerate(lines) if line.get("type") == "run.patch.proposed")
    payload = {**lines[place]["payload"], "affectedFiles": ["b.txt"]}
    again = {**lines[place], "id": "evt_again", "sequence": lines[place]["sequence"] + 1, "payload": payload}
    (patch,) = fold([*lines[: place + 1], again]).build("run_quickstart")["patches"]
    assert (patch["patchId"], patch["affectedFiles"]) == (payload["patchId"], ["b.txt"])


def test_a_result_without_its_name_is_not_linked():
    lines = lines_of("whole-lifecycle")
    place = next(index for index, line in enumerate(lines) if line.get("type") == "run.completed")
    nameless = [
        {**lines[place], "id": f"evt_{kind}", "sequence": 900 + index, "type": kind, "payload": {}}
        for index, kind in enumerate(("run.diff.ready", "run.artifact.ready"))
    ]
    payload = {**lines[place]["payload"], "artifacts": ["a", {"artifactId": "art_last"}]}
    last = {**lines[place], "sequence": 902, "payload": payload}
    before = fold(lines[:place]).build("run_quickstart")["links"]
    links = fold([*lines[:place], *nameless, last]).build("run_quickstart")["links"]
    assert (links["diff"], links["artifacts"][:-1]) == (before["diff"], before["artifacts"])
    assert links["artifacts"][-1] == {"artifactId": "art_last"}


@pytest.mark.parametrize("refs", [7, {"honest": "unknown", "reason": "The store is down."}, [7]])
def test_references_that_are_no_list_of_words_are_no_references(refs):
    lines = lines_of("whole-lifecycle")
    place = next(index for index, line in enumerate(lines) if line.get("type") == "run.completed")
    last = {**lines[place], "payload": {**lines[place]["payload"], "audit": {"refs": refs}}}
    before = fold(lines[:place]).build("run_quickstart")["links"]["audit"]
    assert fold([*lines[:place], last]).build("run_quickstart")["links"]["audit"] == before
