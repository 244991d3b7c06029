"""Real servers of RunAgents on free ports of this machine: one in a thread, to look into, and one to kill."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Any

import httpx

from reference_runtime.booting import resumed
from reference_runtime.lifecycles.runagents import http, stage
from reference_runtime.lifecycles.runagents.forward import Backoff
from reference_runtime.lifecycles.runagents.history import CONTRACT
from reference_runtime.lifecycles.runagents.service import RunAgents
from reference_runtime.lifecycles.runagents.serving import PlatformService
from reference_runtime.lifecycles.runagents.settings import Settings
from reference_runtime.log.sqlite import SqliteStore
from reference_runtime.stamping import SystemClock
from reference_runtime.transports.http.guard import Limits
from reference_runtime.transports.http.server import Server, address, application, bind
from reference_runtime.transports.http.stream import Pace
from tests.runtime.http import serving
from tests.runtime.http.serving import TOKEN


def platform(folder: Path, **settings: Any) -> RunAgents:
    """A platform on a file in a folder, with its capture beside it."""
    store = SqliteStore(folder / "store.db")
    chosen = Settings(**{"policy": stage.POLICY, "agents": stage.AGENTS, **settings})
    return RunAgents(store, chosen, SystemClock(), resumed(folder / "capture.ndjson", store, CONTRACT))


class Running(serving.Running):
    """A server in a thread of this process, as a context."""

    def __init__(self, folder: Path, **settings: Any):
        self.folder, pace = folder, Pace(grace_seconds=2)
        backoff = Backoff(first_seconds=0.001, limit_seconds=0.01)
        self.service = PlatformService(lambda: platform(folder, **settings), pace, backoff)
        self._socket = bind("127.0.0.1", 0)
        self.address, self._ready = address(self._socket), threading.Event()
        app = application(http, self.service, Limits(TOKEN))
        self._server = Server(app, self.service, self._ready.set, pace.grace_seconds)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})

    def position(self) -> int:
        return self.at_desk(lambda: self.service.platform.book.store.position())

    def capture(self) -> str:
        return (self.folder / "capture.ndjson").read_text()


class Child(serving.Child):
    """A server in a process of its own."""

    def __init__(self, folder: Path):
        super().__init__(folder, "--protocol", "runagents/1")

    def end(self, how: int = signal.SIGTERM) -> int:
        code = super().end(how)
        self.process.stdout.close()
        return code


def until(client: httpx.Client, run_id: str, *statuses: str) -> dict[str, Any]:
    """The run once it stands where the worker leads it; every look is a request of its own."""
    for _ in range(2000):
        run = client.get(f"/runs/{run_id}").json()
        if run["status"] in statuses:
            return run
    raise AssertionError(f"the run is {run['status']}")
