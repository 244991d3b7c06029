"""Two captures of one run: what is missing, repeated, moved or changed, and whether anybody can be blamed."""

import json

import pytest

from tests.cli.support import call, capture, event
from validator import resources
from validator.protocol.casing import to_camel
from validator.protocol.protocol import load_protocol
from validator.protocol.schemas import load_store

RUN = [
    event(1, "task.created", {"objective": "Fix it."}, task_id="t1"),
    event(2, "task.started", task_id="t1"),
    event(3, "task.progress", {"message": "half"}, task_id="t1"),
    event(4, "task.progress", {"message": "more"}, task_id="t1"),
    event(5, "task.completed", task_id="t1"),
]
BARE = [{key: value for key, value in entry.items() if key != "sequence"} for entry in RUN]
DIFFERENT = {**RUN[2], "payload": {"message": "other"}}
WRONG = {**RUN[2], "timestamp": "yesterday"}


def without(*numbers, run=RUN):
    return [entry for index, entry in enumerate(run, start=1) if index not in numbers]


def diff(folder, a, b, mode="subscribers", form="json"):
    capture(folder, "a.ndjson", a)
    capture(folder, "b.ndjson", b)
    done = call("diff", "a.ndjson", "b.ndjson", "--as", mode, "--format", form, cwd=folder)
    if form != "json":
        return done.returncode, done.stdout
    document = json.loads(done.stdout)
    assert load_store(resources.schemas().resolve()).errors("diff/1/diff.schema.json", document) == []
    return done.returncode, [(found["kind"], found["culprit"], found["sequence"]) for found in document["differences"]]


@pytest.mark.parametrize(
    ("a", "b", "mode", "code", "found"),
    [
        (RUN, RUN, "subscribers", 0, []),
        (RUN, without(3), "subscribers", 1, [("lost", "B", 3)]),
        (without(3), RUN, "subscribers", 1, [("lost", "A", 3)]),
        (RUN, without(1, 2), "subscribers", 0, []),
        (RUN, without(5), "subscribers", 1, [("lost", "unknown", 5)]),
        (BARE, without(3, run=BARE), "subscribers", 1, [("lost", "unknown", None)]),
        (RUN, [*RUN[:3], RUN[2], *RUN[3:]], "subscribers", 0, [("repeated", "B", 3)]),
        (RUN, [*RUN[:2], RUN[3], RUN[2], RUN[4]], "subscribers", 1, [("reordered", "B", 3)]),
        (BARE, [*BARE[:2], BARE[3], BARE[2], BARE[4]], "subscribers", 1, [("reordered", "unknown", None)]),
        (RUN, [*RUN[:2], DIFFERENT, *RUN[3:]], "subscribers", 1, [("changed", "unknown", 3)]),
        (RUN, [*RUN[:2], WRONG, *RUN[3:]], "subscribers", 1, [("changed", "B", 3)]),
        (RUN, [*RUN, DIFFERENT], "subscribers", 1, [("reused", "B", 3)]),
        (RUN[:3], RUN[3:], "reconnect", 0, []),
        (RUN[:3], RUN[2:], "reconnect", 0, []),
        (RUN[:2], RUN[3:], "reconnect", 1, [("gap", "B", 3)]),
        (RUN[:4], without(3), "reconnect", 1, [("lost", "B", 3)]),
        (BARE[:2], BARE[3:], "reconnect", 3, []),
        (RUN, RUN, "replay", 0, []),
        (RUN, without(5), "replay", 1, [("lost", "B", 5)]),
        (RUN, without(1), "replay", 1, [("lost", "B", 1)]),
        (without(1), RUN, "replay", 0, []),
        (without(3), RUN, "replay", 1, [("lost", "A", 3)]),
        (RUN, [], "subscribers", 3, []),
        (RUN, [{**entry, "event_id": f"x{entry['event_id']}"} for entry in RUN], "subscribers", 3, []),
    ],
)
def test_what_differs_and_who_can_be_blamed(a, b, mode, code, found, tmp_path):
    assert diff(tmp_path, a, b, mode) == (code, found)


def test_two_events_under_one_number_blame_the_side_that_has_both(tmp_path):
    extra = {**event(3, "task.progress", {"message": "ghost"}, task_id="t1"), "event_id": "ghost"}
    code, found = diff(tmp_path, RUN, [*RUN[:3], extra, *RUN[3:]])
    assert (code, found) == (1, [("lost", "B", 3)])


def test_two_casings_can_be_the_same(tmp_path):
    core = load_protocol("agent-runtime")
    camel = [to_camel(core.store, core.schema_for(entry["type"]), entry).document for entry in RUN]
    assert "eventId" in camel[0]
    assert diff(tmp_path, RUN, camel) == (0, [])


def test_people_read_who_lost_what_and_why(tmp_path):
    code, text = diff(tmp_path, RUN, without(3), form="text")
    assert code == 1
    assert text.splitlines()[0] == "differs: 1 differences, 4 events in common; at fault: b.ndjson: 1"
    assert "lost by B: task.progress e3, number 3 (A line 3): B's own numbers jump over 3" in text
    assert "note: B joined 2 events later" in diff(tmp_path, RUN, without(1, 2), form="text")[1]


def test_a_value_is_never_shown(tmp_path):
    leak = {**RUN[2], "payload": {"message": "/home/alice/.ssh/id_rsa", "/home/alice": 1}}
    _, text = diff(tmp_path, RUN, [*RUN[:2], leak, *RUN[3:]], form="text")
    assert "/payload/message" in text
    assert "alice" not in text


@pytest.mark.parametrize("word", ["planted-value-1", "sk-ant-api03-" + "aB3" * 30])
def test_neither_an_id_nor_a_type_nor_a_key_shows_what_leaks(word, tmp_path):
    header = {"record": "header", "capture": "1", "protocol": "agent-runtime", "completeness": "complete"}
    leaking = [
        {**header, "canaries": [word]},
        {**RUN[0], word: 1},
        {**RUN[1], "type": word},
        {**RUN[2], "event_id": word},
    ]
    capture(tmp_path, "a.ndjson", leaking)
    capture(tmp_path, "bare.ndjson", leaking[1:])
    capture(tmp_path, "b.ndjson", RUN[:1])
    for form in ("text", "json"):
        for words in (
            ("a.ndjson", "b.ndjson"),
            ("b.ndjson", "a.ndjson"),
            ("bare.ndjson", "b.ndjson", "--canary", word),
        ):
            done = call("diff", *words, "--format", form, cwd=tmp_path)
            assert (done.returncode, word in done.stdout + done.stderr) == (1, False)


def test_other_ends(tmp_path):
    (tmp_path / "noise.txt").write_text("noise\n")
    capture(tmp_path, "a.ndjson", RUN)
    capture(tmp_path, "t.ndjson", [{"seq": 1, "streamId": "run:x", "event": {}}])
    assert call("diff", "a.ndjson", "noise.txt", cwd=tmp_path).returncode == 4
    assert "speak different protocols" in call("diff", "a.ndjson", "t.ndjson", cwd=tmp_path).stderr
    assert "there is no file" in call("diff", "a.ndjson", "gone.ndjson", cwd=tmp_path).stderr


def test_an_id_steers_no_terminal(tmp_path):
    wild = {**RUN[2], "event_id": "e\n::error::\x1b[31m"}
    _, text = diff(tmp_path, [*RUN[:2], wild, *RUN[3:]], without(3), form="text")
    assert "\x1b" not in text
    assert not [line for line in text.splitlines() if line.startswith("::")]
