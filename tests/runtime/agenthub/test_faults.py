"""A Hub that is killed at any moment has lost nothing that it acknowledged, and does nothing twice."""

import json
import random
import signal
import subprocess
import sys

from reference_runtime.lifecycles.agenthub.acts import Action
from tests.runtime.agenthub.child import load, meant, open_hub
from tests.runtime.agenthub.readings import disagreements
from tests.runtime.judging import findings

HEADER = {"record": "header", "capture": "1", "protocol": "agenthub", "version": "1", "completeness": "prefix"}


def killed(folder, first, lines):
    """What a Hub acknowledged before it was killed."""
    command = [sys.executable, "-m", "tests.runtime.agenthub.child", str(folder), str(first), "4"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        said = [child.stdout.readline() for _ in range(lines)]
        child.send_signal(signal.SIGKILL)
        said += child.stdout.read().splitlines()
    assert child.returncode == -signal.SIGKILL
    return [json.loads(line) for line in said if line.endswith(("}", "}\n"))]


def test_nothing_acknowledged_is_lost_when_the_process_is_killed(tmp_path):
    chance, acknowledged, first = random.Random(3), {}, 1
    for _ in range(2):
        said = killed(tmp_path, first, chance.randrange(5, 30))
        acknowledged |= {one["key"]: one for one in said}
        first = len(open_hub(tmp_path).runs()) + 1
    hub = open_hub(tmp_path)
    kept = {event["id"] for event in hub.book.read()}
    again = {key: (command, words) for key, command, words in load(1, 8)}
    for key, one in acknowledged.items():
        assert set(one["answer"]["events"]) <= kept
        command, words = again[key]
        repeated = getattr(hub, command)(*meant(words, one["last"]), key=key)
        assert repeated == one["answer"], "a repetition gets the first answer"
    hub.recover("kill")
    assert {event["id"] for event in hub.book.read()} >= kept
    assert_true_to_the_files(hub, tmp_path / "workspace")
    assert_honest(hub)
    hub.book.store.close()


def assert_true_to_the_files(hub, workspace):
    """What is said to be applied is on disk."""
    applied = [patch for run in hub.runs() for patch in hub.view(run)["patches"] if patch["applyStatus"] == "applied"]
    assert applied
    for patch in applied:
        (path,) = patch["affectedFiles"]
        assert (workspace / path).read_text() == hub.content(f"patch://{patch['patchId']}")[path]


def assert_honest(hub):
    """Neither the judge nor the other reading has a word against the log."""
    lines = [HEADER, *hub.book.read()]
    lines += [{"record": "snapshot", "model": "run_view", "snapshot": hub.view(run)} for run in hub.runs()]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    assert findings(text) == []
    assert disagreements(text) == []


def test_an_answer_under_a_key_is_kept_across_processes(tmp_path):
    first = open_hub(tmp_path)
    key, command, words = next(load(1, 1))
    answer = getattr(first, command)(*words, key=key)
    first.book.store.close()
    second = open_hub(tmp_path)
    assert getattr(second, command)(*words, key=key) == answer
    assert second.runs() == ["run_1"]
    second.book.store.close()


def test_two_hubs_on_one_store_never_decide_on_the_same_position(tmp_path):
    one, other = open_hub(tmp_path), open_hub(tmp_path)
    for key, command, words in list(load(1, 1))[:5]:
        getattr(one, command)(*words, key=key)
    commit, beaten = one.book.store.commit, []

    def overtaken(change):
        if not beaten:
            beaten.append(other.act("run_1", Action("check_links")))
        commit(change)

    one.book.store.commit = overtaken
    one.act("run_1", Action("search_index"))
    sequences = [event["sequence"] for event in one.book.read(stream="run_1")]
    assert sequences == list(range(1, len(sequences) + 1))
    assert len(beaten[0]["events"]) == 2
    assert_honest(one)
    one.book.store.close()
    other.book.store.close()
