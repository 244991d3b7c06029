"""The command line: parses options, calls one function, shows the result. No command holds logic of its own."""

from __future__ import annotations

import atexit
import gc

_GARBAGE = (100_000, 20, 20)
"""How seldom objects that refer to each other are looked for: a verdict makes few, and looking takes a tenth of it.

The contract and the rules alone are more than half as many, and none of them is ever given up.
"""


def main() -> None:
    """The entry point."""
    # Before anything is imported, because to import makes many objects and hardly any garbage.
    gc.set_threshold(*_GARBAGE)
    # The interpreter looks twice through all that is left when it leaves, and the system takes it back anyway.
    atexit.register(gc.freeze)
    from validator.cli import finder

    finder.install()
    from validator.cli.entry import run

    run()
