"""The runtime is killed while a process of its runs: it is told as lost, and ended if it is provably ours."""

import json
import signal
import subprocess
import sys

import pytest
import yaml

from reference_runtime.log.memory import MemoryStore
from reference_runtime.log.sqlite import SqliteStore
from reference_runtime.recovery import recover
from reference_runtime.service import Runtime
from reference_runtime.settings import Settings
from reference_runtime.work.engine import Worker
from reference_runtime.work.real.bench import Bench
from reference_runtime.work.real.contents import Contents
from reference_runtime.work.real.groups import Group
from reference_runtime.work.real.processes import Process
from reference_runtime.work.real.site import Site
from reference_runtime.work.real.workspace import Workspace
from tests.runtime.real.floor import PARTS, alive, shell
from tests.runtime.test_faults import assert_honest

COMMAND = "sleep 600 & echo $!; setsid sleep 600 & echo $!; echo $$; wait; echo never"


class Served:
    """A runtime with a workspace, in a process of its own."""

    def __init__(self, folder):
        self.store, self.workspace = folder / "store.db", folder / "workspace"
        self.workspace.mkdir(exist_ok=True)
        scripts = folder / "scripts.yaml"
        scripts.write_text(yaml.safe_dump({"work": [{"catalog": {}}, {"use": shell(COMMAND)}]}))
        options = ["--store", str(self.store), "--scripts", str(scripts), "--workspace", str(self.workspace)]
        command = [sys.executable, "-m", "reference_runtime", "stdio", *options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(self, method, params):
        message = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def submit(self):
        request = {"session_id": "s", "thread_id": "t", "turn_id": "turn_a", "input_parts": PARTS}
        self.send("submit_turn", {**request, "options": {"script": "work"}})

    def until(self, kind, times=1):
        """The payloads of the next events of a kind."""
        found = []
        while len(found) < times:
            said = json.loads(self.process.stdout.readline())
            if said.get("method") == "event" and said["params"]["type"] == kind:
                found.append(said["params"]["payload"])
        return found

    def answer(self, method):
        while True:
            said = json.loads(self.process.stdout.readline())
            if said.get("id") == method:
                return said["result"]

    def end(self, number=signal.SIGKILL):
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture
def served(tmp_path):
    one = Served(tmp_path)
    yield one
    one.end()


def bench_of(served):
    return Bench(Workspace(served.workspace), Contents(served.store.with_suffix(".contents")))


def test_a_process_that_outlives_its_runtime_is_lost_and_then_ended(served):
    served.submit()
    pids = [int(said["text"]) for said in served.until("process.output", 3)]
    served.end()
    assert all(alive(pid) for pid in pids), "the kill took only the runtime"
    runtime, bench = Runtime(SqliteStore(served.store)), bench_of(served)
    bench.attach(runtime)
    recover(runtime)
    assert runtime.state().state("process", "process_1") == "lost"
    assert all(alive(pid) for pid in pids)
    bench.recover(runtime)
    assert not [pid for pid in pids if alive(pid)]
    assert runtime.state().state("process", "process_1") == "terminated"
    assert runtime.state().state("tool_call", "call_1") == "lost"
    types = [event["type"] for event in runtime.store.read()]
    assert not {"process.completed", "tool.result", "turn.completed"} & set(types)
    assert_honest(list(runtime.store.read()))
    bench.close()
    runtime.store.close()


def test_a_group_under_the_same_number_that_is_not_ours_is_left_alone(served, tmp_path):
    served.submit()
    pids = [int(said["text"]) for said in served.until("process.output", 3)]
    served.end()
    runtime, bench = Runtime(SqliteStore(served.store)), bench_of(served)
    record = runtime.store.find("os_process", {}, True)[0]
    ours = Group(**record.data)
    assert set(pids) <= set(ours.members())
    with bench.workspace.folder(".") as folder:
        stranger = Process(["sleep", "600"], folder)
    stranger.begin()
    runtime.report(lambda state: _point_elsewhere(state, stranger.pid))
    recover(runtime)
    bench.recover(runtime)
    assert alive(stranger.pid)
    assert not [pid for pid in pids if alive(pid)], "what carries the mark is ours wherever it is"
    stranger.close()
    bench.close()
    runtime.store.close()


def _point_elsewhere(state, number):
    state.edit("os_process", "process_1").data |= {"id": number, "since": 0}
    return
    yield  # a decision is a generator


def test_a_process_that_is_gone_stays_lost(served):
    served.submit()
    pids = [int(said["text"]) for said in served.until("process.output", 3)]
    served.end()
    runtime, bench = Runtime(SqliteStore(served.store)), bench_of(served)
    record = runtime.store.find("os_process", {}, True)[0]
    assert Group(**record.data).end(0.1)
    recover(runtime)
    bench.recover(runtime)
    assert not [pid for pid in pids if alive(pid)]
    assert runtime.state().state("process", "process_1") == "lost"
    assert runtime.store.find("os_process", {}, True) == []
    assert_honest(list(runtime.store.read()))
    bench.close()
    runtime.store.close()


def test_a_question_outlives_a_restart_and_its_command_runs_once_it_is_answered(tmp_path):
    site, store = Site({}, tmp_path), MemoryStore()
    settings = Settings(scripts={"work": [{"catalog": {}}, {"use": shell("echo made > made.txt", None)}]})
    runtime = Runtime(store, settings)
    bench = site.bench().attach(runtime)
    request = {"session_id": "s", "thread_id": "t", "turn_id": "turn_a", "input_parts": PARTS}
    runtime.handle("submit_turn", {**request, "options": {"script": "work"}})
    Worker(runtime, bench).run()
    site.kill(bench)
    again = Runtime(store, settings)
    bench = site.bench().attach(again)
    recover(again)
    bench.recover(again)
    Worker(again, bench).run()
    assert not (site.workspace / "made.txt").exists()
    again.handle("respond_action", {"action_id": "action_1", "decision": "approved"})
    Worker(again, bench).run()
    assert (site.workspace / "made.txt").read_text() == "made\n"
    assert again.state().state("turn", "turn_a") == "completed"
    assert_honest(list(store.read()))
    bench.close()


def test_a_command_is_heard_while_a_process_runs(served):
    served.submit()
    pids = [int(said["text"]) for said in served.until("process.output", 3)]
    served.send("terminate_process", {"process_id": "process_1", "reason": "Enough."})
    assert served.answer("terminate_process")["outcome"] == "accepted"
    assert not [pid for pid in pids if alive(pid)]
    assert served.until("tool.failed")[0]["status"] == "cancelled"
    served.process.stdin.close()
    assert served.process.wait() == 0


def test_what_a_killed_runtime_left_unfinished_in_the_content_store_is_removed(tmp_path):
    contents = Contents(tmp_path)
    kept = contents.put("kept")
    (tmp_path / "incoming" / "tmp1234").write_text("half of it")
    again = Contents(tmp_path)
    again.tidy()
    assert list((tmp_path / "incoming").iterdir()) == []
    assert again.read(f"output://x/{kept.sha256}") == "kept"
    again.path(kept.sha256).write_text("something else")
    assert again.read(kept.sha256) is None, "a reference never comes to mean other bytes"
    assert again.read("output://x/" + "0" * 64) is None
    assert again.read("../" + kept.sha256 + "/..") is None
