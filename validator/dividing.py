"""One capture judged by several processes: by its sessions, where these can be judged apart, or by the rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from validator.engine import Options, Validator
from validator.feeding import Progress, Result, advice, feed, judge_one, so_far
from validator.joining import InseparableError, agree
from validator.report import Report
from validator.sharing import Share
from validator.stopping import StoppedError, go_on, has_stopped, work_for_a_parent


class Forward:
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


class Team:
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
    work_for_a_parent(stop)
    parents.close()  # or nobody would notice that the parent has closed it
    try:
        work(path, options, share, end)
    except (InseparableError, StoppedError, EOFError, OSError):  # what else stops it will stop the parent too
        stop.set()
    finally:
        end.close()


def apart(path: str, options: Options, jobs: int, progress: Forward | None, reports: list[Report]) -> Result | None:
    """The report of one capture, each process judging sessions of its own; None when they cannot be judged apart."""
    from validator.apart import PROTOCOL, Reader  # who shares the rules needs none of it
    from validator.protocol.protocol import load_protocol

    team = Team(_judge_sessions, path, options, jobs)
    try:
        reader = Reader(path, options, 0, jobs, team.has_stopped)
        try:
            head, size = feed(path, reader, progress)
            seals = [reader.seal(), *team.hear()]
        except KeyboardInterrupt:
            reports += so_far(reader)
            raise
        if not agree(seals, load_protocol(PROTOCOL)):
            return None
        team.tell(seals)
        verdicts = [reader.finish(seals), *team.hear()]
        report = reader.report_of(verdicts)
        return report, advice(reader, report, head), size
    except (InseparableError, EOFError, ConnectionError):
        return None
    finally:
        team.leave()


def _judge_sessions(path: str, options: Options, share: Share, end: Any) -> None:
    from validator.apart import Reader

    reader = Reader(path, options, *share, has_stopped)
    feed(path, reader, None)
    end.send(reader.seal())
    end.send(reader.finish(end.recv()))


def in_shares(path: str, options: Options, jobs: int, progress: Forward | None, reports: list[Report]) -> Result:
    """One capture, its rules shared out; should a rule fail in itself, all is judged again in one process."""
    team = Team(_judge_share, path, options, jobs)
    try:
        validator = Validator(path, options, (0, jobs))
        try:
            head, size = feed(path, validator, progress)
            parts = team.hear()
        except KeyboardInterrupt:
            reports += so_far(validator)
            raise
        report = validator.close(parts)
        if not report.crashes and not any(part.crashes for part in parts):
            return report, advice(validator, report, head), size
        return judge_one(path, options)
    except (EOFError, ConnectionError):
        return judge_one(path, options)  # somebody has failed, and will say why in one process
    finally:
        team.leave()


def _judge_share(path: str, options: Options, share: Share, end: Any) -> None:
    validator = Validator(path, options, share)
    feed(path, validator, go_on)
    end.send(validator.part())
