"""The end of a server, told to stop or killed: nothing that was acknowledged is lost, and nobody is left in doubt."""

import contextlib
import random
import signal
import socket
import threading

import httpx

from reference_runtime.__main__ import main
from reference_runtime.log.sqlite import SqliteStore
from tests.runtime.http.serving import Child, submit
from tests.runtime.http.view import View, messages
from tests.runtime.judging import findings


def load(number):
    """One command of the load, with a key."""
    key = {"idempotency_key": f"key-{number}"}
    if number % 3 == 0:
        request = {"session_id": "s", "thread_id": "t", "turn_id": f"load_{number}", "input_parts": [{"kind": "text"}]}
        return "submit_turn", {**request, **key}
    if number % 3 == 1:
        return "create_task", {"session_id": "s", "task_id": f"task_{number}", "objective": "o", **key}
    return "start_task", {"task_id": f"task_{number - 1}", **key}


class Sender(threading.Thread):
    """Sends commands, one after the other, for as long as somebody answers."""

    def __init__(self, child, first, enough):
        super().__init__()
        self.client, self.first, self.enough = child.client(), first, enough
        self.answers, self.reached = {}, threading.Event()

    def run(self):
        with self.client, contextlib.suppress(httpx.TransportError):
            for number in range(self.first, self.first + 1000):
                command, request = load(number)
                answer = self.client.post(f"/commands/{command}", json=request)
                assert answer.status_code in {200, 202}, answer.text
                self.answers[number] = answer.json()
                if len(self.answers) >= self.enough:
                    self.reached.set()


class Watcher(threading.Thread):
    """Reads a stream to its end, however it ends."""

    def __init__(self, child, view):
        super().__init__()
        self.client, self.view = child.client(), view

    def run(self):
        with self.client, contextlib.suppress(httpx.TransportError):
            self.view.read(self.client, follow=True)


def stored(folder):
    with contextlib.closing(SqliteStore(folder / "store.db")) as store:
        return list(store.read(session="s"))


def round_of_load(folder, view, first, enough, how):
    """Starts a server, lets it work and be watched, and ends it in the middle of that."""
    with Child(folder) as child:
        if first == 0:
            with child.client() as client:
                submit(client)
        sender, watcher = Sender(child, first, enough), Watcher(child, view)
        watcher.start()
        sender.start()
        assert sender.reached.wait(60)
        code = child.end(how)
        sender.join(60)
        watcher.join(60)
    return sender.answers, code


def test_a_killed_server_has_lost_nothing_that_it_acknowledged(tmp_path):
    """Two servers on one store, each killed in the middle of its load, and then one that stays."""
    chance, view, answers = random.Random(3), View(channel="c"), {}
    for _ in range(2):
        first = 3 * (max(answers, default=-3) // 3 + 2)
        more, _ = round_of_load(tmp_path, view, first - 3, chance.randrange(2, 9), signal.SIGKILL)
        answers |= more
    with Child(tmp_path) as child, child.client() as client:
        kept = {event["event_id"] for event in stored(tmp_path)}
        for number, answer in answers.items():
            command, request = load(number)
            assert set(answer.get("event_ids", ())) <= kept
            assert client.post(f"/commands/{command}", json=request).json() == answer, "a repetition, after all that"
        view.read(client)
        assert child.end() == 0
    log = stored(tmp_path)
    assert [event["sequence"] for event in log] == list(range(1, len(log) + 1))
    assert view.events == log[: len(view.events)], "what was seen before is what is there now"
    assert view.ended == "caught_up"
    assert findings(view.text()) == []
    assert findings((tmp_path / "capture.ndjson").read_text()) == []


def test_a_server_that_is_told_to_stop_finishes_what_was_asked_for(tmp_path):
    view = View(channel="c")
    answers, code = round_of_load(tmp_path, view, 0, 4, signal.SIGTERM)
    assert (code, view.ended) == (0, "shutdown")
    log = stored(tmp_path)
    assert {name for answer in answers.values() for name in answer["event_ids"]} <= {one["event_id"] for one in log}
    assert view.events == log[: len(view.events)]
    gone = [event["payload"]["reason"] for event in log if event["type"] == "channel.disconnected"]
    assert gone == ["The server stops."]
    assert [event["type"] for event in log].count("turn.completed") == 1 + len([n for n in answers if n % 3 == 0])
    assert findings((tmp_path / "capture.ndjson").read_text()) == []


def test_one_line_says_where_the_server_is_and_with_which_token(tmp_path):
    with Child(tmp_path, "--token", "mine") as child, child.client("mine") as client:
        assert child.said.keys() == {"address", "protocol"}
        assert child.said["address"].startswith("http://127.0.0.1:")
        assert client.get("/openapi.json").status_code == 200
        assert child.end(signal.SIGINT) == 0
    with Child(tmp_path) as other:
        assert len(other.said["token"]) > 40


def test_a_stream_ends_with_the_reason_when_the_server_stops(tmp_path):
    with Child(tmp_path) as child, child.client() as client:
        submit(client)
        with client.stream("GET", "/sessions/s/events") as answer:
            told = messages(answer.iter_lines())
            assert next(told).name == "snapshot"
            child.process.send_signal(signal.SIGTERM)
            assert [message.data["reason"] for message in told if message.name == "end"] == ["shutdown"]
        assert child.process.wait(60) == 0


def test_what_cannot_be_served_is_said(tmp_path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for arguments in (["--protocol", "nothing/1"], ["--port", str(taken.getsockname()[1])]):
            assert main(["serve", *arguments]) == 1
            assert capsys.readouterr().err.startswith("reference-runtime: ")
