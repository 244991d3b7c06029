"""A server: one protocol behind the guard, on a socket of this machine, until it is told to stop.

Stopping goes in this order: no new connections; every stream ends with a message that says so; requests that are under
way get their answers; work that can be finished in time is finished; the store is closed.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, TextIO

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from reference_runtime.transports.http import openapi, protocols
from reference_runtime.transports.http.answers import HANDLERS
from reference_runtime.transports.http.guard import App, Guard, Limits, new_token
from reference_runtime.transports.http.protocols import Options, Served, Service


def application(served: Served, service: Service, limits: Limits) -> App:
    """The routes of a protocol, its description, and the guard before them."""

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        await service.start()
        yield
        await service.stop()

    described = openapi.document(*served.openapi(service))

    async def description(request: Request) -> JSONResponse:
        return JSONResponse(described)

    routes = [*served.routes(service), Route("/openapi.json", description, methods=["GET"])]
    app = Starlette(routes=routes, exception_handlers=HANDLERS, lifespan=life)
    app.router.redirect_slashes = False
    return Guard(app, limits)


class Server(uvicorn.Server):
    """Says when it listens, ends streams before it waits for them, and takes a signal for a plain end."""

    def __init__(self, app: App, service: Service, ready: Callable[[], None], grace_seconds: float):
        quiet = {"log_config": None, "access_log": False, "server_header": False}
        config = uvicorn.Config(app, http="h11", lifespan="on", ws="none", proxy_headers=False, **quiet,
                                timeout_graceful_shutdown=max(1, round(grace_seconds)))  # fmt: skip
        super().__init__(config)
        self._service, self._ready = service, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._service.end_streams()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        with super().capture_signals():
            yield
            self._captured_signals.clear()


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens on an address; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError:
        found.close()
        raise
    return found


def address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def serve(protocol: str, options: Options, host: str, port: int, token: str | None, out: TextIO = sys.stdout) -> None:
    """Serves a protocol until a signal ends it; the first line that is printed says where, and with which token."""
    served = protocols.load(protocol)
    service = served.service(options)
    listening = bind(host, port)
    made = token or new_token()
    said: dict[str, Any] = {"address": address(listening), "protocol": protocol}
    said |= {} if token else {"token": made}
    limits = Limits(made, loopback_only=_is_local(host))

    def ready() -> None:
        print(json.dumps(said), file=out, flush=True)

    app = application(served, service, limits)
    Server(app, service, ready, options.pace.grace_seconds).run(sockets=[listening])


def _is_local(host: str) -> bool:
    return host in {"localhost", "::1"} or host.startswith("127.")
