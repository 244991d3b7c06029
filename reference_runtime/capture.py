"""A capture: commands, answers, events, snapshots and restarts as one file, in the order in which they became known."""

from __future__ import annotations

import json
from typing import Any, Protocol, TextIO

from reference_runtime.contract import CORE, Contract


class Capture(Protocol):
    """Where the runtime writes down what it did."""

    def event(self, event: dict[str, Any]) -> None: ...

    def command(self, command: str, command_id: str, request: Any, at: str) -> None: ...

    def result(self, command: str, command_id: str, result: dict[str, Any], at: str) -> None: ...

    def snapshot(self, model: str, document: dict[str, Any], at: str, place: tuple[str, int] | None = None) -> None: ...

    def restart(self, reason: str, runtime_id: str, at: str) -> None: ...

    def reconnect(self, identity: str, acknowledged: int, at: str, name: str = "channel_id") -> None: ...

    def close(self) -> None: ...


class NoCapture(Capture):
    """Writes nothing down: every call does what the protocol's own bodies do."""


class LineCapture:
    """Writes one JSON object per line to a text file, a header first where the file is new."""

    def __init__(
        self,
        file: TextIO,
        contract: Contract = CORE,
        *,
        completeness: str = "complete",
        header: bool = True,
        **claims: Any,
    ):
        """Claims are what else a header may say: profile, capabilities, canaries."""
        self._file = file
        if header:
            spoken = {"protocol": contract.name, "version": contract.version, **claims}
            self._write({"record": "header", "capture": "1", **spoken,
                         "completeness": completeness, "producer": {"name": "reference-runtime"}})  # fmt: skip

    def event(self, event: dict[str, Any]) -> None:
        self._write(event)

    def command(self, command: str, command_id: str, request: Any, at: str) -> None:
        if isinstance(request, dict):
            line = {"record": "command", "command": command, "command_id": command_id, "timestamp": at}
            self._write({**line, "request": request})

    def result(self, command: str, command_id: str, result: dict[str, Any], at: str) -> None:
        line = {"record": "result", "command": command, "command_id": command_id, "timestamp": at}
        self._write({**line, "result": result})

    def snapshot(self, model: str, document: dict[str, Any], at: str, place: tuple[str, int] | None = None) -> None:
        """A read model; its place is a stream and the last sequence it reflects, which models of the core tell."""
        line = {"record": "snapshot", "model": model, "timestamp": at}
        if place is None and "as_of_sequence" in document:
            place = document["session_id"], document["as_of_sequence"]
        if place is not None:
            line |= {"stream": place[0], "sequence": place[1]}
        self._write({**line, "snapshot": document})

    def restart(self, reason: str, runtime_id: str, at: str) -> None:
        self._write({"record": "restart", "reason": reason, "runtime_id": runtime_id, "timestamp": at})

    def reconnect(self, identity: str, acknowledged: int, at: str, name: str = "channel_id") -> None:
        line = {"record": "reconnect", name: identity, "timestamp": at}
        self._write({**line, "last_acknowledged_sequence": acknowledged})

    def close(self) -> None:
        self._file.close()

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n")
        self._file.flush()
