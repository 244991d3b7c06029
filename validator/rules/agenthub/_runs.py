"""What AgentHub rules remember of each run: its plan and checks, its approvals, calls, artifacts and triage facts."""

from __future__ import annotations

from validator.protocol.honest import is_honest, known
from validator.protocol.regex import compiled
from validator.records import dataclass, field
from validator.replay.step import Move, Step
from validator.replay.world import World
from validator.rules.agenthub._asked import Approval, Asked, Group
from validator.rules.agenthub._paths import Paths
from validator.rules.agenthub._tools import action_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ASKED = ("actionKind", "affectedFiles", "commandPreview", "expiresAt", "patchId")
_PATHS = ("path", "file_path", "filePath", "filename", "file")
"""What tools call the file they read."""
EVIDENCE = ("message", "tool", "file", "artifact")
"""Families whose events show what a runtime did."""


@dataclass(slots=True)
class Call:
    """A tool call that waits for its result, or has just got it."""

    kind: str | None
    input: dict[str, Any]
    line: int

    @property
    def path(self) -> str | None:
        """The file the call is about."""
        return next((value for value in map(self.input.get, _PATHS) if isinstance(value, str)), None)

    @property
    def command(self) -> str | None:
        """The command of a shell call, as far as it is told."""
        value = self.input.get("command")
        return value if isinstance(value, str) else None


@dataclass(slots=True)
class Run:
    """The facts of one run that later events are held against."""

    sessions: dict[str, int] = field(default_factory=dict)
    plan: dict[str, Any] | None = None
    allowlist: tuple[Paths | None, ...] = ()
    """The admitted paths of the plan, as far as it tells them plainly; nothing until somebody asks for them."""
    checks: dict[str, Any] | None = None
    told: dict[str, int] = field(default_factory=dict)
    """The last line that told the plan, the checks or a phase."""
    evidence: int | None = None
    silent: bool = False
    """It passed a phase without an event, so the phase it is really in is not known."""
    called: set[str] = field(default_factory=set)
    calls: dict[str, Call] = field(default_factory=dict)
    """The calls that wait for their results."""
    answered: Call | None = None
    """The call that the present line answers."""
    reads: list[tuple[str, int, int]] = field(default_factory=list)
    """Path, call and result of reads by a tool that nothing has recorded yet."""
    recorded: set[str] = field(default_factory=set)
    artifacts: dict[str, tuple[str | None, int]] = field(default_factory=dict)
    patches: dict[str, tuple[dict[str, Any], int]] = field(default_factory=dict)
    triage: list[tuple[str, int]] = field(default_factory=list)
    applying: dict[str, Any] | None = None
    """What the last apply.started told."""
    applied: bool = False


class Runs:
    """Every run of the capture, and every approval by its id."""

    forgets = ("_runs", "_asked", "approvals")

    def __init__(self, world: World):
        self._world = world
        self._runs: dict[str, Run] = {}
        self._over: str | None = None
        self._asked: dict[str, Asked] = {}
        self.approvals: dict[str, Approval] = {}

    def of(self, step: Step) -> Run:
        """The run an event belongs to; an empty one when it names none."""
        return self._runs.get(step.scope.get("run_id", ""), Run())

    def asked(self, run_id: str | None) -> Asked:
        """The approvals of a run."""
        return self._asked.get(run_id or "") or Asked()

    def covering(self, run_id: str | None, gate: dict[str, Any], call: Call) -> list[Group]:
        """The approvals that a call can rest on."""
        return self.asked(run_id).covering(covering(gate, call.kind), call.command, call.kind == "shell")

    def apply(self, step: Step) -> None:
        self._forget()
        for move in step.moves:
            if move.machine == "approval" and move.source != move.target and move.subject in self.approvals:
                self._stand(self.approvals[move.subject], move.target)
        run_id = step.scope.get("run_id")
        if step.kind != "event" or run_id is None:
            return
        run = self._runs.setdefault(run_id, Run())
        run.answered = None
        session = step.scope.get("session_id")
        if session is not None:
            run.sessions.setdefault(session, step.number)
        if self._world.protocol.family_of.get(step.type or "") in EVIDENCE and run.evidence is None:
            run.evidence = step.number
        teller = _TELLERS.get(step.type or "")
        if teller:
            teller(run, payload(step), step.number)
        run.silent = run.silent or any(move.row.clause == "AH-29" for move in step.moves)
        if step.type == "run.approval.requested":
            self._ask(step, run_id)
        if self._world.state("run", run_id) in {"Completed", "Failed", "Cancelled"}:
            self._over = run_id

    def _stand(self, approval: Approval, state: str) -> None:
        asked = self._asked.get(approval.run_id)
        if asked is not None:
            asked.stand(approval, state)

    def _ask(self, step: Step, run_id: str) -> None:
        name = step.scope.get("approval_id")
        if name is not None and name not in self.approvals:
            request = {key: value for key, value in payload(step).items() if key in _ASKED}
            state = self._world.state("approval", name)
            self.approvals[name] = approval = Approval(name, run_id, request, step.number, state)
            self._asked.setdefault(run_id, Asked()).enter(approval)

    def _forget(self) -> None:
        """Drops what only an open run needs, once the rules have seen its end."""
        over, self._over = self._over, None
        run = self._runs.get(over or "")
        if over is not None and run is not None:
            self._runs[over] = Run(sessions=run.sessions, told=run.told, triage=run.triage)


def payload(step: Step) -> dict[str, Any]:
    """The payload of an event, empty when it is none."""
    value = step.line.get("payload")
    return value if isinstance(value, dict) else {}


def word(told: dict[str, Any], name: str) -> str:
    """A word of a payload; empty when there is none or it is something else."""
    value = told.get(name)
    return value if isinstance(value, str) else ""


def whole(world: World, step: Step) -> bool:
    """True when the run of an event began in the capture and no line was lost, so that absence is a fact."""
    return step.scope.get("run_id") in world.subjects("run") and world.unproved(step) is None


def history(world: World, step: Step) -> tuple[int, ...]:
    """The lines at which the run of an event changed its state."""
    subject = world.subjects("run").get(step.scope.get("run_id", ""))
    return tuple(subject.history) if subject else ()


def entity(step: Step) -> tuple[str, str] | None:
    run_id = step.scope.get("run_id")
    return ("run", run_id) if run_id else None


def moved(step: Step) -> Move | None:
    """The move that the run itself made."""
    return next((move for move in step.moves if move.machine == "run"), None)


def decided(world: World, approval: Approval) -> tuple[int, ...]:
    """The lines at which an approval was asked for and decided."""
    subject = world.subjects("approval").get(approval.approval_id)
    return tuple(subject.history) if subject else (approval.line,)


def policy(run: Run, kind: str) -> str | None:
    """The gate that the approval policy of a run names for an action: allow, ask, deny; default; None when untold."""
    told = known((run.plan or {}).get("approvalPolicy"))
    gates = told.get("gates", {}) if isinstance(told, dict) else None
    if not isinstance(gates, dict) or is_honest(gates):
        return None
    return str(gates.get(kind, "default"))


def gate_of(world: World, kind: str | None) -> dict[str, Any] | None:
    """The row of the gates table that an action falls under; reads have two and are no matter of asking."""
    rows = [row for row in world.protocol.tables["gates"]["rows"] if kind in row["values"]["actions"]]
    return rows[0] if len(rows) == 1 else None


def covering(gate: dict[str, Any], kind: str | None) -> tuple[str, ...]:
    """The action kinds whose approval covers an action: writes and patches are one matter, a commit is not a push."""
    actions = tuple(gate["values"]["actions"])
    return actions if kind in {"file_write", "patch_apply"} else (str(kind),)


def performed(step: Step) -> bool:
    """True when a tool result tells that the tool did its work; an error or an honest doubt does not."""
    return not payload(step).get("isError")


def absolute(path: str) -> bool:
    """True for a path that starts at a root, a drive, a home or a scheme."""
    return compiled(r"[/\\~]|[A-Za-z]:|file:").match(path) is not None


def climbs(path: Any) -> bool:
    """True when a relative path leads out of the folder it starts in."""
    depth = 0
    for part in path.replace("\\", "/").split("/") if isinstance(path, str) else ():
        depth += -1 if part == ".." else part not in {"", "."}
        if depth < 0:
            return True
    return False


def demanded(context: Any, clause: str) -> bool:
    """True when the profile makes a demand of what the protocol only permits."""
    return context.level(clause) == "MUST"


def _plan(run: Run, told: dict[str, Any], line: int) -> None:
    if isinstance(told.get("plan"), dict):
        run.plan, run.allowlist = told["plan"], ()
        run.told["plan"] = line
    if isinstance(told.get("checks"), dict):
        run.checks = told["checks"]
        run.told["checks"] = line


def _planned(run: Run, told: dict[str, Any], line: int) -> None:
    run.told["run.planned"] = line
    _plan(run, {"plan": told}, line)


def _prepared(run: Run, told: dict[str, Any], line: int) -> None:
    run.told["run.preparing"] = line
    _plan(run, {"checks": told.get("checks")}, line)


def _called(run: Run, told: dict[str, Any], line: int) -> None:
    arguments = known(told.get("input"))
    entry = Call(action_of(told.get("toolName")), arguments if isinstance(arguments, dict) else {}, line)
    run.calls[str(told.get("callId"))] = entry
    run.called.add(str(told.get("callId")))


def _came_back(run: Run, told: dict[str, Any], line: int) -> None:
    run.answered = run.calls.pop(str(told.get("callId")), None)
    path = run.answered.path if run.answered and run.answered.kind == "file_read" else None
    if run.answered and path is not None and not told.get("isError") and not climbs(path):
        run.reads.append((path, run.answered.line, line))


def _read(run: Run, told: dict[str, Any], line: int) -> None:
    run.recorded.add(str(told.get("path")))


def _proposed(run: Run, told: dict[str, Any], line: int) -> None:
    patch = told.get("patchId")
    run.patches[patch if isinstance(patch, str) else f"line {line}"] = (told, line)


def _announced(run: Run, told: dict[str, Any], line: int) -> None:
    if isinstance(told.get("artifactId"), str):
        run.artifacts.setdefault(told["artifactId"], (told.get("kind"), line))


def _triaged(run: Run, told: dict[str, Any], line: int) -> None:
    run.triage.append((str(told.get("code")), line))


def _applying(run: Run, told: dict[str, Any], line: int) -> None:
    run.applying = told


def _applied(run: Run, told: dict[str, Any], line: int) -> None:
    run.applied = True


_TELLERS = {
    "run.created": _plan,
    "run.planned": _planned,
    "run.preparing": _prepared,
    "run.started": _plan,
    "run.tool.call": _called,
    "run.tool.result": _came_back,
    "run.file.read": _read,
    "run.patch.proposed": _proposed,
    "run.artifact.ready": _announced,
    "run.preview.ready": _announced,
    "run.apply.started": _applying,
    "run.apply.completed": _applied,
    "runtime.unavailable": _triaged,
    "runtime.timeout": _triaged,
    "schema.validation_failed": _triaged,
}
