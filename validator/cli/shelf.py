"""The compiled code of our modules in one entry, for processes that are a command of ours.

The import system looks for each of four hundred modules in its folder, asks for its size and time, and reads a file:
that takes as long as to judge a hundred lines. Here the code of all modules that commands before this one loaded lies
in one entry beside the contract (`validator/protocol/keep.py`, which says whose entries are read). It is trusted as
Python trusts a compiled module, by the size and the time of its source, at which every process looks anew. Who stands
before this finder is asked before it; what it does not hold is loaded as ever, and held from the next command on.

What the import system does around the code of a module (locks, finders, attributes asked for one by one) takes longer
than most of them run. So it is remembered what each of ours imports, and that is loaded first, plainly: its import
statements then find it there. A module of a package that is not there yet is left to the import system.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

from validator import loading
from validator.protocol import keep

_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PACKAGE = f"{os.path.basename(_HOME)}."
_ENTRY = "modules"
_WRITTEN = "written"
_MOST = 16
"""Pieces after which a shelf is begun anew, because the code of modules that have changed since stays in them."""
_FOR_OTHERS = (BuiltinImporter, FrozenImporter)
"""Finders that hold modules of the interpreter alone."""

Status = tuple[int, int]
"""The time and the size of a source."""
Place = tuple[str, str, str | None, bool, Status]
"""Of a module: its piece, its source, where Python would keep it compiled, whether it is a package, and its status."""


class Shelf:
    """What commands before this one loaded, piece by piece as they did, and what this one loads beyond."""

    def __init__(self, kept: keep.Keep):
        self._kept = kept
        self._places: dict[str, Place] = kept.get(_ENTRY) or {}
        self._new: dict[str, tuple[_New, Status, CodeType]] = {}
        self._written: dict[str, CodeType] = {}
        """The code of sources that were written while this one ran, and are not held."""
        self._running: list[_New] = []
        """The new modules whose code runs, the innermost last."""

    def find_spec(self, fullname: str, path: list[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """How to load a module of ours; None for all others."""
        if not path or not fullname.startswith(_PACKAGE):
            return None
        if self._running:
            self._running[-1].imports.append(fullname)
        spec = self._held(fullname, path)
        if spec is not None:
            return spec
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _New(fullname, spec.loader.path, self, spec.cached)
        return spec

    def load(self, name: str) -> ModuleType:
        """A module of ours by name."""
        return sys.modules.get(name) or self._loaded(name) or import_module(name)

    def compiled(self, source: str) -> CodeType:
        """The code of a source that was written just now; what is held answers for that very source."""
        code = (self._kept.get(_WRITTEN) or {}).get(source) or self._written.get(source)
        if code is None:
            code = self._written[source] = compile(source, "<written>", "exec")
        return code

    def _held(self, name: str, path: list[str]) -> ModuleSpec | None:
        """How to load a module that is held, once what it imports is loaded."""
        place = self._places.get(name)
        if place is None or not place[1].startswith(path[0]) or _status(place[1]) != place[4]:
            return None
        # Another process may have written the piece anew meanwhile.
        status, code, imports = (self._kept.get(place[0]) or {}).get(name, (None, None, ()))
        if status != place[4]:
            return None
        known = sys.modules
        for other in imports:
            if other not in known:
                self._loaded(other)
        return _spec(name, place, code)

    def _loaded(self, name: str) -> ModuleType | None:
        """Loads a module that is held, where nobody else is asked for it; else None."""
        package, _, own = name.rpartition(".")
        parent = sys.modules.get(package)
        path = getattr(parent, "__path__", None)
        if path is None:
            return None
        for finder in sys.meta_path:
            if finder is self:
                break
            if finder not in _FOR_OTHERS and finder.find_spec(name, path) is not None:
                return None
        spec = self._held(name, path)
        if spec is None or name in sys.modules:
            return sys.modules.get(name)
        module = sys.modules[name] = _module(spec)
        try:
            exec(spec.loader.get_code(name), module.__dict__)
        except BaseException:
            del sys.modules[name]
            raise
        setattr(parent, own, module)
        return module

    def run(self, loader: _New, module: ModuleType) -> None:
        """Runs the code of a module that is not held, and notes what is imported meanwhile."""
        self._running.append(loader)
        try:
            SourceFileLoader.exec_module(loader, module)
        finally:
            self._running.pop()

    def add(self, loader: _New, status: Status, code: CodeType) -> None:
        """Takes the code of a module that is not held, with the status that its source had before it was read."""
        self._new[loader.name] = (loader, status, code)

    def flush(self) -> None:
        """Has kept what is new."""
        written, self._written = self._written, {}
        if written:
            self._kept.put(_WRITTEN, lambda: {**(self._kept.get(_WRITTEN) or {}), **written})
        new, self._new = self._new, {}
        if new:
            self._put(new)
        self._kept.flush()

    def _put(self, new: dict[str, tuple[_New, Status, CodeType]]) -> None:
        """Has new modules kept as one more piece."""
        pieces = {place[0] for place in self._places.values()}
        if len(pieces) == _MOST:
            pieces, self._places = set(), {}
        piece = next(name for name in (f"{_ENTRY}-{number}" for number in range(_MOST)) if name not in pieces)
        told = {name: (status, code, tuple(loader.imports)) for name, (loader, status, code) in new.items()}
        for name, (loader, status, _) in new.items():
            self._places[name] = (piece, loader.path, loader.cached, loader.is_package(name), status)
        self._kept.put(piece, lambda: told)
        self._kept.put(_ENTRY, lambda: self._places)


def _spec(name: str, place: Place, code: CodeType) -> ModuleSpec:
    _, source, cached, is_package, _ = place
    spec = ModuleSpec(name, _Held(name, source, code), origin=source)
    spec.has_location, spec.cached = True, cached
    if is_package:
        spec.submodule_search_locations = [os.path.dirname(source)]
    return spec


def _module(spec: ModuleSpec) -> ModuleType:
    """A module with what the import system tells of one."""
    module = ModuleType(spec.name)
    module.__spec__, module.__loader__, module.__package__ = spec, spec.loader, spec.parent
    module.__file__, module.__cached__ = spec.origin, spec.cached
    if spec.submodule_search_locations is not None:
        module.__path__ = spec.submodule_search_locations
    return module


class _Held(SourceFileLoader):
    """Loads a module from the shelf; whatever else is asked of it is answered from its source."""

    def __init__(self, fullname: str, path: str, code: CodeType):
        self.name, self.path, self._code = fullname, path, code

    def get_code(self, fullname: str) -> CodeType:
        return self._code


class _New(SourceFileLoader):
    """Loads a module as ever, and has its code kept."""

    def __init__(self, fullname: str, path: str, shelf: Shelf, cached: str | None):
        super().__init__(fullname, path)
        self._shelf, self.cached = shelf, cached
        self.imports: list[str] = []

    def exec_module(self, module: ModuleType) -> None:
        self._shelf.run(self, module)

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
        found = Shelf(kept)
        sys.meta_path.insert(sys.meta_path.index(PathFinder), found)
        loading.load, loading.compiled = found.load, found.compiled


def flush() -> None:
    """Has kept what this process loaded, where it has a shelf."""
    for finder in sys.meta_path:
        if type(finder) is Shelf:
            finder.flush()
