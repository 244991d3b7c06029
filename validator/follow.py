"""Judges while a stream grows: the tail of a file, or what a command prints. The verdict is that of the bytes, as ever.

Sources yield bytes and, between them, turns: things that happened to the source and not in the stream. Waiting is
handed in, so that nothing here knows a clock.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from validator.engine import Validator
from validator.errors import UsageError
from validator.records import dataclass
from validator.report import Report
from validator.rules import Finding

CHUNK = 1 << 16
_GRACE = 2.0


@dataclass(frozen=True, slots=True)
class Turn:
    """Something happened to the source."""

    text: str
    breaks: bool = False
    """What comes next does not continue the line that came before."""


Source = Iterator[bytes | Turn]
Wait = Callable[[float], object]


def tail(path: Path, wait: Wait, poll: float, idle: float | None) -> Source:
    """The bytes of a file as it grows, is rotated or is truncated; ends when nothing came for `idle` seconds."""
    file = _open(path)
    waited = 0.0
    try:
        while True:
            data = file.read(CHUNK)
            if data:
                waited = 0.0
                yield data
                continue
            turn = _moved(path, file)
            if turn == "rotated":
                rest = file.read()
                if rest:
                    yield rest
                file.close()
                file = _open(path)
                yield Turn("the file was rotated; the new one is read from its beginning", breaks=True)
            elif turn == "truncated":
                file.seek(0)
                yield Turn("the file was truncated; it is read from its beginning again", breaks=True)
            elif idle is not None and waited >= idle:
                yield Turn(f"nothing came for {idle:g} seconds")
                return
            else:
                wait(poll)
                waited += poll
    finally:
        file.close()


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb", buffering=0)
    except OSError as error:
        raise UsageError(f"{path.name} cannot be read: {error.strerror}") from error


def _moved(path: Path, file: BinaryIO) -> str | None:
    """Whether the name means another file by now, or the file is shorter than what was read of it."""
    here = os.fstat(file.fileno())
    try:
        there = path.stat()
    except FileNotFoundError:
        return None
    if (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino):
        return "rotated"
    return "truncated" if here.st_size < file.tell() else None


def pipe(handle: int, poll: float, idle: float | None) -> Source:
    """The bytes of an open pipe until its end, or until nothing came for `idle` seconds."""
    waited = 0.0
    while True:
        ready, _, _ = select.select([handle], [], [], poll)
        if ready:
            data = os.read(handle, CHUNK)
            if not data:
                return
            waited = 0.0
            yield data
            continue
        waited += poll
        if idle is not None and waited >= idle:
            yield Turn(f"nothing came for {idle:g} seconds")
            return


def command(words: list[str], poll: float, idle: float | None) -> Source:
    """What a command prints; how it ended is told. One that hangs is stopped."""
    try:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise UsageError(f"{Path(words[0]).name} cannot be started: {error.strerror}") from error
    try:
        yield from pipe(process.stdout.fileno(), poll, idle)
        process.stdout.close()
        yield Turn(_ended(process))
    finally:
        _stop(process)


def _ended(process: subprocess.Popen[bytes]) -> str:
    try:
        code = process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        return "the command did not end and was stopped"
    if code < 0:
        return f"the command was ended by {signal.Signals(-code).name}"
    return f"the command exited with {code}"


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@dataclass(slots=True)
class Followed:
    """How it went."""

    report: Report
    partial: bool


def follow(
    source: Source, validator: Validator, tell: Callable[[Finding], None], mention: Callable[[str], None]
) -> Followed:
    """Feeds a source to the judge and tells every finding as soon as its line was read."""
    told, whole, partial = 0, True, False
    try:
        for piece in source:
            if isinstance(piece, Turn):
                mention(piece.text)
                if piece.breaks and not whole:
                    validator.feed(b"\n")
                    whole = True
            else:
                validator.feed(piece)
                whole = piece.endswith(b"\n")
            told = _tell(validator, told, tell)
    except KeyboardInterrupt:
        partial = True
    report = validator.close()
    _tell(validator, told, tell)
    return Followed(report, partial)


def _tell(validator: Validator, told: int, tell: Callable[[Finding], None]) -> int:
    findings = validator.findings
    for found in findings[told:]:
        tell(found)
    return len(findings)
