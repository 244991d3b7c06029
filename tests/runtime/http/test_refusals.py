"""Whoever may not, cannot: a clear refusal each, over a real connection, and nothing changed."""

import json
import socket

import pytest

from tests.runtime.http.serving import TOKEN, Running, runtime, submit
from tests.runtime.judging import findings

BODY = json.dumps({"session_id": "s", "objective": "o"}).encode()
LIMIT = 4096


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("refusals")
    (folder / "secret.txt").write_text("outside of the store")
    with Running(lambda: runtime(folder), body_bytes=LIMIT, body_seconds=0.2) as running:
        with running.client() as client:
            submit(client)
        running.settle()
        running.folder = folder
        yield running
    assert findings((folder / "capture.ndjson").read_text()) == []


@pytest.fixture
def untouched(server):
    """The log and the capture are as they were."""
    before = server.position(), (server.folder / "capture.ndjson").read_bytes()
    yield server
    assert (server.position(), (server.folder / "capture.ndjson").read_bytes()) == before


def raw(server, *parts):
    """What comes back for bytes that no client would send; the server is the one who hangs up."""
    host, port = server.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        for part in parts:
            connection.sendall(part)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), head.lower(), body


def request(line, *headers, token=TOKEN):
    bearer = [f"Authorization: Bearer {token}"] if token is not None else []
    return "\r\n".join([f"{line} HTTP/1.1", "Host: localhost", "Connection: close", *bearer, *headers, "", ""]).encode()


def code(answer):
    return answer[0], json.loads(answer[2])["error"]["code"]


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, "token_missing"),
        ({"authorization": "Bearer guess"}, "token_wrong"),
        ({"authorization": f"Basic {TOKEN}"}, "token_wrong"),
        ({"authorization": f"Bearer {TOKEN}x"}, "token_wrong"),
        ({"authorization": TOKEN}, "token_wrong"),
        ({"cookie": f"token={TOKEN}"}, "token_missing"),
    ],
)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/commands/create_task"),
        ("GET", "/sessions/s/events?channel_id=c"),
        ("GET", "/sessions/s/snapshots/session_snapshot"),
        ("GET", "/content?ref=x"),
        ("GET", "/openapi.json"),
        ("GET", "/nowhere"),
    ],
)
def test_nothing_is_done_or_shown_without_the_token(untouched, method, path, headers, expected):
    with untouched.client() as client:
        client.headers.pop("authorization")
        answer = client.request(method, path, headers=headers, content=BODY if method == "POST" else None)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, expected)
    assert "bearer" in answer.headers["www-authenticate"].lower()


def test_a_token_in_the_query_is_no_token(untouched):
    assert code(raw(untouched, request(f"GET /openapi.json?token={TOKEN}", token=None))) == (401, "token_missing")


ESCAPES = [
    ("/content?ref=../secret.txt", 404),
    ("/content?ref=..%2f..%2fsecret.txt", 404),
    ("/content?ref=%2fetc%2fpasswd", 404),
    ("/content?ref=file:///etc/passwd", 404),
    ("/content?ref=secret.txt%00.json", 404),
    ("/content?ref=..%5c..%5csecret.txt", 404),
    ("/content/../secret.txt", 400),
    ("/../../../../etc/passwd", 400),
    ("//etc/passwd", 404),
    ("/%2e%2e/%2e%2e/etc/passwd", 400),
    ("/..%2f..%2fetc/passwd", 400),
    ("/sessions/..%2f..%2fsecret.txt/events", 400),
    ("/sessions/..%5c..%5csecret.txt/events", 400),
    ("/sessions/s%00/events", 400),
    ("/sessions/s/snapshots/..%2f..%2fsecret.txt", 400),
    ("/sessions/s/snapshots/%2fetc%2fpasswd", 404),
    ("/sessions/s/snapshots/%252e%252e%252fsecret.txt", 404),
    ("/sessions//etc/passwd/events", 404),
    ("/store.db", 404),
    ("/capture.ndjson", 404),
]


@pytest.mark.parametrize(("path", "status"), ESCAPES)
def test_no_path_leads_out_of_the_store(untouched, path, status):
    found, _, body = raw(untouched, request(f"GET {path}"))
    assert found == status
    assert json.loads(body)["outcome"] == "rejected"
    assert b"outside of the store" not in body
    assert b"root:" not in body


@pytest.mark.parametrize("path", ["/commands/..%2fcreate_task", "/commands/create_task%00", "/commands/../commands/x"])
def test_no_path_leads_around_to_a_command(untouched, path):
    head = request(f"POST {path}", "Content-Type: application/json", f"Content-Length: {len(BODY)}")
    # In one piece: a server that has answered hangs up, and what comes after that resets the connection.
    assert code(raw(untouched, head + BODY)) == (400, "bad_path")


def post(*headers):
    return request("POST /commands/create_task", "Content-Type: application/json", *headers)


def test_a_large_body_is_refused_by_its_length(untouched):
    head = post(f"Content-Length: {LIMIT + 1}")
    assert code(raw(untouched, head, b" " * (LIMIT + 1))) == (413, "body_too_large")


def test_a_large_body_in_chunks_is_refused_where_it_gets_too_large(untouched):
    chunk = b"400\r\n" + b" " * 0x400 + b"\r\n"
    assert code(raw(untouched, post("Transfer-Encoding: chunked"), *[chunk] * 5, b"0\r\n\r\n")) == (
        413,
        "body_too_large",
    )


def test_chunks_without_end_are_cut_off(untouched):
    chunk = b"400\r\n" + b" " * 0x400 + b"\r\n"
    answer = raw(untouched, post("Transfer-Encoding: chunked"), *[chunk] * 17)
    assert code(answer) == (413, "body_too_large")
    assert b"connection: close" in answer[1]


@pytest.mark.parametrize("part", [b"", BODY[:5]])
def test_a_body_that_does_not_arrive_is_not_waited_for(untouched, part):
    answer = raw(untouched, post(f"Content-Length: {len(BODY)}"), part)
    assert code(answer) == (408, "body_too_slow")


def test_a_peer_that_hangs_up_in_the_middle_of_a_command_has_sent_none(untouched):
    host, port = untouched.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(post(f"Content-Length: {len(BODY)}") + BODY[:-1])
    with untouched.client() as client:
        assert client.get("/nowhere").status_code == 404


def test_a_body_within_all_limits_passes(server):
    with server.client() as client:
        padded = BODY + b" " * (LIMIT - len(BODY))
        answer = client.post("/commands/create_task", content=padded, headers={"content-type": "application/json"})
    assert answer.json()["outcome"] == "accepted"
