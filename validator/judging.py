"""Judges many captures: one after the other or in several processes, with the same result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from validator.engine import Options, Validator
from validator.feeding import Progress, Result, ended, feed, so_far
from validator.processes import AUTO, fitting, is_large
from validator.records import dataclass, field
from validator.report import Report
from validator.run import Note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

GRACE = 1.0
"""Seconds that other processes have to tell what they know when the check is interrupted."""
_NOTICE = 0.5
"""Seconds after which one who waits looks up: an interrupt that came just before it began to wait does not wake it."""


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
    elif count > 1 and len(paths) == 1 and is_large(paths[0]):
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
                read = feed(path, validator, progress)
            except KeyboardInterrupt:
                found.reports += so_far(validator)
                raise
            yield ended(validator, *read)

    return results


def _in_processes(paths: list[str], options: Options, jobs: int, found: Judged):
    def results(_progress: Progress | None) -> Iterator[Result]:
        import multiprocessing  # one process needs none of it
        from concurrent.futures import ProcessPoolExecutor, wait

        from validator.stopping import work_for_a_parent

        stop = multiprocessing.Event()
        with ProcessPoolExecutor(min(jobs, len(paths)), initializer=work_for_a_parent, initargs=(stop,)) as pool:
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
                done, blocked = wait(waiting[len(found.reports) :], GRACE)
                if blocked:  # they wait for bytes that may never come
                    for process in multiprocessing.active_children():
                        process.terminate()
                if isinstance(error, KeyboardInterrupt):
                    found.reports += _told(future for future in waiting if future in done)
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
        from validator import dividing  # one process needs none of it
        from validator.samples import is_promising

        forward = dividing.Forward(progress) if progress else None
        apart = is_promising(path) and dividing.apart(path, options, jobs, forward, found.reports)
        if apart:
            yield apart
            return
        if forward:
            forward.again()
        if shares:
            yield dividing.in_shares(path, options, jobs, forward, found.reports)
        else:
            yield from _one_by_one([path], options, found)(forward)

    return results


def _judge_unless_stopped(path: str, options: Options) -> Result | None:
    """The report of a capture as far as it was read when the parent was interrupted; None for one not begun."""
    from validator.stopping import StoppedError, go_on, has_stopped

    if has_stopped():
        return None
    validator = Validator(path, options)
    try:
        read = feed(path, validator, go_on)
    except StoppedError:
        report = validator.interrupt()
        return None if report is None else (report, None, 0)
    return ended(validator, *read)
