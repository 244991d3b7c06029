"""How modules of ours are loaded by name, and how what was written for them is compiled.

Both are what Python does unless somebody holds the code: `validator/cli/shelf.py` puts its own in their places.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import CodeType, ModuleType


def _compiled(source: str) -> CodeType:
    return compile(source, "<written>", "exec")


load: Callable[[str], ModuleType] = import_module
compiled: Callable[[str], CodeType] = _compiled
