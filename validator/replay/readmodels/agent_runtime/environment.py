"""Processes, and where work is executed."""

from __future__ import annotations

from typing import Any

from validator.records import dataclass, field
from validator.replay.readmodels.agent_runtime.facts import Collector, Fact, Facts
from validator.replay.readmodels.agent_runtime.permissions import Permissions
from validator.replay.readmodels.agent_runtime.records import Later, as_list, as_record, distinct, present
from validator.replay.readmodels.agent_runtime.scope import NOWHERE, SESSION, Scope, Scopes
from validator.replay.readmodels.agent_runtime.turns import Turns


@dataclass(slots=True)
class Process:
    """What events told of one process."""

    said: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, None] = field(default_factory=dict)
    listed: list[str] = field(default_factory=list)


class Processes(Collector):
    """Processes of a session."""

    listens = {  # noqa: RUF012 - a table of the class, never changed
        "process.started": "_started",
        "process.output": "_output",
        "process.completed": "_completed",
    }
    carries = ("process_id",)

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.processes: dict[str, Process] = {}
        self.of_turn: dict[str, dict[str, None]] = {}

    def _process(self, fact: Fact) -> Process:
        return self.processes.setdefault(fact.ids.get("process_id", ""), Process())

    def meet(self, fact: Fact) -> None:
        said = self._process(fact).said
        for name in ("turn_id", "tool_call_id"):
            if name in fact.ids:
                said.setdefault(name, fact.ids[name])
        if "turn_id" in said:
            self.of_turn.setdefault(said["turn_id"], {})[fact.ids.get("process_id", "")] = None

    def _started(self, fact: Fact) -> None:
        names = ("command", "cwd", "tty", "retention")
        said = present(**{name: fact.payload.get(name) for name in names}, started_at=fact.time)
        self._process(fact).said.update(said)

    def _output(self, fact: Fact) -> None:
        ref = self.facts.protocol.lens.get(fact.line, "output_ref")
        if isinstance(ref, str):
            self._process(fact).outputs[ref] = None

    def _completed(self, fact: Fact) -> None:
        self._process(fact).listed = as_list(fact.payload.get("output_refs"))

    def record(self, key: str) -> dict[str, Any]:
        """The entry of a process."""
        return self.facts.entry("process_id", key, self._record)

    def _record(self, key: str) -> dict[str, Any]:
        process, end = self.processes.get(key, Process()), self.facts.end("process", key)
        said = end.said if end else {}
        return present(
            process_id=key,
            status=self.facts.status("process", key),
            output_refs=distinct([*process.outputs, *process.listed]),
            exit_code=said.get("exit_code"),
            duration_ms=said.get("duration_ms"),
            ended_at=end.time if end else None,
            **process.said,
        )

    def known(self, scope: Scope) -> list[str]:
        return self.facts.known("process", "process_id", scope)

    def failed(self, scope: Scope) -> list[str]:
        return [key for key in self.known(scope) if self.facts.state("process", key) == "failed"]

    def of_turns(self, scope: Scope, turns: set[str]) -> list[dict[str, Any]]:
        """Processes of some turns, and every one that has not ended, in order."""
        shown = (key for key in self.known(scope) if self._turn(key) in turns or not self._over(key))
        return [self.record(key) for key in shown]

    def active(self, scope: Scope) -> list[dict[str, Any]]:
        """Processes that have not ended, in order."""
        return [self.record(key) for key in self.known(scope) if not self._over(key)]

    def _turn(self, key: str) -> Any:
        return self.processes.get(key, Process()).said.get("turn_id")

    def scopes(self, key: str, turns: Turns) -> Scopes:
        """The thread that shows a process."""
        own = self.facts.scopes("process", "process_id", key) - {SESSION}
        return own & turns.scopes(self._turn(key)) if self._over(key) else own

    def active_scopes(self, key: str) -> Scopes:
        """The session, thread and turns in which a process is at work."""
        if self._over(key):
            return NOWHERE
        own = self.facts.scopes("process", "process_id", key)
        return own.union(Scope(None, turn) for turn in self.facts.mentions.turns("process_id", key)) if own else own

    def _over(self, key: str) -> bool:
        return self.facts.is_over("process", key)


class Environment(Collector):
    """The environments that events state beside their payload."""

    listens = {  # noqa: RUF012 - a table of the class, never changed
        "process.started": "_exists",
        "sandbox.applied": "_sandbox",
        "session.*": "_session",
    }
    carries = ("execution_environment",)

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.latest = facts.latest()
        self.workspace: Any = None
        self.workspace_since = -1
        """The event that told another workspace than the one before."""

    def _exists(self, fact: Fact) -> None:
        self.latest.tell("exists", fact.index, fact.origin, True)

    def _sandbox(self, fact: Fact) -> None:
        self._exists(fact)
        if (cwd := fact.told("cwd", "sandbox_profile")) is not None:
            self.latest.tell("cwd", fact.index, fact.origin, cwd)

    def _session(self, fact: Fact) -> None:
        if (workspace := fact.payload.get("workspace_id")) is not None:
            self.workspace_since = fact.index if workspace != self.workspace else self.workspace_since
            self.workspace = workspace

    def meet(self, fact: Fact) -> None:
        self._exists(fact)
        told = self.facts.records.copy("execution_environment", fact.side("execution_environment"))
        for name, value in told.items():
            self.latest.tell(name, fact.index, fact.origin, value)

    def build(self, scope: Scope) -> dict[str, Any] | None:
        """The `execution_environment_snapshot`."""
        shown = self.shown(scope)
        processes = self.facts.of(Processes)
        return None if shown is None else {**shown, "active_processes": Later(lambda: processes.active(scope))}

    def scopes(self) -> list[Scope]:
        """Every scope that has an environment."""
        return self.latest.scopes("exists")

    def shown(self, scope: Scope) -> dict[str, Any] | None:
        """An environment without what is at work in it."""
        if self.latest.get("exists", scope) is None:
            return None
        boundary = self.facts.of(Permissions).latest.value("sandbox", scope)
        sandbox = as_record(boundary)

        def told(name: str, otherwise: Any = None) -> Any:
            value = self.latest.value(name, scope)
            return value if value is not None else otherwise

        return present(
            workspace_id=told("workspace_id", self.workspace),
            workspace_roots=told("workspace_roots", _roots(sandbox)),
            env_ref=told("env_ref", sandbox.get("environment_ref")),
            sandbox_profile=boundary if boundary is not None else told("sandbox_profile"),
            network_profile=told("network_profile", sandbox.get("network")),
            process_limits=told("process_limits", sandbox.get("process_limits")),
            **{name: told(name) for name in ("cwd", "shell", "os", "arch", "override_reason")},
        )


def _roots(sandbox: dict[str, Any]) -> list[Any] | None:
    told = [sandbox[name] for name in ("write_roots", "read_roots") if isinstance(sandbox.get(name), list)]
    return distinct(root for roots in told for root in roots) if told else None
