"""The compiled code of our modules in one entry, for processes that are a command of ours.

The import system looks for each of four hundred modules in its folder, asks for its size and time, and reads a file:
that takes as long as to judge a hundred lines. Here the code of all modules that commands before this one loaded lies
in one entry beside the contract (`validator/protocol/keep.py`, which says whose entries are read). It is trusted as
Python trusts a compiled module, by the size and the time of its source, at which every process looks anew. Who stands
before this finder is asked before it; what it does not hold is loaded as ever, and held from the next command on.
"""

from __future__ import annotations

import marshal
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

from validator.protocol import keep

_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PACKAGE = f"{os.path.basename(_HOME)}."
_ENTRY = "modules"
_MOST = 16
"""Pieces after which a shelf is begun anew, because the code of modules that have changed since stays in them."""

Status = tuple[int, int]
"""The time and the size of a source."""
Place = tuple[int, str, str | None, bool, Status]
"""Of a module: its piece, its source, where Python would keep it compiled, whether it is a package, and its status."""


class Shelf:
    """What commands before this one loaded, piece by piece as they did, and what this one loads beyond."""

    def __init__(self, kept: keep.Keep):
        self._kept = kept
        self._places: dict[str, Place]
        self._pieces: list[bytes]
        self._places, self._pieces = kept.get(_ENTRY) or ({}, [])
        self._opened: dict[int, dict[str, CodeType]] = {}
        self._new: dict[str, tuple[Place, CodeType]] = {}

    def find_spec(self, fullname: str, path: list[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """How to load a module of ours; None for all others."""
        if not path or not fullname.startswith(_PACKAGE):
            return None
        known = self._places.get(fullname)
        if known is not None and known[1].startswith(path[0]) and _status(known[1]) == known[4]:
            _, source, cached, is_package, _ = known
            spec = ModuleSpec(fullname, _Held(fullname, source, self), origin=source)
            spec.has_location, spec.cached = True, cached
            if is_package:
                spec.submodule_search_locations = [os.path.dirname(source)]
            return spec
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _New(fullname, spec.loader.path, self, spec.cached)
        return spec

    def code(self, name: str) -> CodeType:
        """The code of a module that was found here."""
        piece = self._places[name][0]
        if piece not in self._opened:
            self._opened[piece] = marshal.loads(self._pieces[piece])
        return self._opened[piece][name]

    def add(self, loader: _New, status: Status, code: CodeType) -> None:
        """Takes the code of a module that is not held, with the status that its source had before it was read."""
        name = loader.name
        place = (len(self._pieces), loader.path, loader.cached, loader.is_package(name), status)
        self._new[name] = (place, code)

    def flush(self) -> None:
        """Has the new modules kept as one more piece."""
        new, self._new = self._new, {}
        if not new:
            return
        self._pieces.append(marshal.dumps({name: code for name, (_, code) in new.items()}))
        self._places |= {name: place for name, (place, _) in new.items()}
        self._kept.put(_ENTRY, lambda: (self._places, self._pieces) if len(self._pieces) <= _MOST else ({}, []))
        self._kept.flush()


class _Held(SourceFileLoader):
    """Loads a module from the shelf; whatever else is asked of it is answered from its source."""

    def __init__(self, fullname: str, path: str, shelf: Shelf):
        super().__init__(fullname, path)
        self._shelf = shelf

    def get_code(self, fullname: str) -> CodeType:
        return self._shelf.code(fullname)


class _New(SourceFileLoader):
    """Loads a module as ever, and has its code kept."""

    def __init__(self, fullname: str, path: str, shelf: Shelf, cached: str | None):
        super().__init__(fullname, path)
        self._shelf, self.cached = shelf, cached

    def get_code(self, fullname: str) -> CodeType:
        status = _status(self.path)
        code = super().get_code(fullname)
        if status is not None:
            self._shelf.add(self, status, code)
        return code


def _status(path: str) -> Status | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def install() -> None:
    """From here on, our modules are found so; nothing is where nothing may be kept."""
    kept = keep.own(sys.flags.optimize, _HOME)
    if kept is not keep.NOTHING and PathFinder in sys.meta_path:
        sys.meta_path.insert(sys.meta_path.index(PathFinder), Shelf(kept))


def flush() -> None:
    """Has kept what this process loaded, where it has a shelf."""
    for finder in sys.meta_path:
        if type(finder) is Shelf:
            finder.flush()
