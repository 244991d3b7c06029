"""The command line: parses options, calls one function, shows the result. No command holds logic of its own."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from _thread import _count as threads

_GARBAGE = (100_000, 20, 20)
"""How seldom objects that refer to each other are looked for: a verdict makes few, and looking takes a tenth of it.

The contract and the rules alone are more than half as many, and none of them is ever given up.
"""
_TOLD = (["-h"], ["--help"], ["--version"])
"""What is answered with a few modules."""


def main() -> None:
    """The entry point of a process, which ends with it; `validator.cli.entry.run` is for all others."""
    # Before anything is imported, because to import makes many objects and hardly any garbage.
    gc.set_threshold(*_GARBAGE)
    if sys.argv[1:2] not in _TOLD:
        from validator.cli import shelf

        shelf.install()
    from validator.cli.entry import run

    try:
        run()
    except SystemExit as left:
        if not _is_watched() and (left.code is None or type(left.code) is int):
            _leave(left.code or 0)
        raise


def _is_watched() -> bool:
    """True where somebody looks on, or threads still work, so that the process has to end as any other."""
    return bool(sys.flags.inspect or sys.gettrace() or sys.getprofile() or threads())


def _leave(code: int) -> None:
    """Ends the process once all is said: to take apart what is left takes as long as to judge ten lines.

    Where something could not be said it returns, and the interpreter tells in its own way.
    """
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return
    os._exit(code)
