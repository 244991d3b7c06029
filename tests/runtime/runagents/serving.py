"""Real servers of RunAgents on free ports of this machine: one in a thread, to look into, and one to kill."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx

from reference_runtime.booting import resumed
from reference_runtime.lifecycles.runagents import demo, http
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

TOKEN = "the-token-of-the-tests"


def platform(folder: Path, **settings: Any) -> RunAgents:
    """A platform on a file in a folder, with its capture beside it."""
    store = SqliteStore(folder / "store.db")
    chosen = Settings(**{"policy": demo.POLICY, "agents": demo.AGENTS, **settings})
    return RunAgents(store, chosen, SystemClock(), resumed(folder / "capture.ndjson", store, CONTRACT))


class Running:
    """A server in a thread of this process, as a context."""

    def __init__(self, folder: Path, *, limits: dict[str, Any] | None = None, **settings: Any):
        self.folder, pace = folder, Pace(grace_seconds=2)
        backoff = Backoff(first_seconds=0.001, limit_seconds=0.01)
        self.service = PlatformService(lambda: platform(folder, **settings), pace, backoff)
        self._socket = bind("127.0.0.1", 0)
        self.address, self._ready = address(self._socket), threading.Event()
        app = application(http, self.service, Limits(TOKEN, **(limits or {})))
        self._server = Server(app, self.service, self._ready.set, pace.grace_seconds)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})

    def __enter__(self) -> Running:
        self._thread.start()
        assert self._ready.wait(20)
        return self

    def __exit__(self, *error: object) -> None:
        self._server.should_exit = True
        self._thread.join(30)
        assert not self._thread.is_alive()

    def client(self, **more: Any) -> httpx.Client:
        return httpx.Client(base_url=self.address, headers={"authorization": f"Bearer {TOKEN}"}, timeout=20, **more)

    def position(self) -> int:
        """How long the log is; asked for at the desk, where the store lives."""
        return self.service._desk._thread.submit(lambda: self.service.platform.book.store.position()).result(20)

    def capture(self) -> str:
        return (self.folder / "capture.ndjson").read_text()


class Child:
    """A server in a process of its own."""

    def __init__(self, folder: Path, *arguments: str):
        where = ["--store", str(folder / "store.db"), "--capture", str(folder / "capture.ndjson")]
        command = [sys.executable, "-m", "reference_runtime", "serve", "--protocol", "runagents/1", *where, *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.said = json.loads(self.process.stdout.readline())

    def client(self) -> httpx.Client:
        headers = {"authorization": f"Bearer {self.said['token']}"}
        return httpx.Client(base_url=self.said["address"], headers=headers, timeout=20)

    def end(self, how: int = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        code = self.process.wait(30)
        self.process.stdout.close()
        return code


def until(client: httpx.Client, run_id: str, *statuses: str) -> dict[str, Any]:
    """The run once it stands where the worker leads it; every look is a request of its own."""
    for _ in range(2000):
        run = client.get(f"/runs/{run_id}").json()
        if run["status"] in statuses:
            return run
    raise AssertionError(f"the run is {run['status']}")
