"""Puts changed source in the place of a module that is already loaded, together with all that rests on it.

What does not rest on the module stays loaded, with everything it has worked out, so a trial pays only for what the
fault can reach.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.abc
import importlib.util
import sys
from pathlib import Path

_CATALOGUE = "validator.rules._catalog"
"""Loads every rule by its name alone."""


class Planted(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from changed source instead of its file."""

    def __init__(self, root: Path, path: str, source: str):
        self.file = root / path
        self.package = self.file.name == "__init__.py"
        self.module = name_of(path)
        self.source = source

    def find_spec(self, name, path=None, target=None):
        if name != self.module:
            return None
        places = [str(self.file.parent)] if self.package else None
        return importlib.util.spec_from_file_location(name, self.file, loader=self, submodule_search_locations=places)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(compile(self.source, self.file, "exec"), module.__dict__)  # the point of this class


def name_of(path: str) -> str:
    """What the module in a file is called."""
    return ".".join(Path(path).with_suffix("").parts).removesuffix(".__init__")


def plant(root: Path, path: str, source: str) -> None:
    """From here on the module is imported as changed."""
    planted = Planted(root, path, source)
    sys.meta_path.insert(0, planted)
    for name in resting_on(planted.module, root):
        del sys.modules[name]
        parent, _, last = name.rpartition(".")
        if parent in sys.modules:
            vars(sys.modules[parent]).pop(last, None)


def resting_on(module: str, root: Path) -> set[str]:
    """The loaded modules of this tree that import a module, at whatever remove, and itself."""
    loaded = {name: Path(found.__file__) for name, found in sys.modules.items() if getattr(found, "__file__", None)}
    uses = {name: _imports(file) for name, file in loaded.items() if _is_ours(file, root)}
    uses.setdefault(_CATALOGUE, set()).update(name for name in uses if name.startswith("validator.rules."))
    doomed, grown = {module}, True
    while grown:
        more = {name for name, used in uses.items() if used & doomed} - doomed
        doomed |= more
        grown = bool(more)
    return doomed & uses.keys()


def _is_ours(file: Path, root: Path) -> bool:
    """True for a module of this tree; an environment may lie in the tree, and what is installed there is not ours."""
    return file.is_relative_to(root) and "site-packages" not in file.parts


@functools.cache
def _imports(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively"
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found
