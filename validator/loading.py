"""How modules of ours are loaded by name."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

load: Callable[[str], ModuleType] = import_module
"""Who holds the code of many modules puts in its place what loads them without looking for each (`cli/shelf.py`)."""
