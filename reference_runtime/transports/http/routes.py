"""The routes of the core protocol. No decisions are taken here, and no path leads to a file."""

from __future__ import annotations

import re
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reference_runtime import contract
from reference_runtime.errors import CommandRejected
from reference_runtime.projections import PER_THREAD, THREAD_MODELS
from reference_runtime.transports import strict
from reference_runtime.transports.http.answers import NO_JSON, answered, refused
from reference_runtime.transports.http.core import CoreService
from reference_runtime.transports.http.guard import Refusal
from reference_runtime.transports.http.stream import HEADERS

NO_MODEL = Refusal(404, "not_found", "unknown_model", "There is no such read model.")
NO_CONTENT = Refusal(404, "not_found", "unknown_ref", "Nothing is kept behind that reference.")
_NUMBER = re.compile("[0-9]{1,18}")


class BadQuery(CommandRejected):
    """A query or header that does not fit."""

    def __init__(self, message: str):
        super().__init__("invalid_request", message, category="invalid_request")


class Endpoints:
    """What answers at each path, for one service."""

    def __init__(self, service: CoreService):
        self._service = service

    async def command(self, request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return refused(NO_JSON)
        _query(request)
        name, body = request.path_params["name"], strict.read(await request.body())
        return answered(await self._service.handle(name, body))

    async def snapshot(self, request: Request) -> Response:
        session, model = request.path_params["session_id"], request.path_params["model"]
        if model not in contract.protocol().snapshots:
            return refused(NO_MODEL)
        thread = _query(request, *(["thread_id"] if model in PER_THREAD else [])).get("thread_id")
        if thread is None and model in THREAD_MODELS:
            raise BadQuery("Name the thread in thread_id.")
        return JSONResponse(await self._service.snapshot(model, session, thread))

    async def events(self, request: Request) -> Any:
        asked = _query(request, "after", "channel_id", "follow")
        cursor = _number(request.headers.get("last-event-id") or asked.get("after"))
        if request.method == "HEAD":
            return Response(headers=HEADERS)
        session, channel, follow = request.path_params["session_id"], asked.get("channel_id"), _follow(asked)
        return await self._service.watch(session, cursor, channel, follow=follow)

    async def content(self, request: Request) -> Response:
        reference = _query(request, "ref").get("ref")
        if reference is None:
            raise BadQuery("Name the reference in ref.")
        found = await self._service.content(reference)
        return refused(NO_CONTENT) if found is None else JSONResponse({"ref": reference, "content": found})


def routes(service: CoreService) -> list[Route]:
    """Every route of the protocol, on one service."""
    at = Endpoints(service)
    return [
        Route("/commands/{name}", at.command, methods=["POST"]),
        Route("/sessions/{session_id:path}/events", at.events, methods=["GET"]),
        Route("/sessions/{session_id:path}/snapshots/{model}", at.snapshot, methods=["GET"]),
        Route("/content", at.content, methods=["GET"]),
    ]


def _query(request: Request, *names: str) -> dict[str, str]:
    """The parameters of a query, each known, given once, and of the length of an id or a reference."""
    given = request.query_params.multi_items()
    found = dict(given)
    if len(found) != len(given) or found.keys() - set(names):
        raise BadQuery(f"The query takes {', '.join(names) or 'nothing'}, each once.")
    limits = {name: 2048 if name == "ref" else 512 for name in found}
    if not all(1 <= len(value) <= limits[name] for name, value in found.items()):
        raise BadQuery("A parameter is empty or too long.")
    return found


def _number(text: str | None) -> int | None:
    if text is None:
        return None
    if not _NUMBER.fullmatch(text):
        raise BadQuery("A cursor is a sequence.")
    return int(text)


def _follow(asked: dict[str, str]) -> bool:
    if asked.get("follow", "true") not in {"true", "false"}:
        raise BadQuery("follow is true or false.")
    return asked.get("follow") != "false"
