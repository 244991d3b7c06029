"""Starts a runtime as a server does: real time, a store that lasts, and a capture that goes on where it stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from reference_runtime.capture import Capture, LineCapture, NoCapture
from reference_runtime.contract import CORE, Contract
from reference_runtime.log.base import Store
from reference_runtime.log.memory import MemoryStore
from reference_runtime.log.sqlite import SqliteStore
from reference_runtime.recovery import recover
from reference_runtime.scripts.player import STORIES, load
from reference_runtime.service import Runtime
from reference_runtime.settings import Settings
from reference_runtime.stamping import SystemClock
from reference_runtime.work.real.bench import Bench


def boot(store: Path | None, scripts: Path | None, capture: Path | None, bench: Bench | None = None) -> Runtime:
    """A runtime on a file, or in memory; one that was there before says first what it left behind."""
    known = load(STORIES.parent / "scripts.yaml")
    if scripts:
        known |= yaml.safe_load(scripts.read_text(encoding="utf-8"))
    opened = SqliteStore(store) if store else MemoryStore()
    runtime = Runtime(opened, Settings(scripts=known), SystemClock(), resumed(capture, opened))
    if bench:
        bench.attach(runtime)
    if opened.position():
        recover(runtime)
        if bench:
            bench.recover(runtime)
    return runtime


def resumed(path: Path | None, store: Store, contract: Contract = CORE) -> Capture:
    """A capture to append to; what was kept and not yet written down when a process died is written down first."""
    if path is None:
        return NoCapture()
    told = _mended(path)
    capture = LineCapture(path.open("a", encoding="utf-8"), contract, completeness="prefix", header=told is None)
    if told is not None:
        for line in store.read():
            if _mark(line) not in told:
                capture.event(line)
    return capture


def _mark(line: dict[str, Any]) -> str:
    """What a line of a log is known by: an event by its id, a record by everything it says."""
    return line["event_id"] if "record" not in line else json.dumps(line, sort_keys=True)


def _mended(path: Path) -> set[str] | None:
    """The lines that a capture holds, its last one cut off where it is half a line; None for a new one."""
    if not path.exists() or not path.stat().st_size:
        return None
    body = path.read_bytes()
    whole = body[: body.rfind(b"\n") + 1]
    if whole != body:
        path.write_bytes(whole)
    lines = (json.loads(line) for line in whole.splitlines())
    return {_mark(line) for line in lines}
