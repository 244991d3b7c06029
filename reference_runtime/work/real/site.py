"""A workspace that is made for one story, with its hooks and its content store, and removed with it."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from reference_runtime.work.real.bench import Bench
from reference_runtime.work.real.contents import Contents
from reference_runtime.work.real.hooks import Hook
from reference_runtime.work.real.processes import Limits, Process
from reference_runtime.work.real.workspace import Workspace


class Site:
    """Folders for real work, laid out as a story says."""

    def __init__(self, said: dict[str, Any], folder: Path | None = None):
        self._said, self._own = said, folder is None
        self._folder = folder or Path(tempfile.mkdtemp())
        self.workspace = self._folder / "workspace"
        self.workspace.mkdir()
        for path, text in said.get("files", {}).items():
            target = self.workspace / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        self._orphans: list[Process] = []
        self._hooks = [self._hook(**hook) for hook in said.get("hooks", ())]

    def _hook(self, name: str, point: str, program: str, **more: Any) -> Hook:
        """Makes a program of a text, beside the workspace and not in it."""
        path = self._folder / "hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(program, encoding="utf-8")
        path.chmod(0o700)
        tools = tuple(more.pop("tools", ("*",)))
        return Hook(name, point, (str(path),), tools, **more)

    def bench(self) -> Bench:
        """A bench on these folders; another one can follow it after a restart."""
        roots = {name: tuple(self._said[name]) for name in ("read_roots", "write_roots") if name in self._said}
        return Bench(
            Workspace(self.workspace, **roots),
            Contents(self._folder / "contents"),
            hooks=self._hooks,
            environment=self._said.get("environment"),
            limits=Limits(**self._said.get("limits", {})),
            secrets=self._said.get("secrets", ()),
        )

    def kill(self, bench: Bench) -> None:
        """What becomes of a bench when its runtime is killed: its processes live on without anybody who reads them."""
        self._orphans += bench.abandon()

    def remove(self) -> None:
        for process in self._orphans:
            process.close()
        if self._own:
            shutil.rmtree(self._folder)
