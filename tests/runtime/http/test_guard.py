"""The guard alone, in front of an application that only tells what reached it."""

import asyncio
import json

import pytest

from reference_runtime.transports.http.guard import Guard, Limits, new_token

TOKEN = "correct-horse"
BEARER = [(b"authorization", f"Bearer {TOKEN}".encode())]


class Peer:
    """One request against a guarded application, part by part."""

    def __init__(self, *parts, **limits):
        self.parts = [{"type": "http.request", "body": part, "more_body": True} for part in parts[:-1]]
        self.parts += [{"type": "http.request", "body": part, "more_body": False} for part in parts[-1:]]
        self.limits = Limits(TOKEN, **limits)
        self.sent, self.reached = [], []

    def ask(self, path="/sessions", headers=BEARER, client=("127.0.0.1", 5), kind="http"):
        scope = {"type": kind, "path": path, "headers": headers, "client": client}
        asyncio.run(Guard(self.application, self.limits)(scope, self.receive, self.send))
        return self

    async def application(self, scope, receive, send):
        message = await receive()
        assert not message.get("more_body")
        self.reached.append(message.get("body"))

    async def receive(self):
        if not self.parts:
            await asyncio.Event().wait()
        return self.parts.pop(0)

    async def send(self, message):
        self.sent.append(message)

    @property
    def refused(self):
        """Status and code of the refusal; nothing may have reached the application."""
        assert self.reached == []
        start, body = self.sent
        assert (b"connection", b"close") in start["headers"]
        error = json.loads(body["body"])["error"]
        assert error["message"]
        return start["status"], error["code"]


def test_a_request_with_the_token_passes_in_one_piece():
    assert Peer(b"one ", b"two").ask().reached == [b"one two"]


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ([], "token_missing"),
        ([(b"authorization", b"Bearer wrong-horse00")], "token_wrong"),
        ([(b"authorization", b"Bearer ")], "token_wrong"),
        ([(b"authorization", b"Bearer \xff\xfe")], "token_wrong"),
        ([(b"authorization", b"Basic correct-horse")], "token_wrong"),
        ([(b"authorization", b"Bearer " + TOKEN.encode()[:-1])], "token_wrong"),
        (BEARER * 2, "token_wrong"),
    ],
)
def test_nobody_passes_without_the_token(headers, code):
    peer = Peer(b"").ask(headers=headers)
    assert peer.refused == (401, code)
    assert any(name == b"www-authenticate" for name, _ in peer.sent[0]["headers"])


@pytest.mark.parametrize("client", [("192.0.2.7", 5), ("localhost.example", 5), None, ("::", 5)])
def test_a_peer_elsewhere_is_refused_before_its_token_is_looked_at(client):
    assert Peer(b"").ask(client=client, headers=[]).refused == (403, "not_loopback")


@pytest.mark.parametrize("client", [("127.8.9.1", 5), ("::1", 5)])
def test_loopback_is_more_than_one_address(client):
    assert Peer(b"").ask(client=client).reached == [b""]


def test_a_guard_can_be_told_to_serve_other_machines():
    assert Peer(b"", loopback_only=False).ask(client=("192.0.2.7", 5)).reached == [b""]


@pytest.mark.parametrize("path", ["/a/../b", "/..", "/a/./b", "/a\\b", "/a\x00", "/a\nb", "/a\x7f"])
def test_a_path_that_climbs_or_hides_something_is_refused(path):
    assert Peer(b"").ask(path=path).refused == (400, "bad_path")


@pytest.mark.parametrize("path", ["/a..b/c", "/...", "/a//b"])
def test_dots_inside_a_name_are_a_name(path):
    assert Peer(b"").ask(path=path).reached == [b""]


def test_a_body_at_the_limit_passes():
    assert Peer(b"12345", b"678", body_bytes=8).ask().reached == [b"12345678"]


def test_a_body_over_the_limit_is_refused_also_without_a_length():
    assert Peer(b"12345", b"6789", body_bytes=8).ask().refused == (413, "body_too_large")


def test_a_declared_length_over_the_limit_is_refused():
    assert Peer(b"1", body_bytes=8).ask(headers=[*BEARER, (b"content-length", b"9")]).refused[0] == 413


def test_a_body_without_end_is_not_read_to_its_end():
    peer = Peer(*[b"12345678"] * 50, body_bytes=8).ask()
    assert peer.refused == (413, "body_too_large")
    assert len(peer.parts) > 40


@pytest.mark.parametrize("lengths", [[b"-1"], [b"1e3"], [b"1", b"1"], [b"9" * 30], [b""]])
def test_a_length_that_is_no_number_is_refused(lengths):
    headers = [*BEARER, *((b"content-length", length) for length in lengths)]
    assert Peer(b"").ask(headers=headers).refused == (400, "bad_length")


def test_a_body_that_never_ends_is_cut_off_by_the_clock():
    peer = Peer(b"1", b"2", body_seconds=0.01)
    peer.parts.pop()
    assert peer.ask().refused == (408, "body_too_slow")


def test_a_peer_that_leaves_in_the_middle_reaches_nothing_and_gets_nothing():
    peer = Peer(b"1", b"2")
    peer.parts[1] = {"type": "http.disconnect"}
    assert (peer.ask().reached, peer.sent) == ([], [])


def test_web_sockets_are_turned_away():
    assert Peer().ask(kind="websocket").sent[0]["type"] == "websocket.close"


def test_tokens_are_long_and_never_the_same():
    assert len({new_token() for _ in range(50)}) == 50
    assert min(len(new_token()) for _ in range(50)) >= 43
