"""Judges many captures: one after the other or in several processes, with the same result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from validator.capture.sources import open_capture
from validator.engine import Options, Validator
from validator.errors import CaptureError
from validator.records import dataclass, field
from validator.report import Report
from validator.run import Note
from validator.sharing import Part, Share

CHUNK = 1 << 16
LARGE = 1 << 20
"""Bytes of a single capture from which several processes share it."""
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
        results = _divided(paths[0], options, jobs)
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


def _divided(path: str, options: Options, jobs: int):
    """One capture, divided by its sessions where they can be judged apart, and else by the rules."""

    def results(progress: Progress | None) -> Iterator[Result]:
        from validator.apart import is_promising  # one process needs none of it

        forward = _Forward(progress) if progress else None
        yield (is_promising(path) and _apart(path, options, jobs, forward)) or _in_shares(path, options, jobs, forward)

    return results


class _Forward:
    """Progress that does not go back when a capture is read once more."""

    def __init__(self, progress: Progress):
        self._progress, self._told, self._now = progress, 0, 0

    def __call__(self, size: int) -> None:
        self._now += size
        if self._now > self._told:
            self._progress(self._now - self._told)
            self._told = self._now

    def again(self) -> None:
        self._now = 0


def _apart(path: str, options: Options, jobs: int, progress: _Forward | None) -> Result | None:
    """The report of one capture, each process judging sessions of its own; None when they cannot be judged apart."""
    import multiprocessing

    from validator.apart import PROTOCOL, InseparableError, Reader, agree
    from validator.protocol.protocol import load_protocol

    stop = multiprocessing.Event()
    others, ends = [], []
    for index in range(1, jobs):
        end, other = multiprocessing.Pipe()
        arguments = (path, options, index, jobs, stop, end, other)
        others.append(multiprocessing.Process(target=_judge_sessions, args=arguments, daemon=True))
        ends.append(end)
        others[-1].start()
        other.close()
    try:
        reader = Reader(path, options, 0, jobs, stop.is_set)
        head, size = _feed(path, reader, progress)
        seals = [reader.seal(), *(end.recv() for end in ends)]
        if not agree(seals, load_protocol(PROTOCOL)):
            return None
        for end in ends:
            end.send(seals)
        verdicts = [reader.finish(seals), *(end.recv() for end in ends)]
        report = reader.report_of(verdicts)
        return report, _advice(reader, report, head), size
    except (InseparableError, EOFError, ConnectionError):
        return None
    finally:
        stop.set()
        for end in ends:
            end.close()
        for other in others:
            other.join()


def _judge_sessions(path: str, options: Options, index: int, jobs: int, stop: Any, parents: Any, end: Any) -> None:
    """What one of several processes does; it ends without a word when sessions cannot be judged apart."""
    from validator.apart import InseparableError, Reader

    _leave_interrupts_to_the_parent()
    parents.close()  # or nobody would notice that the parent has closed it
    try:
        reader = Reader(path, options, index, jobs, stop.is_set)
        _feed(path, reader, None)
        end.send(reader.seal())
        end.send(reader.finish(end.recv()))
    except (InseparableError, EOFError, OSError):  # what else stops it will stop the parent too, which says so
        stop.set()
    finally:
        end.close()


def _in_shares(path: str, options: Options, jobs: int, progress: _Forward | None) -> Result:
    """One capture, its rules shared out; should a rule fail in itself, all is judged again in one process."""
    from concurrent.futures import ProcessPoolExecutor

    if progress:
        progress.again()
    with ProcessPoolExecutor(jobs - 1, initializer=_leave_interrupts_to_the_parent) as pool:
        waiting = [pool.submit(_judge_share, path, options, (index, jobs)) for index in range(1, jobs)]
        validator = Validator(path, options, (0, jobs))
        head, size = _feed(path, validator, progress)
        parts = [future.result() for future in waiting]
        report = validator.close(parts)
        advice = _advice(validator, report, head)
    if report.crashes or any(part.crashes for part in parts):
        return _judge_one(path, options)
    return report, advice, size


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
    from validator.capture.guess import guess  # most captures are read

    looks_like = guess(head)
    return validator.hindrance or (f"this looks like {looks_like}" if looks_like else None)
