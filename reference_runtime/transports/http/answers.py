"""What an outcome is in the words of HTTP."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from reference_runtime.errors import CommandRejected, StoreError
from reference_runtime.transports.http.guard import Refusal
from reference_runtime.transports.strict import NotJson

NO_ROUTE = Refusal(404, "not_found", "no_route", "There is nothing at this path.")
NO_METHOD = Refusal(405, "invalid_request", "no_method", "The path does not answer to this method.")
NO_JSON = Refusal(415, "invalid_request", "not_json", "A command is sent as application/json.")
BROKEN = Refusal(500, "internal", "internal_error", "The server failed; what was acknowledged before is kept.")


def answered(answer: dict[str, Any]) -> JSONResponse:
    """The answer to a command: what the contract says in the body, and what HTTP makes of it as the status."""
    outcome = answer["outcome"]
    status = {"accepted": 200, "no_op": 200, "queued": 202}.get(outcome) or _refused(outcome, answer["error"])
    return JSONResponse(answer, status)


def _refused(outcome: str, error: dict[str, Any]) -> int:
    """400 for what does not fit its schema, 404 for what is not there, 409 for what cannot be as things stand."""
    if outcome == "unavailable":
        return 503
    if error["code"] == "invalid_request":
        return 400
    return 404 if error["category"] == "not_found" or error["code"] == "unknown_command" else 409


def refused(refusal: Refusal) -> JSONResponse:
    return JSONResponse(refusal.document(), refusal.status, dict(refusal.headers))


async def rejected(request: Request, error: Exception) -> JSONResponse:
    """A command or a wish that the runtime turned down."""
    assert isinstance(error, CommandRejected)
    return answered({"outcome": error.outcome, "error": error.error()})


async def store_failed(request: Request, error: Exception) -> JSONResponse:
    return refused(Refusal(503, "storage", getattr(error, "code", "store_failed"), "The store did not answer."))


async def not_json(request: Request, error: Exception) -> JSONResponse:
    return refused(Refusal(400, "invalid_request", "not_json", f"The body cannot be read. {error}"))


async def not_routed(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    answer = refused(NO_METHOD if error.status_code == 405 else NO_ROUTE)
    answer.headers.update(error.headers or {})
    return answer


async def broken(request: Request, error: Exception) -> JSONResponse:
    return refused(BROKEN)


HANDLERS = {
    CommandRejected: rejected,
    StoreError: store_failed,
    NotJson: not_json,
    HTTPException: not_routed,
    Exception: broken,
}
