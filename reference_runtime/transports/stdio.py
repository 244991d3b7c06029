"""The runtime on standard input and output, one JSON-RPC message per line."""

from __future__ import annotations

from typing import Any, TextIO

from reference_runtime.errors import StoreError
from reference_runtime.service import Runtime
from reference_runtime.transports.jsonrpc import Endpoint, notification
from reference_runtime.work.engine import Worker


def serve(runtime: Runtime, source: TextIO, sink: TextIO, *, events: bool = True) -> None:
    """Answers until the input ends; scripted work goes on after every message."""
    worker = Worker(runtime)

    def write(line: str) -> None:
        sink.write(line + "\n")
        sink.flush()

    def snapshot(params: dict[str, Any]) -> Any:
        return runtime.snapshot(params["model"], params["session_id"], params.get("thread_id"))

    if events:
        runtime.subscribers.append(lambda event: write(notification(event)))
    endpoint = Endpoint(
        runtime.handle, {"runtime/snapshot": snapshot, "runtime/content": lambda p: runtime.content(p["ref"])}
    )
    for line in source:
        if line.strip() and (reply := endpoint.answer(line)) is not None:
            write(reply)
        try:
            worker.run()
        except StoreError as error:
            write(notification({"type": "x-reference.work_stopped", "reason": str(error)}))
