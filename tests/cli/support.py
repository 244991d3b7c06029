"""Captures and calls that the tests of the command line share."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from validator.cli.entry import run

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [sys.executable, "-c", "from validator.cli import main; main()"]


class Done(NamedTuple):
    """How a call ended and what it said."""

    returncode: int
    stdout: str
    stderr: str


def event(number, kind, payload=None, **ids):
    base = {"type": kind, "event_id": f"e{number}", "timestamp": f"2026-05-08T09:00:{number:02}Z", "sequence": number}
    return {**base, "session_id": "s1", **ids, **({"payload": payload} if payload is not None else {})}


CREATED = event(1, "task.created", {"objective": "Fix it."}, task_id="t1")
STARTED = event(2, "task.started", task_id="t1")
DONE = event(3, "task.completed", task_id="t1")
GOOD = (CREATED, STARTED, DONE)
BAD = (CREATED, event(2, "task.completed", task_id="t1"))
"""STA001: a draft is completed."""


def lines(documents) -> bytes:
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


def capture(folder: Path, name: str, documents) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lines(documents))
    return path


def environment(**more: str) -> dict[str, str]:
    """The caller's environment without what changes our output."""
    gone = {"GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "NO_COLOR", "FORCE_COLOR", "TERM"}
    base = {key: value for key, value in os.environ.items() if key not in gone}
    return {**base, "PYTHONPATH": str(ROOT), "TERM": "xterm", **more}


def process(*words, cwd: Path, stdin: bytes = b"", **more: str) -> Done:
    """The program in a process of its own, for what only a process shows."""
    done = subprocess.run(
        [*PROGRAM, *map(str, words)], cwd=cwd, env=environment(**more), input=stdin, capture_output=True
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def call(*words, cwd: Path, stdin: bytes = b"", **more: str) -> Done:
    """The program as a person calls it: its own arguments, folder, environment and streams."""
    streams = [io.TextIOWrapper(io.BytesIO(data), encoding="utf-8") for data in (stdin, b"", b"")]
    before, code = os.getcwd(), None
    names = ("stdin", "stdout", "stderr")
    with (
        mock.patch.dict(os.environ, environment(**more), clear=True),
        mock.patch.multiple(sys, argv=["runtime-validate", *map(str, words)], **dict(zip(names, streams, strict=True))),
    ):
        os.chdir(cwd)
        try:
            run()
        except SystemExit as left:
            code = left.code or 0
        finally:
            os.chdir(before)
    told = []
    for stream in streams[1:]:
        stream.flush()
        told.append(stream.buffer.getvalue().decode())
    return Done(code, *told)
