"""What each route answers, asked over a real connection."""

import pytest

from reference_runtime.contract import protocol
from reference_runtime.transports.http import openapi
from tests.runtime.http.serving import PARTS, Running, runtime, submit
from tests.runtime.http.view import View, messages
from tests.runtime.judging import findings


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One server for all; what it wrote down is in order in the end."""
    folder = tmp_path_factory.mktemp("routes")
    with Running(lambda: runtime(folder)) as running:
        with running.client() as client:
            submit(client)
        yield running
    assert findings((folder / "capture.ndjson").read_text()) == []


@pytest.fixture
def client(server):
    with server.client() as made:
        yield made


def outcome(answer):
    said = answer.json()
    return answer.status_code, said["outcome"], said.get("error", {}).get("code")


def send(client, command, **request):
    return client.post(f"/commands/{command}", json=request)


@pytest.mark.parametrize("command", protocol().commands)
def test_every_command_is_there_and_held_to_its_schema(client, command):
    assert outcome(send(client, command, session_id=5)) == (400, "rejected", "invalid_request")


def test_what_becomes_of_a_command_is_its_status(client):
    task = {"session_id": "s", "task_id": "k", "objective": "o"}
    assert outcome(send(client, "create_task", **task)) == (200, "accepted", None)
    assert outcome(send(client, "create_task", **task)) == (200, "no_op", None)
    assert outcome(send(client, "get_task", task_id="nobody")) == (404, "rejected", "unknown_task")
    assert outcome(send(client, "complete_task", task_id="k"))[:2] == (409, "rejected")
    assert outcome(send(client, "fly")) == (404, "rejected", "unknown_command")


def test_a_turn_that_waits_is_accepted_for_later(client):
    request = {"session_id": "w", "thread_id": "w", "input_parts": PARTS, "options": {"script": "ask"}}
    first, second = (send(client, "submit_turn", **request) for _ in range(2))
    assert [first.status_code, second.status_code] == [200, 202]
    assert second.json()["outcome"] == "queued"


def test_the_same_key_gets_the_same_answer_over_any_connection(server):
    answers = []
    for _ in range(2):
        with server.client() as client:
            answers.append(send(client, "create_task", session_id="s", objective="o", idempotency_key="k").json())
    assert answers[0] == answers[1]


def test_a_read_model_is_served_in_its_scope(client):
    shown = client.get("/sessions/s/snapshots/session_snapshot")
    assert (shown.status_code, shown.json()["session_id"]) == (200, "s")
    thread = client.get("/sessions/s/snapshots/thread_read_model", params={"thread_id": "t"})
    assert thread.json()["thread_id"] == "t"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/sessions/nobody/snapshots/session_snapshot", (404, "rejected", "unknown_session")),
        ("/sessions/s/snapshots/nothing", (404, "rejected", "unknown_model")),
        ("/sessions/s/snapshots/evidence_summary", (404, "rejected", "no_snapshot")),
        ("/sessions/s/snapshots/thread_read_model", (400, "rejected", "invalid_request")),
        ("/sessions/s/snapshots/thread_read_model?thread_id=nobody", (404, "rejected", "unknown_thread")),
        ("/sessions/s/snapshots/session_snapshot?thread_id=t", (400, "rejected", "invalid_request")),
        ("/sessions/s/snapshots/session_snapshot?x=1", (400, "rejected", "invalid_request")),
        ("/sessions/s/snapshots/task_snapshot?thread_id=t&thread_id=t", (400, "rejected", "invalid_request")),
        ("/sessions/nobody/events", (404, "rejected", "unknown_session")),
        ("/sessions/s/events?after=999999", (409, "rejected", "never_emitted")),
        ("/sessions/s/events?after=-1", (400, "rejected", "invalid_request")),
        ("/sessions/s/events?after=one", (400, "rejected", "invalid_request")),
        ("/sessions/s/events?follow=maybe", (400, "rejected", "invalid_request")),
        ("/sessions/s/events?channel_id=", (400, "rejected", "invalid_request")),
        ("/content", (400, "rejected", "invalid_request")),
        ("/content?ref=nothing://here", (404, "rejected", "unknown_ref")),
        ("/nowhere", (404, "rejected", "no_route")),
        ("/commands/get_session", (405, "rejected", "no_method")),
    ],
)
def test_what_is_not_there_or_not_asked_for_properly_is_refused(client, path, expected):
    assert outcome(client.get(path)) == expected


def test_a_cursor_in_the_header_is_held_to_the_same(client):
    answer = client.get("/sessions/s/events", headers={"last-event-id": "soon"})
    assert outcome(answer) == (400, "rejected", "invalid_request")


UNREADABLE = [b"", b"{", b'{"a": NaN}', b'{"a": 1e999}', b'{"a": "\\ud800"}', b'{"\\udfff": 1}', b"\xff"]
UNREADABLE += [b'{"a": 9007199254740992}', b'{"a":' * 70 + b"1" + b"}" * 70, b"[" * 100_000]


@pytest.mark.parametrize("body", UNREADABLE, ids=lambda body: repr(body[:18]))
def test_a_body_that_could_not_be_told_again_is_refused(server, client, body):
    before = server.position()
    answer = client.post("/commands/get_session", content=body, headers={"content-type": "application/json"})
    assert outcome(answer) == (400, "rejected", "not_json")
    assert server.position() == before


def test_a_command_is_said_to_be_json(client):
    assert outcome(client.post("/commands/get_session", content=b"{}")) == (415, "rejected", "not_json")


def test_content_is_read_by_its_reference_and_in_no_other_way(client):
    exported = send(client, "export_evidence", session_id="s").json()
    found = client.get("/content", params={"ref": exported["pack_ref"]}).json()
    assert found["ref"] == exported["pack_ref"]
    assert found["content"]["timeline"]


def test_an_id_may_hold_a_slash(client):
    submit(client, session_id="a/b", thread_id="a/b")
    assert client.get("/sessions/a%2Fb/snapshots/session_snapshot").json()["session_id"] == "a/b"
    view = View("a%2Fb")
    view.read(client)
    assert view.events[0]["session_id"] == "a/b"


def test_the_head_of_a_stream_has_no_stream(client):
    answer = client.head("/sessions/s/events")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")


def test_a_snapshot_comes_first_and_then_everything_behind_the_cursor(server, client):
    view = View()
    view.read(client)
    assert [line.get("record") for line in view.lines[:3]] == ["header", "snapshot", None]
    assert view.events == server.log()
    assert view.ended == "caught_up"
    assert findings(view.text()) == []


def test_without_a_cursor_the_stream_goes_on_after_the_snapshot(client):
    with client.stream("GET", "/sessions/s/events") as answer:
        told = messages(answer.iter_lines())
        shown = next(told).data["snapshot"]["as_of_sequence"]
        send(client, "update_task", task_id="k", title="Another")
        assert next(told).data["sequence"] == shown + 1


def test_several_subscribers_get_the_same_and_another_session_gets_nothing(server, client):
    paths = ["/sessions/s/events", "/sessions/s/events", "/sessions/w/events"]
    with server.client() as one, server.client() as two, server.client() as other:
        streams = [each.stream("GET", path) for each, path in zip((one, two, other), paths, strict=True)]
        first, second, third = (messages(stream.__enter__().iter_lines()) for stream in streams)
        assert {next(told).name for told in (first, second, third)} == {"snapshot"}
        send(client, "update_task", task_id="k", title="For two")
        send(client, "create_task", session_id="w", task_id="w", objective="o")
        assert next(first).data == next(second).data
        assert next(third).data["session_id"] == "w"
        for stream in streams:
            stream.__exit__(None, None, None)


def test_the_description_is_served_as_it_is_printed(client):
    assert client.get("/openapi.json").json() == openapi.document(*openapi.core())
