"""Streams of AgentHub in which there is very much of one thing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.bench.crowds.written import CREATED, Event, header, snapshot

_CHECKS = ("workspaceAllowlist", "runtimeAvailability", "credentialBoundary")


class _Hub:
    """Tells the events of one AgentHub run, one after the other."""

    def __init__(self) -> None:
        self._sequence = 0

    def tell(self, kind: str, payload: Event) -> Event:
        self._sequence += 1
        head = {"id": f"e{self._sequence}", "sequence": self._sequence, "type": kind, "runId": "r", "sessionId": "s"}
        return {**head, "agentId": "a", "timestamp": CREATED, "payload": payload}

    def begin(self, *allowed: str) -> Iterator[Event]:
        yield header("agenthub")
        origin = {"actor": {"id": "u", "kind": "user"}, "project": {"id": "p", "name": "P"}}
        yield self.tell("run.created", {"task": {"id": "t", "title": "T"}, "agentProfile": {"id": "a"}, **origin})
        policy = {"id": "w", "access": "read_write", "allowlist": list(allowed)}
        yield self.tell("run.planned", {"workspacePolicy": policy})
        yield self.tell("run.accepted", {"edge": {"id": "e"}})
        yield self.tell("run.preparing", {"checks": {name: {"status": "passed"} for name in _CHECKS}})
        yield self.tell("run.started", {"runtime": {"adapter": "cli"}})

    def ask(self, number: int, kind: str, **more: object) -> Event:
        asked = {"approvalId": f"p{number}", "actionKind": kind, "summary": "Fetch the sample data", **more}
        return self.tell("run.approval.requested", asked)

    def approve(self, number: int) -> Event:
        decided = {"approvalId": f"p{number}", "decision": "approved", "basis": "explicit"}
        return self.tell("run.approval.resolved", {**decided, "actor": {"id": "u", "kind": "user"}})

    def call(self, number: int, tool: str, told: Event) -> Iterator[Event]:
        named = {"callId": f"c{number}", "toolName": tool}
        yield self.tell("run.tool.call", {**named, "input": told})
        yield self.tell("run.tool.result", {**named, "content": "done", "isError": False})

    def complete(self) -> Event:
        told = {"finalResponse": "Done.", "artifacts": [], "diffState": {"status": "none"}}
        return self.tell("run.completed", {**told, "metrics": {}, "audit": {"refs": []}, "transcriptRef": "tr://r"})


def commands_beside_approvals(events: int) -> Iterator[Event]:
    """A run with many approvals, and as many commands."""
    hub = _Hub()
    yield from hub.begin("docs")
    for number in range(events // 4):
        yield hub.ask(number, "shell" if number % 2 else "network", commandPreview=f"make part-{number}")
    for number in range(events // 4):
        yield hub.approve(number)
    for number in range(events // 4):
        yield from hub.call(number, "bash", {"command": f"make part-{number}"})


def patches(events: int) -> Iterator[Event]:
    """A run of many patches."""
    hub = _Hub()
    yield from hub.begin("docs")
    for number in range(events):
        told = {"patchId": f"d{number}", "affectedFiles": ["docs/a.md"], "applyStatus": "proposed"}
        yield hub.tell("run.patch.proposed", {**told, "summary": "Another word", "patchRef": f"patch://{number}"})


def reads(events: int) -> Iterator[Event]:
    """A run that may read many folders, and reads a file in each, by a tool and on record."""
    hub = _Hub()
    yield from hub.begin(*(f"d{number}" for number in range(events // 3)))
    for number in range(events // 3):
        yield from hub.call(number, "read_file", {"path": f"d{number}/a.md"})
        told = {"path": f"d{number}/a.md", "readAt": CREATED, "previewRef": "preview://a", "sizeBytes": 3}
        yield hub.tell("run.file.read", told)
    yield hub.complete()


def _view(**told: object) -> Event:
    """A view of which little is known."""
    absent = {"honest": "unknown", "reason": "-"}
    names = ("lastEventAt", "actor", "project", "workspace", "degraded", "degradedReason", "pendingApprovals")
    words = dict.fromkeys(("state", "stateLabel", "reviewMode"), "unknown")
    none = dict.fromkeys(("failureCode", "safeMessage", "nextAction"))
    links = dict.fromkeys(("artifacts", "diff", "transcript", "audit"), absent)
    return snapshot("run_view", {"runId": "r", **words, **none, **dict.fromkeys(names, absent), "links": links, **told})


def views_beside_approvals(events: int) -> Iterator[Event]:
    """A run that asks for many approvals, and its view after each of them, without the approvals."""
    hub = _Hub()
    yield from hub.begin("docs")
    for number in range(events // 2):
        yield hub.ask(number, "network")
        yield _view()


def views_of_one_approval(events: int) -> Iterator[Event]:
    """A run that asks for many approvals, and its view after each of them, with the last one alone."""
    hub = _Hub()
    yield from hub.begin("docs")
    for number in range(events // 2):
        yield hub.ask(number, "network")
        told = {"approvalId": f"p{number}", "actionKind": "network", "effect": "apply", "requestedAt": CREATED}
        summary = {"summary": "Fetch the sample data"}
        yield _view(pendingApprovals=[{**told, **summary}], decidedApprovals=[], patches=[], triage=[])


def views_of_one_result(events: int) -> Iterator[Event]:
    """A run that tells of many patches, artifacts, diffs and facts of triage, and its view, with the last of each."""
    hub = _Hub()
    yield from hub.begin("docs")
    for number in range(events // 5):
        patch = {"patchId": f"d{number}", "affectedFiles": ["docs/a.md"], "applyStatus": "proposed", "approvalId": "p"}
        artifact = {"artifactId": f"f{number}", "kind": "preview", "path": f"docs/{number}.md"}
        diff = {"path": f"docs/{number}.md", "changeSummary": "x", "diffRef": f"diff://{number}"}
        revisions = {"base": {"ref": "a"}, "target": {"ref": "b"}}
        failure = {"code": "runtime_unavailable", "safeMessage": "The CLI is gone.", "nextAction": "Install the CLI."}
        yield hub.tell("run.patch.proposed", {**patch, "summary": "Another word", "patchRef": f"patch://{number}"})
        yield hub.tell("run.artifact.ready", {**artifact, "audit": {"refs": [f"audit://{number}"]}})
        yield hub.tell("run.diff.ready", {**diff, **revisions})
        yield hub.tell("runtime.unavailable", failure)
        links = {"artifacts": [artifact], "diff": [diff], "transcript": None, "audit": [f"audit://{number}"]}
        yield _view(patches=[patch], triage=[], links=links)


def unpreviewed_commands(events: int) -> Iterator[Event]:
    """A run with many approvals of commands, and as many commands that none of them showed."""
    hub = _Hub()
    yield from hub.begin("docs")
    for number in range(events // 4):
        yield hub.ask(number, "shell", commandPreview=f"make part-{number}")
        yield hub.approve(number)
    for number in range(events // 4):
        yield from hub.call(number, "bash", {"command": f"rm page-{number}"})


def kinds_of_approvals(events: int) -> Iterator[Event]:
    """A run that asks for approvals of ever other kinds, and as many commands."""
    hub = _Hub()
    yield from hub.begin("docs")
    for number in range(events // 4):
        yield hub.ask(number, f"kind-{number}", **({"commandPreview": f"make part-{number}"} if number % 2 else {}))
        yield hub.approve(number)
    for number in range(events // 4):
        yield from hub.call(number, "bash", {"command": f"make part-{number}"})


CROWDS: dict[str, Callable[[int], Iterator[Event]]] = {
    "commands beside approvals": commands_beside_approvals,
    "patches of one run": patches,
    "reads of many folders": reads,
    "views beside approvals": views_beside_approvals,
    "views of one approval among many": views_of_one_approval,
    "views of one result among many": views_of_one_result,
    "unpreviewed commands": unpreviewed_commands,
    "kinds of approvals": kinds_of_approvals,
}
"""By what there is much of."""
