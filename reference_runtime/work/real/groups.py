"""Groups of processes: who belongs to one, and how all of them are ended.

A process of ours is started as the leader of a session of its own, with a mark in its environment that is used once.
To its group belongs whoever is in that process group or session, or carries the mark: children that moved to another
group or session are found by it. The mark is also the proof that a group found after a restart is ours, and not
somebody else's under a number that was given again.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass

MARK = "REFERENCE_RUNTIME_PROCESS"
_LONGEST = 10.0
"""Seconds after which a group that a kill does not end is given up; only the kernel can hold one that long."""


@dataclass(frozen=True, slots=True)
class Group:
    """A process group by its number and its mark."""

    id: int
    mark: str
    since: int = 0
    """When its leader began, in ticks since the machine did; whoever is older does not belong to it."""
    held: bool = False
    """Its leader is a child that was not collected yet, so nobody else can have the number."""

    def members(self) -> list[int]:
        """Everybody who lives in the group; the dead that nobody collected do not count."""
        living = {pid: found[:2] for pid in _numbers() if (found := standing(pid)) and found[2] >= self.since}
        marked = {pid for pid in living if _carries(pid, self.mark)}
        ours = self.held or any(self.id in living[pid] for pid in marked)
        return [pid for pid in living if pid in marked or (ours and self.id in living[pid])]

    def end(self, grace: float) -> bool:
        """Asks everybody to end, then ends them; says whether nobody is left."""
        if self._signal(signal.SIGTERM, grace):
            return True
        until = time.monotonic() + _LONGEST
        while time.monotonic() < until:
            if self._signal(signal.SIGKILL, 1.0):
                return True
        return False

    def _signal(self, number: signal.Signals, wait: float) -> bool:
        """Sends a signal to everybody and waits for them; true when nobody is left."""
        members = self.members()
        if not members:
            return True
        with contextlib.ExitStack() as stack:
            # A handle pins a process: the second look and the signal are about the same one.
            pinned = {pid: handle for pid in members if (handle := stack.enter_context(_pinned(pid))) is not None}
            reached = self._at_once(number)
            for pid in set(self.members()) & pinned.keys() - reached:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(pinned[pid], number)
            _wait(list(pinned.values()), wait)
        return not self.members()

    def _at_once(self, number: signal.Signals) -> set[int]:
        """Signals the whole process group together, so that none of them has time to tell of another's end."""
        if not self.held:
            return set()
        reached = {pid for pid in self.members() if (found := standing(pid)) and found[0] == self.id}
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.id, number)
        return reached


def _wait(handles: list[int], seconds: float) -> None:
    """Waits until every process behind the handles has ended, or the time is up."""
    poll, until = select.poll(), time.monotonic() + seconds
    for handle in handles:
        poll.register(handle, select.POLLIN)
    left = len(handles)
    while left and (rest := until - time.monotonic()) > 0:
        for handle, _ in poll.poll(rest * 1000):
            poll.unregister(handle)
            left -= 1


@contextlib.contextmanager
def _pinned(pid: int) -> Iterator[int | None]:
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        yield None
        return
    try:
        yield handle
    finally:
        os.close(handle)


def _numbers() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]


def standing(pid: int) -> tuple[int, int, int] | None:
    """The process group and the session somebody is in, and since when; None for the dead."""
    fields = _told(pid, "stat").rpartition(b")")[2].split()
    return None if not fields or fields[0] in b"ZX" else (int(fields[2]), int(fields[3]), int(fields[19]))


def _carries(pid: int, mark: str) -> bool:
    return f"{MARK}={mark}".encode() in _told(pid, "environ").split(b"\0")


def _told(pid: int, what: str) -> bytes:
    """What the system tells about a process; nothing about one that is gone or somebody else's."""
    try:
        with open(f"/proc/{pid}/{what}", "rb") as file:
            return file.read()
    except OSError:
        return b""
