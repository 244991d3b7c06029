"""What stands before every route: who may speak, from where, and how much.

A pure ASGI layer that knows no route. It asks in this order, and the first no is the answer: does the peer sit on
this machine, does it hold the token, is the path a plain one, and does the body arrive whole, in time and within its
limit? The body is read here and handed on in one piece, so whatever is behind it never sees half a request.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_DRAINED = 4
"""How many times the limit is read and thrown away, so that a peer that writes before it reads gets its answer."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a guard allows."""

    token: str
    loopback_only: bool = True
    body_bytes: int = 1 << 20
    body_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request goes no further."""

    status: int
    category: str
    code: str
    message: str
    headers: tuple[tuple[str, str], ...] = ()

    def document(self) -> dict[str, Any]:
        """The body of the answer; it looks as the answer to a command that is turned down."""
        retryable = self.status in {408, 429, 503}
        error = {"category": self.category, "code": self.code, "message": self.message, "retryable": retryable}
        return {"outcome": "unavailable" if self.status == 503 else "rejected", "error": error}


FOREIGN = Refusal(403, "permission", "not_loopback", "Only peers on this machine are served.")
NO_TOKEN = Refusal(401, "auth", "token_missing", "Send `Authorization: Bearer` with the token of this server.",
                   (("www-authenticate", "Bearer"),))  # fmt: skip
BAD_TOKEN = Refusal(401, "auth", "token_wrong", "The token is not the one of this server.",
                    (("www-authenticate", 'Bearer error="invalid_token"'),))  # fmt: skip
BAD_PATH = Refusal(400, "invalid_request", "bad_path", "A path has no `..` step, backslash or control character.")
BAD_LENGTH = Refusal(400, "invalid_request", "bad_length", "Content-Length is a whole number, given once.")
TOO_LARGE = Refusal(413, "invalid_request", "body_too_large", "The body is larger than this server reads.")
TOO_SLOW = Refusal(408, "invalid_request", "body_too_slow", "The body did not arrive in time.")
REFUSALS = (FOREIGN, NO_TOKEN, BAD_TOKEN, BAD_PATH, BAD_LENGTH, TOO_LARGE, TOO_SLOW)
"""Every answer a guard can give, for whoever documents it."""


def new_token() -> str:
    """A token nobody can guess."""
    return secrets.token_urlsafe(32)


class Guard:
    """Lets through what may pass, and answers the rest."""

    def __init__(self, app: App, limits: Limits):
        self._app, self._limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008, "reason": "There are no web sockets here."})

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = self._refused(scope) or await self._body(scope, receive)
        if isinstance(body, Refusal):
            await _answer(body, send)
        elif body is not None:
            await self._app(scope, _handed(body, receive), send)

    def _refused(self, scope: Scope) -> Refusal | None:
        """Why the head of a request is enough to refuse it."""
        if self._limits.loopback_only and not _is_loopback(scope.get("client")):
            return FOREIGN
        given = _header(scope, b"authorization")
        if not given:
            return NO_TOKEN
        if len(given) != 1 or not _is_bearer(given[0], self._limits.token):
            return BAD_TOKEN
        if not _is_plain(scope["path"]):
            return BAD_PATH
        return None if _length(scope) is not None else BAD_LENGTH

    async def _body(self, scope: Scope, receive: Receive) -> bytes | Refusal | None:
        """The whole body, or why it is not taken, or None when the peer is gone."""
        too_large = (_length(scope) or 0) > self._limits.body_bytes
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                return await self._read(receive, too_large)
        except TimeoutError:
            return TOO_SLOW

    async def _read(self, receive: Receive, too_large: bool) -> bytes | Refusal | None:
        kept, size, more = bytearray(), 0, True
        while more and size <= self._limits.body_bytes * _DRAINED:
            message = await receive()
            if message["type"] != "http.request":
                return None
            part, more = message.get("body", b""), message.get("more_body", False)
            size += len(part)
            too_large = too_large or size > self._limits.body_bytes
            if too_large:
                kept.clear()
            else:
                kept += part
        return TOO_LARGE if too_large else bytes(kept)


def _handed(body: bytes, receive: Receive) -> Receive:
    """A way to read a body that is already here, and then whatever the peer says next."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def handed() -> Message:
        return waiting.pop() if waiting else await receive()

    return handed


def _is_loopback(client: Any) -> bool:
    """A peer of unknown address is not known to be on this machine."""
    try:
        return ipaddress.ip_address(client[0]).is_loopback
    except (TypeError, ValueError):
        return False


def _is_bearer(given: bytes, token: str) -> bool:
    scheme, _, value = given.partition(b" ")
    return scheme.lower() == b"bearer" and hmac.compare_digest(value.strip(), token.encode())


def _is_plain(path: str) -> bool:
    """The path as decoded: what was `%2e%2e` or `%00` is what it stands for."""
    steps = path.split("/")
    return not any(sign < " " or sign in "\\\x7f" for sign in path) and not {".", ".."}.intersection(steps)


def _length(scope: Scope) -> int | None:
    """The declared length, 0 where none is, None where it is nonsense."""
    given = _header(scope, b"content-length") or [b"0"]
    return int(given[0]) if len(given) == 1 and given[0].isdigit() and len(given[0]) <= 18 else None


def _header(scope: Scope, name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key.lower() == name]


async def _answer(refusal: Refusal, send: Send) -> None:
    """Answers and hangs up, for the rest of a refused request may still be on its way."""
    body = json.dumps(refusal.document()).encode()
    headers = [("content-type", "application/json"), ("content-length", str(len(body))), ("connection", "close")]
    raw = [(name.encode(), value.encode()) for name, value in (*headers, *refusal.headers)]
    await send({"type": "http.response.start", "status": refusal.status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
