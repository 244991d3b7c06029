"""A real pseudo-terminal for the program under test."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
from pathlib import Path

from tests.cli.support import PROGRAM, environment


class Terminal:
    """The program with a terminal of a given width as its standard input, output and error."""

    def __init__(self, *words: str, cwd: Path, columns: int = 80, **more: str):
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        env = {key: value for key, value in environment(**more).items() if key not in {"COLUMNS", "LINES"}}
        self.process = subprocess.Popen(
            [*PROGRAM, *map(str, words)],
            cwd=cwd,
            env=env,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self.text = ""

    def read_until(self, word: str | None = None) -> str:
        """Everything shown until a word appears, or to the end."""
        while word is None or word not in self.text:
            ready, _, _ = select.select([self._ours], [], [], 120)
            assert ready, f"nothing more was shown after {self.text!r}"
            try:
                data = os.read(self._ours, 4096)
            except OSError:  # the other side is closed
                break
            if not data:
                break
            self.text += data.decode()
        return self.text

    def end(self) -> int:
        self.read_until()
        os.close(self._ours)
        return self.process.wait(120)
