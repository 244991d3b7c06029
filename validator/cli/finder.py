"""Finds our own modules with one look at each folder.

The usual finder asks the system for every module whether its folder has changed and which of five endings it has: for
the four hundred modules of a check that takes as long as to judge fifty lines. Only finding is made short: what is
found is loaded as ever, who stands before this finder is asked before it, and what it does not know at once is looked
for as usual.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
    SourcelessFileLoader,
)
from types import ModuleType

_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_USUAL = (
    (ExtensionFileLoader, EXTENSION_SUFFIXES),
    (SourceFileLoader, SOURCE_SUFFIXES),
    (SourcelessFileLoader, BYTECODE_SUFFIXES),
)


class Folder(FileFinder):
    """The modules and packages of one folder, as they were when it was first asked for."""

    def __init__(self, path: str):
        super().__init__(path, *_USUAL)
        self._held = frozenset(os.listdir(path))

    def find_spec(self, fullname: str, target: ModuleType | None = None) -> ModuleSpec | None:
        name = fullname.rpartition(".")[2]
        if name not in self._held and f"{name}.py" in self._held:  # what is a package as well is none of ours
            place = f"{self.path}{os.sep}{name}.py"
            found = ModuleSpec(fullname, SourceFileLoader(fullname, place), origin=place)
            found.has_location = True
            return found
        return super().find_spec(fullname, target)


def install() -> None:
    """From here on, modules below this package are found so; in a process that is a command of ours."""
    if _folder in sys.path_hooks:
        return
    sys.path_hooks.insert(0, _folder)
    for path in [path for path in sys.path_importer_cache if path.startswith(_HOME)]:
        del sys.path_importer_cache[path]


def _folder(path: str) -> Folder:
    if not (path == _HOME or path.startswith(_HOME + os.sep)):
        raise ImportError("not ours", path=path)
    try:
        return Folder(path)
    except OSError as error:
        raise ImportError("no folder", path=path) from error
