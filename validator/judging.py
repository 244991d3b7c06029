"""Judges many captures: one after the other or in several processes, with the same result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO

from validator.capture.sources import open_capture
from validator.engine import Options, Validator
from validator.errors import CaptureError
from validator.processes import AUTO, fitting
from validator.records import dataclass, field
from validator.report import Report
from validator.run import Note
from validator.sharing import Share

CHUNK = 1 << 16
LARGE = 1 << 20
"""Bytes of a single capture from which several processes share it."""
GRACE = 1.0
"""Seconds that other processes have to tell what they know when the check is interrupted."""
_NOTICE = 0.5
"""Seconds after which one who waits looks up: an interrupt that came just before it began to wait does not wake it."""
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


def judge(paths: list[str], options: Options, jobs: int | str = 1, progress: Progress | None = None) -> Judged:
    """The reports of all captures in the order they were given; an interruption leaves those that exist."""
    found = Judged()
    count = fitting(paths) if jobs == AUTO else int(jobs)
    several = count > 1 and len(paths) > 1
    if several:
        results = _in_processes(paths, options, count, found)
    elif count > 1 and len(paths) == 1 and _is_large(paths[0]):
        results = _divided(paths[0], options, count, found, shares=jobs != AUTO)
    else:
        results = _one_by_one(paths, options, found)
    try:
        for path, (report, advice, size) in zip(paths, results(progress), strict=True):
            found.reports.append(report)
            found.notes += [Note("looks-like", advice, path, fails=False)] if advice else []
            if progress and several:
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
                found.reports += _so_far(validator)
                raise
            report = validator.close()
            yield report, _advice(validator, report, head), size

    return results


def _so_far(validator: Validator) -> list[Report]:
    """The report about what was read of a capture, when there is something to report."""
    report = validator.interrupt()
    return [] if report is None else [report]


def _in_processes(paths: list[str], options: Options, jobs: int, found: Judged):
    def results(_progress: Progress | None) -> Iterator[Result]:
        import multiprocessing  # one process needs none of it
        from concurrent.futures import ProcessPoolExecutor, wait

        stop = multiprocessing.Event()
        with ProcessPoolExecutor(min(jobs, len(paths)), initializer=_work_for_a_parent, initargs=(stop,)) as pool:
            waiting: list[Any] = []
            try:
                waiting += (pool.submit(_judge_unless_stopped, path, options) for path in paths)
                for future in waiting:
                    while wait((future,), _NOTICE).not_done:
                        continue
                    yield future.result()
            except BaseException as error:
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                ended, blocked = wait(waiting[len(found.reports) :], GRACE)
                if blocked:  # they wait for bytes that may never come
                    for process in multiprocessing.active_children():
                        process.terminate()
                if isinstance(error, KeyboardInterrupt):
                    found.reports += _told(future for future in waiting if future in ended)
                raise

    return results


def _told(futures: Iterable[Any]) -> Iterator[Report]:
    """The reports of those who were not stopped before they had something to report."""
    for future in futures:
        if not future.cancelled() and not future.exception() and future.result() is not None:
            yield future.result()[0]


def _divided(path: str, options: Options, jobs: int, found: Judged, shares: bool):
    """One capture, divided by its sessions where they can be judged apart, and else by the rules or not at all.

    Shares of the rules end sooner and take more of the processors together, so they are for those who ask for them.
    """

    def results(progress: Progress | None) -> Iterator[Result]:
        from validator.samples import is_promising  # one process needs none of it

        forward = _Forward(progress) if progress else None
        apart = is_promising(path) and _apart(path, options, jobs, forward, found)
        if apart:
            yield apart
            return
        if forward:
            forward.again()
        if shares:
            yield _in_shares(path, options, jobs, forward, found)
        else:
            yield from _one_by_one([path], options, found)(forward)

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


class _Team:
    """Processes that judge one capture beside this one; a pipe leads to each, and they end when they are left."""

    def __init__(self, work: Callable[..., None], path: str, options: Options, jobs: int):
        import multiprocessing

        self._stop, self._ends, self._members = multiprocessing.Event(), [], []
        for index in range(1, jobs):
            end, other = multiprocessing.Pipe()
            arguments = (work, path, options, (index, jobs), self._stop, end, other)
            self._members.append(multiprocessing.Process(target=_join, args=arguments, daemon=True))
            self._ends.append(end)
            self._members[-1].start()
            other.close()

    def has_stopped(self) -> bool:
        return self._stop.is_set()

    def hear(self) -> list[Any]:
        """What each of the others says next."""
        return [end.recv() for end in self._ends]

    def tell(self, what: Any) -> None:
        for end in self._ends:
            end.send(what)

    def leave(self) -> None:
        self._stop.set()
        for end in self._ends:
            end.close()
        for member in self._members:
            member.join()


def _join(
    work: Callable[..., None], path: str, options: Options, share: Share, stop: Any, parents: Any, end: Any
) -> None:
    """What one of several processes does; it ends without a word when its work cannot be done or is not wanted."""
    from validator.apart import InseparableError

    _work_for_a_parent(stop)
    parents.close()  # or nobody would notice that the parent has closed it
    try:
        work(path, options, share, end)
    except (InseparableError, _StoppedError, EOFError, OSError):  # what else stops it will stop the parent too
        stop.set()
    finally:
        end.close()


def _apart(path: str, options: Options, jobs: int, progress: _Forward | None, found: Judged) -> Result | None:
    """The report of one capture, each process judging sessions of its own; None when they cannot be judged apart."""
    from validator.apart import PROTOCOL, InseparableError, Reader, agree
    from validator.protocol.protocol import load_protocol

    team = _Team(_judge_sessions, path, options, jobs)
    try:
        reader = Reader(path, options, 0, jobs, team.has_stopped)
        try:
            head, size = _feed(path, reader, progress)
            seals = [reader.seal(), *team.hear()]
        except KeyboardInterrupt:
            found.reports += _so_far(reader)
            raise
        if not agree(seals, load_protocol(PROTOCOL)):
            return None
        team.tell(seals)
        verdicts = [reader.finish(seals), *team.hear()]
        report = reader.report_of(verdicts)
        return report, _advice(reader, report, head), size
    except (InseparableError, EOFError, ConnectionError):
        return None
    finally:
        team.leave()


def _judge_sessions(path: str, options: Options, share: Share, end: Any) -> None:
    from validator.apart import Reader

    reader = Reader(path, options, *share, _has_stopped)
    _feed(path, reader, None)
    end.send(reader.seal())
    end.send(reader.finish(end.recv()))


def _in_shares(path: str, options: Options, jobs: int, progress: _Forward | None, found: Judged) -> Result:
    """One capture, its rules shared out; should a rule fail in itself, all is judged again in one process."""
    team = _Team(_judge_share, path, options, jobs)
    try:
        validator = Validator(path, options, (0, jobs))
        try:
            head, size = _feed(path, validator, progress)
            parts = team.hear()
        except KeyboardInterrupt:
            found.reports += _so_far(validator)
            raise
        report = validator.close(parts)
        if not report.crashes and not any(part.crashes for part in parts):
            return report, _advice(validator, report, head), size
        return _judge_one(path, options)
    except (EOFError, ConnectionError):
        return _judge_one(path, options)  # somebody has failed, and will say why in one process
    finally:
        team.leave()


def _judge_share(path: str, options: Options, share: Share, end: Any) -> None:
    validator = Validator(path, options, share)
    _feed(path, validator, _go_on)
    end.send(validator.part())


def _is_large(path: str) -> bool:
    """True for a file that is worth another process; what comes through a pipe can be read only once."""
    return path != "-" and os.path.isfile(path) and os.path.getsize(path) >= LARGE


class _StoppedError(Exception):
    """The parent was interrupted."""


_stop: Any = None
"""In a process that works for a parent: set when the parent wants no more."""


def _work_for_a_parent(stop: Any) -> None:
    """Leaves interrupts to the parent, which says when to stop."""
    import signal

    global _stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _stop = stop


def _has_stopped() -> bool:
    return _stop.is_set()


def _go_on(_size: int) -> None:
    if _stop.is_set():
        raise _StoppedError


def _judge_unless_stopped(path: str, options: Options) -> Result | None:
    """The report of a capture as far as it was read when the parent was interrupted; None for one not begun."""
    if _stop.is_set():
        return None
    validator = Validator(path, options)
    try:
        head, size = _feed(path, validator, _go_on)
    except _StoppedError:
        report = validator.interrupt()
        return None if report is None else (report, None, 0)
    report = validator.close()
    return report, _advice(validator, report, head), size


def _judge_one(path: str, options: Options) -> Result:
    validator = Validator(path, options)
    head, size = _feed(path, validator, None)
    report = validator.close()
    return report, _advice(validator, report, head), size


def _feed(path: str, validator: Validator, progress: Progress | None) -> tuple[bytes, int]:
    """Reads a capture to its end; says how it began and how long it was."""
    head, size = b"", 0
    patience = _Patience()
    with open_capture(path) as stream:
        try:
            for data in _chunks(stream):
                if size:
                    patience.begin()  # what is over after one chunk is not worth it
                head += data[: _HEAD - len(head)]
                size += len(data)
                validator.feed(data)
                patience.end()
                if progress:
                    progress(len(data))
        except CaptureError as error:
            validator.damaged(error.reason)
        finally:
            patience.leave()
    return head, size


class _Patience:
    """Lets interrupts wait until a chunk was judged: who is stopped within a line no longer knows where it stands."""

    def __init__(self) -> None:
        self._busy = self._came = self._installed = False

    def begin(self) -> None:
        if not self._installed:
            self._install()
        self._busy = True

    def end(self) -> None:
        self._busy = False
        if self._came:
            raise KeyboardInterrupt

    def leave(self) -> None:
        if self._installed:
            import signal

            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._installed = False

    def _install(self) -> None:
        import signal
        import threading

        # Where interrupts are ignored, or somebody else takes them, that is left alone.
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._take)
            self._installed = True

    def _take(self, _number: int, _frame: Any) -> None:
        if not self._busy:
            raise KeyboardInterrupt
        self._came = True


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
