"""A runtime with a bench, for tests: a script in, what happened out."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from reference_runtime.capture import LineCapture
from reference_runtime.log.memory import MemoryStore
from reference_runtime.service import Runtime
from reference_runtime.settings import Settings
from reference_runtime.work.engine import Worker
from reference_runtime.work.real.site import Site
from tests.runtime.judging import judge, words

PARTS = [{"kind": "text", "text": "hi"}]
YES = {"decision": "approved"}


class Floor:
    """One runtime on one workspace."""

    def __init__(self, folder: Path, work: dict[str, Any] | None = None, **settings: Any):
        self.site = Site(work or {}, folder)
        self.text = io.StringIO()
        self.runtime = Runtime(
            MemoryStore(), Settings(**settings), capture=LineCapture(self.text, completeness="prefix")
        )
        self.bench = self.site.bench().attach(self.runtime)
        self.worker = Worker(self.runtime, self.bench)

    def submit(self, *uses: dict[str, Any], turn: str = "turn_a") -> Floor:
        """Submits a turn that uses tools one after the other, and works until nothing can go on."""
        self.runtime.settings.scripts[turn] = [{"catalog": {}}, *({"use": use} for use in uses)]
        request = {"session_id": "s", "thread_id": "t", "turn_id": turn, "input_parts": PARTS}
        assert self.runtime.handle("submit_turn", {**request, "options": {"script": turn}})["outcome"] == "accepted"
        return self

    def run(self, *uses: dict[str, Any], turn: str = "turn_a") -> Floor:
        self.submit(*uses, turn=turn).worker.run()
        return self

    def until(self, kind: str) -> dict[str, Any]:
        """Works until an event of a kind is told."""
        seen = len(self.events(kind))
        while len(self.events(kind)) == seen:
            assert self.worker.step(), f"{kind} never came"
        return self.events(kind)[-1]

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        return [event for event in self.runtime.store.read() if not kinds or event["type"] in kinds]

    def types(self) -> list[str]:
        return [event["type"] for event in self.events()]

    def said(self, kind: str) -> dict[str, Any]:
        """The payload of the last event of a kind."""
        return self.events(kind)[-1]["payload"]

    def files(self) -> set[str]:
        """Every file of the workspace."""
        root = self.site.workspace
        return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() or path.is_symlink()}

    def stored(self) -> str:
        """Everything in the content store, as one text."""
        contents = self.bench.contents.folder
        return "\0".join(path.read_text(errors="replace") for path in contents.rglob("*") if path.is_file())

    def judged(self) -> list[str]:
        """What the judge finds, of any level."""
        return words(judge(self.text.getvalue(), "prefix"))


def shell(command: str, person: dict[str, Any] | None = YES, **args: Any) -> dict[str, Any]:
    return {"tool": "shell", "args": {"command": command, **args}, **({"person": person} if person else {})}


def write(path: str, content: str = "new") -> dict[str, Any]:
    return {"tool": "write_file", "args": {"path": path, "content": content}, "person": YES}


def read(path: str) -> dict[str, Any]:
    return {"tool": "read_file", "args": {"path": path}}


def alive(pid: int) -> bool:
    """True for a process that runs; one that is dead and not collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def handles() -> int:
    return len(os.listdir("/proc/self/fd"))
