"""A process with a ledger is killed: in the middle of a commit, and anywhere. What it acknowledged is there."""

import io
import json
import random
import signal
import subprocess
import sys

import pytest

from reference_runtime.capture import LineCapture
from reference_runtime.lifecycles.agent_threads.host import Host
from reference_runtime.lifecycles.agent_threads.ledger import Ledger
from reference_runtime.lifecycles.agent_threads.observer import Observer
from reference_runtime.log.sqlite import SqliteStore
from tests.runtime.agent_threads import worker
from tests.runtime.judging import findings


class Child:
    """A ledger in a process of its own."""

    def __init__(self, *arguments):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen([sys.executable, "-m", worker.__name__, *map(str, arguments)], **pipes)

    def until(self, act):
        """Everything told up to an act."""
        said = [self.tell()]
        while said[-1]["act"] != act:
            said.append(self.tell())
        return said

    def tell(self):
        return json.loads(self.process.stdout.readline())

    def kill(self):
        """What was told and not yet read when the process died."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        left = self.process.stdout.read()
        self.process.stdin.close()
        self.process.stdout.close()
        return [json.loads(line) for line in left.splitlines() if line.endswith("}")]


@pytest.fixture
def reopen(tmp_path):
    stores = []

    def open_again():
        stores.append(SqliteStore(tmp_path / "store.db"))
        return Ledger(stores[-1])

    yield open_again
    for store in stores:
        store.close()


def observed(ledger):
    """A capture of the whole store as somebody finds it."""
    text = io.StringIO()
    eye = Observer(ledger, LineCapture(text, ledger.book.contract, completeness="prefix"))
    eye.look("t")
    eye.read("t")
    return text.getvalue()


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_commit_that_is_cut_off_leaves_the_run_streaming_and_can_be_tried_again(tmp_path, reopen, moment):
    child = Child(tmp_path / "store.db", moment)
    said = child.until("stopped")
    child.kill()
    first, second = (entry["run"] for entry in said if entry["act"] == "started")
    ledger = reopen()
    tree = ledger.tree("t")
    assert (ledger.run(first)["status"], ledger.run(second)["status"]) == ("committed", "streaming")
    assert second not in {node["runId"] for node in tree["nodes"]}
    assert findings(observed(ledger)) == []
    assert ledger.finalize(second, "committed") == {"committed": True, "supersededRunIds": [first]}
    assert ledger.finalize(second, "committed") == {"committed": True, "supersededRunIds": []}
    assert [node["runId"] for node in ledger.tree("t")["nodes"]].count(second) == 1
    assert findings(observed(ledger)) == []


def test_nothing_acknowledged_is_lost_wherever_the_process_dies(tmp_path, reopen):
    chance, said = random.Random(11), []
    for _ in range(3):
        child = Child(tmp_path / "store.db")
        said += [child.tell() for _ in range(chance.randrange(1, 12))] + child.kill()
    ledger = reopen()
    assert_kept(ledger, said)
    assert findings(observed(ledger)) == []
    ledger.book.clock.advance(6 * 60_000)
    swept = ledger.recover_stale()
    assert swept["failed"] == []
    assert {run["status"] for run in ledger.runs("t")} <= {"committed", "superseded", "failed"}
    Host(ledger, "t").shows()
    assert findings(observed(ledger), "complete") == []


def test_two_processes_answer_at_one_fork_and_one_answer_stays(tmp_path, reopen):
    """They race for every commit, and are killed in the middle of it; the last commit that was acknowledged stays."""
    Host(reopen(), "t").exchange("Again?", "No.")
    children = [Child(tmp_path / "store.db") for _ in range(2)]
    said = [entry for child in children for _ in range(2) for entry in child.until("committed")]
    said += [entry for child in children for entry in child.kill()]
    ledger = reopen()
    assert_kept(ledger, said)
    forked = [run for run in ledger.runs("t") if run["forkFromMessageId"] and run["messageCount"]]
    assert [run["status"] for run in forked].count("committed") == 1
    assert findings(observed(ledger)) == []


def assert_kept(ledger, said):
    runs = {run["runId"]: run for run in ledger.runs("t")}
    nodes = [node["runId"] for node in ledger.tree("t")["nodes"]]
    for entry in said:
        run = runs[entry["run"]]
        if entry["act"] == "said":
            assert ledger.head(entry["run"]) == entry["head"]
        elif entry["act"] == "committed":
            assert run["status"] in {"committed", "superseded"}
            assert nodes.count(entry["run"]) == run["messageCount"] == 1
            assert all(runs[name]["status"] == "superseded" for name in entry["superseded"])
    forked = [run["status"] for run in runs.values() if run["forkFromMessageId"]]
    assert forked.count("committed") <= 1
