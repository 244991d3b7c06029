"""Judges many captures: one after the other or in several processes, with the same result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import BinaryIO

from validator.capture.guess import guess
from validator.capture.sources import open_capture
from validator.engine import Options, Validator
from validator.errors import CaptureError
from validator.records import dataclass, field
from validator.report import Report
from validator.run import Note
from validator.sharing import Part, Share

CHUNK = 1 << 16
LARGE = 1 << 20
"""Bytes of a single capture from which several processes share its rules."""
_HEAD = 4096
"""Bytes from which the kind of a file that is no capture is guessed."""
Progress = Callable[[int], None]
Result = tuple[Report, str | None, int]
"""A report, advice about a file in which nothing could be read, and the size of the capture."""


@dataclass(slots=True)
class Judged:
    """What is known so far; whoever is interrupted still has it."""

    reports: list[Report] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    partial: bool = False


def judge(paths: list[str], options: Options, jobs: int = 1, progress: Progress | None = None) -> Judged:
    """The reports of all captures in the order they were given; an interruption leaves those that exist."""
    found = Judged()
    results = _in_processes(paths, options, jobs) if jobs > 1 and len(paths) > 1 else _one_by_one(paths, options, found)
    if jobs > 1 and len(paths) == 1 and _is_large(paths[0]):
        results = _in_shares(paths[0], options, jobs)
    try:
        for path, (report, advice, size) in zip(paths, results(progress), strict=True):
            found.reports.append(report)
            found.notes += [Note("looks-like", advice, path, fails=False)] if advice else []
            if progress and jobs > 1 and len(paths) > 1:
                progress(size)
    except KeyboardInterrupt:
        found.partial = True
    return found


def _one_by_one(paths: list[str], options: Options, found: Judged):
    def results(progress: Progress | None) -> Iterator[Result]:
        for path in paths:
            validator = Validator(path, options)
            try:
                head, size = _feed(path, validator, progress)
            except KeyboardInterrupt:
                found.reports.append(validator.close())
                raise
            report = validator.close()
            yield report, _advice(validator, report, head), size

    return results


def _in_processes(paths: list[str], options: Options, jobs: int):
    def results(_progress: Progress | None) -> Iterator[Result]:
        from concurrent.futures import ProcessPoolExecutor  # one process needs none of it

        with ProcessPoolExecutor(min(jobs, len(paths)), initializer=_leave_interrupts_to_the_parent) as pool:
            waiting = [pool.submit(_judge_one, path, options) for path in paths]
            try:
                for future in waiting:
                    yield future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    return results


def _in_shares(path: str, options: Options, jobs: int):
    """One capture, its rules shared out; should a rule fail in itself, all is judged again in one process."""

    def results(progress: Progress | None) -> Iterator[Result]:
        from concurrent.futures import ProcessPoolExecutor

        with ProcessPoolExecutor(jobs - 1, initializer=_leave_interrupts_to_the_parent) as pool:
            waiting = [pool.submit(_judge_share, path, options, (index, jobs)) for index in range(1, jobs)]
            validator = Validator(path, options, (0, jobs))
            head, size = _feed(path, validator, progress)
            parts = [future.result() for future in waiting]
            report = validator.close(parts)
            advice = _advice(validator, report, head)
        if report.crashes or any(part.crashes for part in parts):
            report, advice, size = _judge_one(path, options)
        yield report, advice, size

    return results


def _judge_share(path: str, options: Options, share: Share) -> Part:
    validator = Validator(path, options, share)
    _feed(path, validator, None)
    return validator.part()


def _is_large(path: str) -> bool:
    """True for a file that is worth another process; what comes through a pipe can be read only once."""
    return path != "-" and os.path.isfile(path) and os.path.getsize(path) >= LARGE


def _leave_interrupts_to_the_parent() -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _judge_one(path: str, options: Options) -> Result:
    validator = Validator(path, options)
    head, size = _feed(path, validator, None)
    report = validator.close()
    return report, _advice(validator, report, head), size


def _feed(path: str, validator: Validator, progress: Progress | None) -> tuple[bytes, int]:
    """Reads a capture to its end; says how it began and how long it was."""
    head, size = b"", 0
    with open_capture(path) as stream:
        try:
            for data in _chunks(stream):
                head += data[: _HEAD - len(head)]
                size += len(data)
                validator.feed(data)
                if progress:
                    progress(len(data))
        except CaptureError as error:
            validator.damaged(error.reason)
    return head, size


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    # read1 hands over what a pipe holds now; read would wait until the chunk is full.
    read = getattr(stream, "read1", stream.read)
    while data := read(CHUNK):
        yield data


def _advice(validator: Validator, report: Report, head: bytes) -> str | None:
    """Why nothing could be read, and what to do about it, as far as that can be told."""
    if report.verdict != "unreadable" and (report.protocol is not None or not report.lines):
        return None
    looks_like = guess(head)
    return validator.hindrance or (f"this looks like {looks_like}" if looks_like else None)
