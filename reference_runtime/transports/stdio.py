"""The runtime on standard input and output, one JSON-RPC message per line."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, TextIO

from reference_runtime.errors import StoreError
from reference_runtime.service import Runtime
from reference_runtime.transports.jsonrpc import Endpoint, notification
from reference_runtime.work.engine import Worker
from reference_runtime.work.real.bench import Bench

_PATIENCE = 0.05
"""Seconds that a quiet process is waited for before the next message is looked for."""


def serve(runtime: Runtime, source: TextIO, sink: TextIO, *, bench: Bench | None = None, events: bool = True) -> None:
    """Answers until the input ends; work goes on after every message, and real work also between messages."""
    worker = Worker(runtime, bench)

    def write(line: str) -> None:
        sink.write(line + "\n")
        sink.flush()

    if events:
        runtime.subscribers.append(lambda event: write(notification(event)))
    endpoint, lines, going = _endpoint(runtime), _lines(source), False
    while (line := _next(lines, wait=not going)) is not None:
        if line.strip() and (reply := endpoint.answer(line)) is not None:
            write(reply)
        going = _work(worker, write)
    while going and _work(worker, write):
        pass


def _endpoint(runtime: Runtime) -> Endpoint:
    def snapshot(params: dict[str, Any]) -> Any:
        return runtime.snapshot(params["model"], params["session_id"], params.get("thread_id"))

    extra = {"runtime/snapshot": snapshot, "runtime/content": lambda params: runtime.content(params["ref"])}
    return Endpoint(runtime.handle, extra)


def _work(worker: Worker, write: Callable[[str], None]) -> bool:
    """Works on, to the end where nothing real is done; true when there is more to do."""
    try:
        if worker.bench is None:
            worker.run()
            return False
        return worker.step(_PATIENCE) or bool(worker.bench.live)
    except StoreError as error:
        write(notification({"type": "x-reference.work_stopped", "reason": str(error)}))
        return False


def _lines(source: TextIO) -> queue.SimpleQueue[str | None]:
    """Messages as they come, and None when there are no more."""
    found: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:
        for line in source:
            found.put(line)
        found.put(None)

    threading.Thread(target=read, daemon=True).start()
    return found


def _next(lines: queue.SimpleQueue[str | None], wait: bool) -> str | None:
    """The next message; an empty one when none is there and nobody wants to wait."""
    try:
        return lines.get(block=wait)
    except queue.Empty:
        return ""
