"""Where the contract lies: inside an installed wheel, or in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def root() -> Path:
    """The folder that holds `schemas`, `fixtures` and `spec`."""
    packaged = _PACKAGE / "_data"
    return packaged if packaged.is_dir() else _PACKAGE.parent


def schemas() -> Path:
    return root() / "schemas"


def fixtures() -> Path:
    return root() / "fixtures"


def spec() -> Path:
    return root() / "spec"
