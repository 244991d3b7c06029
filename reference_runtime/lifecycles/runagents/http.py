"""Serves `runagents/1`: the routes and their description, both from one table."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reference_runtime.errors import CommandRejected, IllegalMove
from reference_runtime.lifecycles.runagents import bodies
from reference_runtime.lifecycles.runagents.history import CONTRACT
from reference_runtime.lifecycles.runagents.operations import OPERATIONS, Asked, Operation, Reply
from reference_runtime.lifecycles.runagents.serving import PlatformService, boot
from reference_runtime.transports import strict
from reference_runtime.transports.http.answers import NO_JSON, refused
from reference_runtime.transports.http.components import Components
from reference_runtime.transports.http.guard import Refusal
from reference_runtime.transports.http.openapi import ALWAYS, refusals, shared
from reference_runtime.transports.http.protocols import Options

_KEY = re.compile(r"[!-~]{1,256}")
_STATUS = {"invalid_request": 400, "not_found": 404}


def service(options: Options) -> PlatformService:
    return PlatformService(lambda: boot(options), options.pace)


def routes(service: PlatformService) -> list[Route]:
    """Every route of the protocol, on one service."""
    return [Route(one.path, _endpoint(service, one), methods=[one.method]) for one in OPERATIONS]


def _endpoint(service: PlatformService, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        if operation.body and not _is_json(request):
            return refused(NO_JSON)
        try:
            asked = _asked(operation, request, await request.body())
            return _written(await service.do(lambda platform: operation.act(platform, asked)))
        except CommandRejected as refusal:
            return refused(Refusal(_STATUS.get(refusal.category, 409), refusal.category, refusal.code, str(refusal)))
        except IllegalMove as refusal:
            return refused(Refusal(409, "wrong_state", f"illegal_{refusal.machine}_move", str(refusal)))

    return endpoint


def _is_json(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


def _asked(operation: Operation, request: Request, body: bytes) -> Asked:
    """What a request asks, held against the shape that the operation takes."""
    given = request.query_params.multi_items()
    query, key = dict(given), request.headers.get("idempotency-key")
    if len(query) != len(given) or (query and not operation.query):
        raise CommandRejected("invalid_request", "The query takes each parameter once.", category="invalid_request")
    if operation.query:
        bodies.check("query", operation.query, query)
    if key is not None and not _KEY.fullmatch(key):
        raise CommandRejected("invalid_request", "A key is 1 to 256 plain characters.", category="invalid_request")
    document = None
    if operation.body:
        document = strict.read(body)
        bodies.check("body", operation.body, document)
    return Asked(dict(request.path_params), query, document, key)


def _written(reply: Reply) -> Response:
    if reply.media == "application/json":
        return JSONResponse(reply.document, reply.status)
    return Response(reply.document, reply.status, media_type=reply.media)


class _Collected(Components):
    """Components that also hold what the operations themselves say."""

    def inline(self, schema: dict[str, Any]) -> dict[str, Any]:
        return self._moved(schema, "")


def openapi(service: PlatformService | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Paths and components, made from the table of operations and the contract's schemas."""
    made, paths = _Collected(CONTRACT.protocol.store), dict[str, Any]()
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(made, operation)
    return paths, shared(made)


def _described(made: _Collected, operation: Operation) -> dict[str, Any]:
    conflicts = ("409",) if operation.body else ()
    unsupported = ("415",) if operation.body else ()
    answers = {str(status): _answer(made, operation, schema) for status, schema in operation.answers.items()}
    said: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [*_steps(operation), *_parameters(made, operation)],
        "responses": {**refusals(*ALWAYS, "404", *conflicts, *unsupported, "503"), **answers},
    }
    if operation.body:
        schema = made.inline(bodies.BODIES[operation.body])
        said["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return said


def _answer(made: _Collected, operation: Operation, schema: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {"application/json": {"schema": made.inline(schema)}}
    content |= {media: {"schema": {"type": "string"}} for media in operation.media if media not in content}
    return {"description": schema.get("description", operation.summary), "content": content}


def _steps(operation: Operation) -> list[dict[str, Any]]:
    schema = {"type": "string", "minLength": 1, "maxLength": 512, "pattern": r"^[^\u0000-\u001f\u007f\\/]+$"}
    names = re.findall(r"{(\w+)}", operation.path)
    return [{"name": name, "in": "path", "required": True, "schema": schema} for name in names]


def _parameters(made: _Collected, operation: Operation) -> list[dict[str, Any]]:
    fields = bodies.QUERIES[operation.query]["properties"] if operation.query else {}
    asked = [{"name": name, "in": "query", "schema": made.inline(schema)} for name, schema in fields.items()]
    if operation.method == "GET":
        return asked
    key = {"type": "string", "pattern": "^[!-~]{1,256}$"}
    return [*asked, {"name": "Idempotency-Key", "in": "header", "schema": key}]
