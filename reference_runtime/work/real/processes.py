"""One real process: spawned behind a gate, read and written without blocking, ended with everybody it started.

The gate is a pipe that the new process reads before it becomes the command. It opens once the start is on record; if
the runtime dies before that, or the start is refused, the pipe closes and the command never runs.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reference_runtime.work.real.groups import MARK, Group, standing

_GATE = 'read -r _ <"/dev/fd/$0" || exit 125; '
_TERMINAL = 'exec 0<>"$1" 1>&0 2>&0; shift; '
_BLOCK = 1 << 16
_END_OF_INPUT = b"\x04"
_SAFE = ("PATH", "LANG", "LC_ALL", "TZ")
"""Variables of the runtime that a command gets to see; everything else it is given by name."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a process may take, how much it may write, and how long it has to end when it is asked to."""

    timeout: float = 60.0
    output: int = 1 << 20
    grace: float = 0.5


class Process:
    """A child of ours; made stopped at its gate."""

    def __init__(
        self,
        argv: Sequence[str],
        folder: int,
        *,
        environment: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        terminal: bool = False,
    ):
        self.limits, self.mark, self.terminal = limits or Limits(), secrets.token_hex(16), terminal
        self.code: int | None = None
        """The exit code of a process that has ended; negative for a signal."""
        self._pending, self._closing, self._deadline = b"", False, float("inf")
        self._owned: set[int] = set()
        self._lock = threading.RLock()  # whoever ends a process may not be the one who reads it
        self._spawn(list(argv), folder, _environment(environment or {}) | {MARK: self.mark})
        found = standing(self.pid)
        self.group = Group(self.pid, self.mark, found[2] if found else 0, held=True)
        self._watch = self._own(os.pidfd_open(self.pid))

    def _spawn(self, argv: list[str], folder: int, environment: dict[str, str]) -> None:
        gate, self._gate = map(self._own, os.pipe())
        line = _GATE + (_TERMINAL if self.terminal else "") + 'exec "$@"'
        theirs = self._screen() if self.terminal else self._pipes()
        place = [os.ttyname(theirs[0])] if self.terminal else []
        try:
            self._child = subprocess.Popen(
                ["/bin/sh", "-c", line, str(gate), *place, *argv],
                cwd=f"/dev/fd/{folder}",
                env=environment,
                **dict(zip(("stdin", "stdout", "stderr"), theirs * 3, strict=False)),
                pass_fds=(gate,),
                start_new_session=True,
            )
        except BaseException:
            self._let_go(*self._owned)
            raise
        self._let_go(gate, *([] if self.terminal else theirs))
        for handle in {self._input, *self._streams}:
            os.set_blocking(handle, False)

    def _pipes(self) -> list[int]:
        (read, self._input), (out, write_out), (err, write_err) = (map(self._own, os.pipe()) for _ in range(3))
        self._streams = {out: "stdout", err: "stderr"}
        return [read, write_out, write_err]

    def _screen(self) -> list[int]:
        """A terminal without echo; our side of its screen stays open, or a moment without a reader would end it."""
        import termios  # there is none on Windows, where the rest of the runtime works

        controller, screen = map(self._own, os.openpty())
        modes = termios.tcgetattr(screen)
        modes[1] &= ~termios.OPOST
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(screen, termios.TCSANOW, modes)
        self._input, self._streams = self._own(os.dup(controller)), {controller: "pty"}
        return [screen]

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def late(self) -> bool:
        return self.code is None and time.monotonic() >= self._deadline

    @property
    def over(self) -> bool:
        """True when the process has ended and everything it wrote was read."""
        return self.code is not None and not self._streams

    def begin(self) -> None:
        """Opens the gate; from now on the command runs and its time counts."""
        self._deadline = time.monotonic() + self.limits.timeout
        with contextlib.suppress(BrokenPipeError):
            os.write(self._gate, b"\n")
        self._let_go(self._gate)

    def write(self, data: bytes) -> None:
        """Gives the process something to read; what does not fit waits."""
        with self._lock:
            self._pending += data

    def close_input(self) -> None:
        """Tells the process that nothing more is to be read, once everything was."""
        with self._lock:
            self._pending += _END_OF_INPUT if self.terminal else b""
            self._closing = True

    def pump(self, wait: float) -> list[tuple[str, bytes]]:
        """Moves what can be moved within a time: pending input in, output out; also notices the end."""
        with self._lock:
            return self._moved(wait)

    def _moved(self, wait: float) -> list[tuple[str, bytes]]:
        poll = select.poll()
        for handle in self._streams:
            poll.register(handle, select.POLLIN)
        if self._input in self._owned and (self._pending or self._closing):
            poll.register(self._input, select.POLLOUT)
        if self.code is None:
            poll.register(self._watch, select.POLLIN)
        rest = max(0.0, min(wait, self._deadline - time.monotonic()))
        ready = {handle for handle, _ in poll.poll(rest * 1000)}
        if self._input in ready:
            self._give()
        if self._watch in ready:
            self.end()  # whoever the leader left behind would hold its output open
        return [(self._streams[one], data) for one in list(self._streams) if one in ready and (data := self._read(one))]

    def end(self) -> bool:
        """Ends the process and whoever it started; says whether nobody is left. What it wrote stays readable."""
        with self._lock:
            self._let_go(self._gate)
            gone = self.group.end(self.limits.grace)
            if self.code is None:
                self.code = self._child.wait()
            if self.terminal:
                self._let_go(*(self._owned - {self._watch, self._input, *self._streams}))
            return gone

    def close(self) -> None:
        """Ends the process if it still runs, and lets go of everything."""
        with self._lock:
            if self.code is None:
                self.end()
            self._let_go(*self._owned)
            self._streams = {}

    def abandon(self) -> None:
        """Lets go of a process and lets it run."""
        with self._lock:
            self._let_go(*self._owned)

    def _read(self, handle: int) -> bytes:
        try:
            data = os.read(handle, _BLOCK)
        except BlockingIOError:
            return b""
        except OSError:  # a terminal whose last user is gone
            data = b""
        if not data:
            del self._streams[handle]
            self._let_go(handle)
        return data

    def _give(self) -> None:
        try:
            self._pending = self._pending[os.write(self._input, self._pending[:_BLOCK]) :]
        except BlockingIOError:
            return
        except OSError:  # nobody reads any more
            self._pending, self._closing = b"", True
        if self._closing and not self._pending:
            self._let_go(self._input)

    def _own(self, handle: int) -> int:
        self._owned.add(handle)
        return handle

    def _let_go(self, *handles: int) -> None:
        for handle in set(handles) & self._owned:
            self._owned.discard(handle)
            os.close(handle)


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    return {name: os.environ[name] for name in _SAFE if name in os.environ} | dict(given)


def word(code: int) -> str:
    """What an exit code says, in words."""
    if code >= 0:
        return f"The command ended with exit code {code}."
    with contextlib.suppress(ValueError):
        return f"The command was ended by {signal.Signals(-code).name}."
    return "The command was ended by a signal."
