"""Real servers on free ports of this machine: one in a thread, to look into, and one in a process, to kill."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from reference_runtime.booting import resumed
from reference_runtime.log.memory import MemoryStore
from reference_runtime.log.sqlite import SqliteStore
from reference_runtime.service import Runtime
from reference_runtime.settings import Settings
from reference_runtime.stamping import SystemClock
from reference_runtime.transports.http import agent_runtime
from reference_runtime.transports.http.core import CoreService
from reference_runtime.transports.http.feed import Subscriber
from reference_runtime.transports.http.guard import Limits
from reference_runtime.transports.http.server import Server, address, application, bind
from reference_runtime.transports.http.stream import Pace
from tests.runtime.machine import SCRIPTS

TOKEN = "the-token-of-the-tests"
PARTS = [{"kind": "text", "text": "hi"}]


def runtime(folder: Path | None, **settings: Any) -> Runtime:
    """A runtime on a file in a folder, with its capture beside it; in memory and without one where there is none."""
    store = SqliteStore(folder / "store.db") if folder else MemoryStore()
    chosen = Settings(scripts=SCRIPTS, **settings)
    return Runtime(store, chosen, SystemClock(), resumed(folder / "capture.ndjson" if folder else None, store))


class Running:
    """A server in a thread of this process, as a context."""

    def __init__(self, open_runtime: Callable[[], Runtime], pace: Pace | None = None, **limits: Any):
        self.service = CoreService(open_runtime, pace or Pace(grace_seconds=2))
        self._socket = bind("127.0.0.1", 0)
        self.address, self._ready = address(self._socket), threading.Event()
        app = application(agent_runtime, self.service, Limits(TOKEN, **limits))
        self._server = Server(app, self.service, self._listens, self.service.pace.grace_seconds)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})

    def __enter__(self) -> Running:
        self._thread.start()
        assert self._ready.wait(20)
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _listens(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready.set()

    def settle(self) -> None:
        """Returns when all scripted work is done."""
        asyncio.run_coroutine_threadsafe(self.service.labour.idle(), self._loop).result(20)

    def remaining(self, count: int) -> list[Subscriber]:
        """Those who subscribe, when it was noticed that all but so many have left."""

        async def noticed() -> None:
            while len(self.service.feed.subscribers()) > count:
                await asyncio.sleep(0.01)

        waiting = asyncio.wait_for(noticed(), 20)
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(waiting, self._loop).result(30)
        return self.service.feed.subscribers()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(30)
        assert not self._thread.is_alive()

    def client(self, **more: Any) -> httpx.Client:
        return httpx.Client(base_url=self.address, headers={"authorization": f"Bearer {TOKEN}"}, timeout=20, **more)

    def shrink(self) -> None:
        """Leaves connections that are made from now on little room for what nobody reads."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)

    @contextlib.contextmanager
    def deaf(self, path: str) -> Iterator[socket.socket]:
        """A peer that asks for a stream and never reads it."""
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(self._socket.getsockname())
            head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
            connection.sendall(head.encode())
            yield connection

    def log(self, session: str = "s") -> list[dict[str, Any]]:
        """The log of a session as the store holds it; asked for at the desk, where the store lives."""
        return self.at_desk(lambda: list(self.service.runtime.store.read(session=session)))

    def at_desk(self, act: Callable[[], Any]) -> Any:
        return self.service._desk._thread.submit(act).result(20)

    def position(self) -> int:
        return self.at_desk(self.service.runtime.store.position)


class Child:
    """A server in a process of its own, as a context."""

    def __init__(self, folder: Path, *arguments: str):
        where = ["--store", str(folder / "store.db"), "--capture", str(folder / "capture.ndjson")]
        command = [sys.executable, "-m", "reference_runtime", "serve", *where, *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.said = json.loads(self.process.stdout.readline())

    def client(self, token: str | None = None) -> httpx.Client:
        headers = {"authorization": f"Bearer {token or self.said['token']}"}
        return httpx.Client(base_url=self.said["address"], headers=headers, timeout=20)

    def end(self, how: int = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(60)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def submit(client: httpx.Client, turn: str | None = None, **more: Any) -> dict[str, Any]:
    request = {"session_id": "s", "thread_id": "t", "input_parts": PARTS, **({"turn_id": turn} if turn else {}), **more}
    answer = client.post("/commands/submit_turn", json=request)
    assert answer.status_code in {200, 202}, answer.text
    return answer.json()
