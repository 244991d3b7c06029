"""Where the contract lies: inside an installed wheel, or in a checkout.

A check asks for folders as text, because `pathlib` takes as long to load as thirty lines to judge.
"""

from __future__ import annotations

import functools
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

_PACKAGE = os.path.dirname(os.path.realpath(__file__))
_real = functools.cache(os.path.realpath)


@functools.cache
def home() -> str:
    """The folder that holds `schemas`, `fixtures` and `spec`."""
    packaged = os.path.join(_PACKAGE, "_data")
    return packaged if os.path.isdir(packaged) else os.path.dirname(_PACKAGE)


def folder(name: str) -> str:
    """One of these three, where links lead."""
    return _real(os.path.join(home(), name))


def root() -> Path:
    """The same folder for those who look around in it."""
    from pathlib import Path

    return Path(home())


def schemas() -> Path:
    return root() / "schemas"


def fixtures() -> Path:
    return root() / "fixtures"


def spec() -> Path:
    return root() / "spec"
