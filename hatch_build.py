"""Puts the compiled contract into a wheel, so that the first check after an installation is as quick as the second.

What is put there is what checks of the golden captures, and of those that leak, keep for later ones
(`validator/protocol/keep.py`). It answers for interpreters that read the byte code of the one that builds, and for the
bytes of this contract; any other interpreter makes its own, as it would without.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_CHECK = "import gc; gc.disable(); from validator.cli.entry import run; run()"
"""Keeps nothing of a command's own; what is garbage stays, because bytes hang on how often a value is referred to."""
_TELLING = ("golden/*.ndjson", "rules/RED*/*.ndjson")
"""What is judged, below the fixtures of a protocol."""
_JUDGED = (0, 1, 3)
"""Exit codes of a check that came to a verdict."""
_SAME = {"PYTHONHASHSEED": "0"}
"""Sets are kept in the order of their hashes; without this no two builds would give the same bytes."""


class CompiledContract(BuildHookInterface):
    """Compiles the contract before a wheel is put together."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        for protocol in sorted(Path(self.root, "fixtures").glob("*/*")):
            captures = sorted(str(path) for pattern in _TELLING for path in protocol.glob(pattern))
            if captures:
                self._check(captures)
                self._check(captures[:1])  # a short check reads with other means than a long one
        build_data["force_include"][self._folder.name] = "validator/_data/compiled"

    def _check(self, captures: list[str]) -> None:
        paths = os.pathsep.join(filter(None, [self.root, os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "PYTHONPATH": paths, "RUNTIME_VALIDATE_CACHE": self._folder.name, **_SAME}
        command = [sys.executable, "-c", _CHECK, "check", *captures]
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True)
        if done.returncode not in _JUDGED:
            raise RuntimeError(f"the contract cannot be compiled: {done.stderr}")

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._folder.cleanup()
