"""Real faults: a process that is killed at any moment, a disk that is full, a file that somebody else holds."""

import json
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from reference_runtime.log.sqlite import SqliteStore
from reference_runtime.recovery import recover
from reference_runtime.service import Runtime
from reference_runtime.settings import Settings
from tests.runtime.judging import findings
from tests.runtime.machine import SCRIPTS

PARTS = [{"kind": "text", "text": "hi"}]


class Child:
    """A runtime in a process of its own, spoken to over its standard streams."""

    def __init__(self, store):
        command = [sys.executable, "-m", "reference_runtime", "stdio", "--store", str(store)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, **pipes)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        left = self.process.stdout.read()
        self.process.stdin.close()
        self.process.stdout.close()
        return [json.loads(line) for line in left.splitlines() if line.endswith("}")]

    def send(self, identity, method, params):
        message = {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def read(self, lines):
        return [json.loads(self.process.stdout.readline()) for _ in range(lines)]


def load(number):
    """One command of the load: turns, tasks and attempts, each with a key."""
    key = {"idempotency_key": f"key-{number}"}
    if number % 3 == 0:
        return "submit_turn", {
            "session_id": "s",
            "thread_id": "t",
            "turn_id": f"turn_{number}",
            "input_parts": PARTS,
            **key,
        }
    if number % 3 == 1:
        return "create_task", {"session_id": "s", "task_id": f"task_{number}", "objective": "o", **key}
    return "start_task", {"task_id": f"task_{number - 1}", **key}


def test_nothing_acknowledged_is_lost_when_the_process_is_killed(tmp_path):
    """Three rounds of load, each cut off at a random line of output; every answer that was read still holds."""
    chance, store = random.Random(7), tmp_path / "store.db"
    acknowledged, number = {}, 0
    for _ in range(3):
        child = Child(store)
        for _ in range(6):
            child.send(number, *load(number))
            number += 1
        said = child.read(chance.randrange(3, 40)) + child.kill()
        acknowledged |= {one["id"]: one["result"] for one in said if "result" in one}
    assert acknowledged
    runtime = Runtime(SqliteStore(store), Settings(scripts=SCRIPTS))
    kept = {event["event_id"] for event in runtime.store.read()}
    for identity, answer in acknowledged.items():
        assert set(answer.get("event_ids", ())) <= kept
        assert runtime.handle(*load(identity)) == answer, "a repetition gets the first answer"
    told = list(runtime.store.read())
    assert [event["sequence"] for event in told] == list(range(1, len(told) + 1))
    recover(runtime)
    assert_honest(list(runtime.store.read()))
    runtime.store.close()


def assert_honest(events):
    """The judge finds nothing in the log; each boot is marked where the runtime told that it came back."""
    lines = []
    for event in events:
        if event["type"] == "history.reconstructed":
            lines.append({"record": "restart", "reason": "kill", "runtime_id": event["runtime_id"]})
        lines.append(event)
    header = {
        "record": "header",
        "capture": "1",
        "protocol": "agent-runtime",
        "version": "0.3",
        "completeness": "prefix",
    }
    assert findings("".join(json.dumps(line) + "\n" for line in [header, *lines])) == []


@pytest.fixture
def durable(tmp_path):
    store = SqliteStore(tmp_path / "store.db", wait_seconds=0)
    runtime = Runtime(store, Settings(scripts=SCRIPTS))
    answer = runtime.handle("submit_turn", {"session_id": "s", "thread_id": "t", "input_parts": PARTS})
    assert answer["outcome"] == "accepted"
    yield runtime
    store.close()


def test_a_locked_store_makes_a_command_unavailable_and_keeps_what_was_there(durable, tmp_path):
    before = list(durable.store.read())
    request = {"session_id": "s", "objective": "o", "idempotency_key": "k"}
    with closing(sqlite3.connect(tmp_path / "store.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        answer = durable.handle("create_task", request)
        other.rollback()
    assert (answer["outcome"], answer["error"]["code"]) == ("unavailable", "store_locked")
    assert answer["error"]["retryable"] is True
    assert list(durable.store.read()) == before
    assert durable.handle("create_task", request)["outcome"] == "accepted"


def test_a_full_disk_makes_a_command_unavailable_and_keeps_what_was_there(durable):
    before = list(durable.store.read())
    database = durable.store._db
    pages = database.execute("PRAGMA page_count").fetchone()[0]
    database.execute(f"PRAGMA max_page_count = {pages}")
    request = {"session_id": "s", "objective": "o" * 40_000}
    answer = durable.handle("create_task", request)
    assert (answer["outcome"], answer["error"]["code"]) == ("unavailable", "store_full")
    assert list(durable.store.read()) == before
    database.execute("PRAGMA max_page_count = 1000000")
    assert durable.handle("create_task", request)["outcome"] == "accepted"


def test_two_writers_on_one_store_never_decide_on_the_same_position(durable, tmp_path):
    """A decision that was overtaken is taken again on what is there now."""
    other = Runtime(SqliteStore(tmp_path / "store.db"), Settings(scripts=SCRIPTS))
    commit, beaten = durable.store.commit, []

    def overtaken(change):
        if not beaten:
            beaten.append(other.handle("create_task", {"session_id": "s", "task_id": "first", "objective": "o"}))
        commit(change)

    durable.store.commit = overtaken
    answer = durable.handle("create_task", {"session_id": "s", "task_id": "second", "objective": "o"})
    assert (beaten[0]["outcome"], answer["outcome"]) == ("accepted", "accepted")
    ids = [event["event_id"] for event in durable.store.read()]
    assert len(ids) == len(set(ids))
    other.store.close()
