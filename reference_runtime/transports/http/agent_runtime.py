"""Serves `agent-runtime/0.3`."""

from __future__ import annotations

from typing import Any

from reference_runtime.booting import boot
from reference_runtime.service import Runtime
from reference_runtime.transports.http import openapi as description
from reference_runtime.transports.http.core import CoreService
from reference_runtime.transports.http.protocols import Options
from reference_runtime.transports.http.routes import routes

__all__ = ["openapi", "routes", "service"]


def service(options: Options) -> CoreService:
    def open_runtime() -> Runtime:
        return boot(options.store, options.scripts, options.capture, options.bench)

    return CoreService(open_runtime, options.pace, options.bench)


def openapi(service: CoreService | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    return description.core()
