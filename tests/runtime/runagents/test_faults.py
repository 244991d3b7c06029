"""Real faults: a server that is killed in the middle of its work, again and again, and a store that is held."""

import json
import random
import signal
import sqlite3
import threading
from contextlib import closing

import httpx
import pytest

from reference_runtime.lifecycles.runagents.worker import Worker
from tests.runtime.judging import findings
from tests.runtime.runagents.reading import disagreements
from tests.runtime.runagents.serving import Child, platform, until

RUN = {"agent_id": "refund-agent", "user_id": "user_ines"}
APPROVER = {"approver_id": "user_marta"}


def act(client, number, acknowledged):
    """A run that is created, and approved once it waits; every answer that arrives is written down."""
    key = {"Idempotency-Key": f"run-{number}"}
    run = client.post("/runs", json=RUN, headers=key).json()
    acknowledged.append(("POST /runs", key, run))
    until(client, run["id"], "PAUSED_APPROVAL", "COMPLETED", "FAILED")
    for action in client.get(f"/runs/{run['id']}/actions").json():
        place = f"/approvals/requests/{action['request_id']}/approve"
        answer = client.post(place, json=APPROVER, headers=key)
        acknowledged.append((place, key, answer.json()))
    acknowledged += [("event", run["id"], event) for event in client.get(f"/runs/{run['id']}/events").json()]


def test_nothing_acknowledged_is_lost_when_the_server_is_killed(tmp_path):
    """Two rounds, each killed after a random number of answers; every answer that was read still holds."""
    chance, acknowledged, numbers = random.Random(7), [], iter(range(1000))
    for _ in range(2):
        server = Child(tmp_path)
        enough, base = chance.randrange(5, 25), len(acknowledged)

        def load(server=server):
            with server.client() as client:
                try:
                    for number in numbers:
                        act(client, number, acknowledged)
                except (httpx.TransportError, json.JSONDecodeError):
                    return

        worker = threading.Thread(target=load)
        worker.start()
        while len(acknowledged) < base + enough and worker.is_alive():
            pass
        server.end(signal.SIGKILL)
        worker.join()
    again = platform(tmp_path)
    again.recover()
    assert_kept(again, acknowledged)
    Worker(again).run()
    for run in again.runs():
        again.run_view(run["id"])
        again.export(run["id"])
    again.close()
    capture = (tmp_path / "capture.ndjson").read_text()
    assert findings(capture) == []
    assert disagreements(capture) == []


def assert_kept(again, acknowledged):
    """Events are in the log as they were shown, and a repetition under its key gets its first answer."""
    kept = {line["event_id"]: line for line in again.book.read() if "event_id" in line}
    for place, key, answer in acknowledged:
        if place == "event":
            assert kept[answer["event_id"]] == answer
        elif place == "POST /runs":
            assert again.create_run(RUN, key["Idempotency-Key"]) == answer
        elif "error" not in answer:
            assert again.approve(answer["id"], APPROVER, key["Idempotency-Key"]) == answer


def test_a_held_store_is_unavailable_and_a_stopped_server_goes_on_where_it_was(tmp_path):
    server = Child(tmp_path)
    with server.client() as client:
        with closing(sqlite3.connect(tmp_path / "store.db")) as other:
            other.execute("BEGIN IMMEDIATE")
            answer = client.post("/runs", json=RUN)
            other.rollback()
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "store_locked")
        assert answer.json()["error"]["retryable"] is True
        assert client.get("/runs").json() == []
        run_id = client.post("/runs", json=RUN).json()["id"]
        until(client, run_id, "PAUSED_APPROVAL")
    assert server.end() == 0
    server = Child(tmp_path)
    with server.client() as client:
        (request,) = client.get("/approvals/requests", params={"status": "PENDING"}).json()
        client.post(f"/approvals/requests/{request['id']}/approve", json=APPROVER)
        until(client, run_id, "COMPLETED")
    assert server.end() == 0
    assert findings((tmp_path / "capture.ndjson").read_text(), "complete") == []


@pytest.mark.parametrize("moment", ["before the call", "in the call", "after the call"])
def test_a_call_is_made_at_most_once_whenever_the_process_dies(tmp_path, moment):
    """The process dies at each edge of a call; the action is performed once, or honestly nobody knows."""
    effects = []
    first = platform(tmp_path)
    run_id = first.create_run(RUN)["id"]
    worker = Worker(first)
    worker.run()
    first.approve(first.requests("PENDING")[0]["id"], APPROVER)
    dying(first, moment, effects)
    with pytest.raises(Gone):
        worker.run()
    first.close()
    again = platform(tmp_path)
    dying(again, "never", effects)
    again.recover()
    Worker(again).run()
    status = again.run(run_id)["status"]
    expected = {"before the call": (0, "FAILED"), "in the call": (1, "FAILED"), "after the call": (1, "COMPLETED")}
    assert (len(effects), status) == expected[moment]
    again.run_view(run_id)
    again.close()
    assert findings((tmp_path / "capture.ndjson").read_text()) == []


class Gone(BaseException):
    """The process is no more."""


def dying(found, moment, effects):
    """Lets a platform perform calls that are counted, and die at a moment around one."""
    perform, finish = found._perform, found.finish

    def performed(call):
        effects.append(call)
        if moment == "in the call":
            raise Gone
        return perform(call)

    def finished(run_id, verdict, key=None):
        if moment == "before the call" and verdict["verdict"] == "go":
            raise Gone
        answer = finish(run_id, verdict, key)
        if moment == "after the call":
            raise Gone
        return answer

    found._perform, found.finish = performed, finished
