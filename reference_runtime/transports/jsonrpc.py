"""JSON-RPC 2.0: method names are the commands of the contract, results are their answers, events are notifications.

A command that the runtime rejects is answered by a *result* with the outcome `rejected`: that is what the contract
calls an answer. JSON-RPC errors are for messages that are no request: bad JSON, a wrong shape, an unknown method,
params that are no object.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from reference_runtime.domain.decisions import DECISIONS
from reference_runtime.transports import strict

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
Handler = Callable[[dict[str, Any]], Any]


class Endpoint:
    """Answers messages; `extra` adds methods that are no commands."""

    def __init__(self, command: Callable[[str, dict[str, Any]], Any], extra: dict[str, Handler] | None = None):
        self._methods: dict[str, Handler] = {
            name: lambda params, name=name: command(name, params) for name in DECISIONS
        } | (extra or {})

    def answer(self, line: str) -> str | None:
        """The reply to one line, or None where none is due."""
        try:
            message = strict.read(line)
        except strict.NotJson as error:
            return json.dumps(_error(None, PARSE_ERROR, f"The line cannot be read. {error}"))
        if isinstance(message, list):
            if not message:
                return json.dumps(_error(None, INVALID_REQUEST, "A batch holds at least one request."))
            replies = [reply for one in message if (reply := self._one(one)) is not None]
            return json.dumps(replies) if replies else None
        reply = self._one(message)
        return json.dumps(reply) if reply is not None else None

    def _one(self, message: Any) -> dict[str, Any] | None:
        fault = _fault(message)
        if fault:
            return _error(_id(message), INVALID_REQUEST, fault)
        method, params = message["method"], message.get("params", {})
        if method not in self._methods:
            reply = _error(_id(message), METHOD_NOT_FOUND, "There is no such method.")
        elif not isinstance(params, dict):
            reply = _error(_id(message), INVALID_PARAMS, "Params are given by name, in an object.")
        else:
            reply = self._call(method, params, _id(message))
        return reply if "id" in message else None

    def _call(self, method: str, params: dict[str, Any], identity: Any) -> dict[str, Any]:
        try:
            return {"jsonrpc": "2.0", "id": identity, "result": self._methods[method](params)}
        except Exception as error:  # one bad message must not end the conversation
            return _error(identity, INTERNAL_ERROR, f"{type(error).__name__}: {error}")


def _fault(message: Any) -> str | None:
    if not isinstance(message, dict):
        return "A request is an object."
    if message.get("jsonrpc") != "2.0":
        return "jsonrpc must be 2.0."
    if not isinstance(message.get("method"), str):
        return "A request names its method by a string."
    if "id" in message and not _plain(message["id"]):
        return "An id is a string, a number or null."
    return None


def _plain(identity: Any) -> bool:
    return identity is None or (isinstance(identity, str | int | float) and not isinstance(identity, bool))


def _id(message: Any) -> Any:
    identity = message.get("id") if isinstance(message, dict) else None
    return identity if _plain(identity) else None


def _error(identity: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}}


def notification(event: dict[str, Any]) -> str:
    """An event on its way to a peer."""
    return json.dumps({"jsonrpc": "2.0", "method": "event", "params": event})
