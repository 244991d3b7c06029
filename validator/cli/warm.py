"""A quick beginning: what Python would find, read and compile anew in every process is kept beside the contract.

Two things take long when hundreds of small modules are imported. Each is looked for in folders and read from a file of
its own; here the code of all of them comes from one entry, and a module is taken from it only while the size and the
time of its source are those of the entry, which is the proof that Python's own compiled files rest on. And every
dataclass has its methods compiled from text; here the code of a text that was compiled before is run as it is.
"""

from __future__ import annotations

import dataclasses
import gc
import os
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from validator.protocol.keep import NOTHING, Keep, shipped

_PACKAGE = "validator."
_METHODS, _MODULES = "methods", "modules"


def begin() -> None:
    """Called before the judge is imported."""
    # The imports and the contract live as long as the process: looking through them for garbage finds none.
    gc.set_threshold(20_000, 20, 50)
    kept = shipped()
    if kept is NOTHING or any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, _Finder(kept.get(_MODULES) or {}))
    dataclasses.exec = _Methods(kept.get(_METHODS) or {})  # type: ignore[attr-defined]


def end() -> None:
    """Called when everything that was read has proved sound: keeps it for the next run."""
    kept = shipped()
    finder = next((finder for finder in sys.meta_path if isinstance(finder, _Finder)), None)
    if finder is not None:
        finder.keep(kept)
        dataclasses.exec.keep(kept)  # type: ignore[attr-defined]
    kept.flush()
    gc.freeze()  # nobody looks through all of it once more at the exit


class _Methods:
    """Stands for `exec` where dataclasses compile their methods."""

    def __init__(self, known: dict[str, CodeType]):
        self._known, self._new = known, {}

    def __call__(self, text: Any, names: Any = None, into: Any = None) -> None:
        code = self._known.get(text)
        if code is None:
            code = self._new[text] = compile(text, "<string>", "exec")
        exec(code, names, into)

    def keep(self, kept: Keep) -> None:
        if self._new:
            kept.put(_METHODS, lambda: self._known | self._new)


class _Loader(SourceFileLoader):
    """Loads a module whose code is known."""

    def __init__(self, name: str, path: str, code: CodeType):
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType:
        return self._code


class _Finder:
    """Finds our modules in what was kept; whatever is not there as it is now is left to Python."""

    def __init__(self, known: dict[str, tuple[str, int, int, CodeType]]):
        self._known = known
        self._early = frozenset(sys.modules)
        """What is imported before is never asked for."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        entry = self._known.get(name)
        if entry is None or _mark(entry[0]) != entry[1:3]:
            return None
        source, code = entry[0], entry[3]
        package = os.path.basename(source) == "__init__.py"
        spec = ModuleSpec(name, _Loader(name, source, code), origin=source, is_package=package)
        spec.has_location = True
        if package:
            spec.submodule_search_locations = [os.path.dirname(source)]
        return spec

    def keep(self, kept: Keep) -> None:
        """Has the modules of this run kept if one of them was not."""
        ours = {name for name in sys.modules if name.startswith(_PACKAGE)} - self._early
        modules = {name: sys.modules[name] for name in ours if isinstance(_loader(name), SourceFileLoader)}
        if not all(isinstance(_loader(name), _Loader) for name in modules):
            found = {name: _entry(module) for name, module in modules.items()}
            kept.put(_MODULES, lambda: self._current() | found)

    def _current(self) -> dict[str, Any]:
        return {name: entry for name, entry in self._known.items() if _mark(entry[0]) == entry[1:3]}


def _loader(name: str) -> Any:
    spec = getattr(sys.modules[name], "__spec__", None)
    return spec.loader if spec else None


def _entry(module: ModuleType) -> tuple[str, int, int, CodeType]:
    spec = module.__spec__
    return (spec.origin, *_mark(spec.origin), spec.loader.get_code(spec.name))


def _mark(path: str) -> tuple[int, int]:
    """The time and the size of a file; of one that is not there, what no file has."""
    try:
        status = os.stat(path)
    except OSError:
        return -1, -1
    return status.st_mtime_ns, status.st_size
