"""The bench: a workspace, a content store, hooks, and the processes that run now.

The bench follows the log. It hears every event that was kept: input for a process is handed to it, and a process that
was told as terminated is ended, with everybody it started, by whatever command or policy that was.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reference_runtime.domain.state import Decision, State, about
from reference_runtime.patterns import tables
from reference_runtime.redaction import Mask
from reference_runtime.service import Runtime
from reference_runtime.work.real.contents import Contents
from reference_runtime.work.real.groups import Group
from reference_runtime.work.real.hooks import Hook
from reference_runtime.work.real.output import Output, Unit
from reference_runtime.work.real.processes import Limits, Process
from reference_runtime.work.real.workspace import Workspace

_PATIENCE = 0.05


@dataclass(slots=True)
class Running:
    """A process at work: what it wrote and was not told yet, and how it ended."""

    process: Process
    ids: dict[str, Any]
    since: str = ""
    outputs: dict[str, Output] = field(default_factory=dict)
    units: deque[Unit] = field(default_factory=deque)
    refs: list[str] = field(default_factory=list)
    timed_out: bool = False
    flushed: bool = False
    told_ended: bool = False
    """The log says that it was terminated; what it still wrote was left in a buffer."""

    def ready(self, wait: float) -> bool:
        """True when something can be told: output, or the end."""
        if self.units or self.flushed:
            return True
        for stream, data in self.process.pump(wait):
            self.outputs[stream].feed(data)
        if self.process.late:
            self.timed_out = True
            self.process.end()
        if self.process.over:
            for output in self.outputs.values():
                output.end()
            self.flushed = True
        return bool(self.units) or self.flushed

    def drop(self) -> None:
        """Gives up output that nobody refers to."""
        for output in self.outputs.values():
            output.drop()

    def close(self) -> None:
        self.process.close()
        self.drop()


class Bench:
    """Where real work is done for one runtime."""

    def __init__(
        self,
        workspace: Workspace,
        contents: Contents,
        *,
        hooks: Sequence[Hook] = (),
        environment: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        secrets: Sequence[str] = (),
    ):
        self.workspace, self.contents, self.hooks = workspace, contents, tuple(hooks)
        self.environment, self.limits = dict(environment or {}), limits or Limits()
        self.mask = Mask((str(workspace.root), str(contents.folder)), (*secrets, *_secret(self.environment)))
        self.live: dict[str, Running] = {}

    def attach(self, runtime: Runtime) -> Bench:
        """Begins to follow a runtime's log."""
        runtime.contents = self.contents
        runtime.subscribers.append(lambda event: self._heard(runtime, event))
        return self

    def asked(self, point: str, tool: str) -> list[Hook]:
        """The hooks to be asked at a point, in the order in which the host names them."""
        return [hook for hook in self.hooks if hook.asks_about(point, tool)]

    def start(self, argv: Sequence[str], folder: int, ids: dict[str, Any], budget: int, **more: Any) -> Running:
        """A process behind its gate."""
        running = Running(Process(argv, folder, environment=self.environment, **more), ids)
        limit = running.process.limits.output
        for stream in ("pty",) if running.process.terminal else ("stdout", "stderr"):
            running.outputs[stream] = Output(stream, self.mask, self.contents, budget, limit, running.units)
        self.live[ids["process_id"]] = running
        return running

    def forget(self, process_id: str) -> None:
        """Lets go of a process that is over."""
        if running := self.live.pop(process_id, None):
            running.close()

    def wait(self, patience: float | None = None) -> bool:
        """Blocks until a process has something to tell; False when none runs, or none did within the time."""
        left = patience
        while self.live and (left is None or left > 0):
            step = _PATIENCE / len(self.live)
            if any(running.ready(step) for running in list(self.live.values())):
                return True
            left = None if left is None else left - _PATIENCE
        return False

    def abandon(self) -> list[Process]:
        """Lets go of everything and ends nothing, as a runtime that is killed does; gives the children that live on."""
        left = [running.process for running in self.live.values()]
        for running in self.live.values():
            running.process.abandon()
            running.drop()
        self.live = {}
        self.workspace.close()
        return left

    def close(self) -> None:
        """Ends every process, and lets go of the workspace."""
        for process_id in list(self.live):
            self.forget(process_id)
        self.workspace.close()

    def recover(self, runtime: Runtime) -> None:
        """After a restart: ends what a killed runtime left running, as far as it is proved to be ours."""
        self.contents.tidy()
        for record in runtime.store.find("os_process", {}, True):
            group = Group(**record.data)
            found = bool(group.members())
            ended = found and group.end(self.limits.grace)
            runtime.report(lambda state, id=record.id, ended=ended: _settled(state, id, ended))

    def _heard(self, runtime: Runtime, event: dict[str, Any]) -> None:
        running = self.live.get(event.get("process_id", ""))
        if running is None:
            return
        if event["type"] == "process.input":
            blob = runtime.store.load("blob", event["payload"]["input_ref"])
            running.process.write(blob.data["content"].encode("utf-8", "replace"))
            if blob.data.get("close"):
                running.process.close_input()
        elif event["type"] == "process.terminated":
            running.told_ended = True
            running.process.end()


def _settled(state: State, process_id: str, ended: bool) -> Decision:
    """Tells that a process which was lost has been found and ended; one that was not found stays lost."""
    state.edit("os_process", process_id).open = False
    process = state.get("process", process_id)
    if ended and process and process.state in {"running", "lost"}:
        said = {"reason": "It was found after a restart.", "terminated_by": "shutdown", "signal": "TERM"}
        yield about(process, "process.terminated", said)


def _secret(environment: Mapping[str, str]) -> list[str]:
    """Values of variables whose names say that they are secret."""
    parts = tables().secret_variables
    return [value for name, value in environment.items() if value and any(part in name.upper() for part in parts)]
