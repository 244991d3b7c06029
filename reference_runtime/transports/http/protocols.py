"""Which protocols can be served, and what each gives to the server.

A protocol is a module with `service(options)`, `routes(service)` and `openapi(service)`; the server knows nothing else
of it. The modules are loaded when they are asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from starlette.routing import BaseRoute

from reference_runtime.transports.http.stream import Pace
from reference_runtime.work.real.bench import Bench

MODULES = {
    "agent-runtime/0.3": "reference_runtime.transports.http.agent_runtime",
    "runagents/1": "reference_runtime.lifecycles.runagents.http",
}


@dataclass(frozen=True, slots=True)
class Options:
    """What whoever starts a server says about it."""

    store: Path | None = None
    """SQLite file; in memory when left out."""
    capture: Path | None = None
    scripts: Path | None = None
    bench: Bench | None = None
    """Where real tools work; without it none do."""
    pace: Pace = field(default_factory=Pace)


class Service(Protocol):
    """Whatever stands behind the routes of a protocol."""

    async def start(self) -> None:
        """Opens what it needs, before the first request."""

    def end_streams(self) -> None:
        """Ends answers that would otherwise go on; the server stops."""

    async def stop(self) -> None:
        """Finishes what was asked for and lets go of everything, after the last request."""


class Served(Protocol):
    """A module that serves a protocol."""

    def service(self, options: Options) -> Service: ...

    def routes(self, service: Any) -> Sequence[BaseRoute]: ...

    def openapi(self, service: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Paths and components; the service may be None."""


def load(name: str) -> Served:
    """The module of a protocol."""
    if name not in MODULES:
        raise ValueError(f"{name} is not served; known: {', '.join(sorted(MODULES))}")
    return importlib.import_module(MODULES[name])  # type: ignore[return-value]
