"""What a runtime does while its run is at work: it talks, calls tools, proposes changes and shows results."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from reference_runtime.errors import CommandRejected
from reference_runtime.facts.record import Record
from reference_runtime.lifecycles.agenthub import approvals, ends, gates, lines
from reference_runtime.lifecycles.agenthub.folder import LONGEST, Folder, covered, digest, inside, text_of
from reference_runtime.lifecycles.agenthub.lines import Draft, Payload, keep, not_applicable, tool_result
from reference_runtime.lifecycles.agenthub.places import Edge
from reference_runtime.lifecycles.book import Page

Drafts = Iterator[Draft]
STREAMED = ("run.message.delta", "run.message.completed", "run.diff.ready", "run.artifact.ready", "run.preview.ready")
"""What an adapter may report as it is; everything else goes through a gate or is the Edge's to tell."""
_LOCAL = ("messageId", "artifactId", "diffId")
"""Ids that a runtime gives within its run."""


@dataclass(frozen=True, slots=True)
class Action:
    """A tool call as the runtime asks for it."""

    tool: str
    input: dict[str, Any] = field(default_factory=dict)
    summary: str | None = None
    needed: bool = False
    """The run cannot go on without it."""
    result: str = "Done."
    """What the scripted tool gives back when it is let."""
    fails: bool = False

    @property
    def kind(self) -> str | None:
        return gates.TOOLS.get(self.tool)

    @property
    def reaches(self) -> str | None:
        """The path it works on, where it works on one; a file action without a path reaches nowhere."""
        return self.input.get("path", "" if self.kind in {"file_read", "file_write"} else None)


def report(page: Page, run: Record, kind: str, payload: Payload) -> Drafts:
    """Takes in what an adapter emits; a wrong shape ends the run, because nothing after it can be trusted."""
    if kind not in STREAMED:
        raise CommandRejected("not_streamed", "An adapter does not tell this by itself.")
    _need_started(run)
    told = {**payload, **{name: f"{run.id}-{payload[name]}" for name in _LOCAL if isinstance(payload.get(name), str)}}
    draft = Draft(kind, run.id, told)
    if fault := _fault(page, draft):
        yield from ends.schema_fault(page, run, kind, *fault)
    else:
        yield draft


def _need_started(run: Record) -> None:
    if "startedAt" not in run.data:
        raise CommandRejected("not_started", "The run has not started.")


def _fault(page: Page, draft: Draft) -> tuple[str, str] | None:
    """Where an adapter's event is wrong, and what would be right there."""
    event = lines.stamp(page, draft)
    errors = list(page.protocol.store.errors(page.protocol.schema_for(draft.type), event))
    if errors:
        return errors[0].pointer, errors[0].message
    if "path" in draft.payload and not inside(draft.payload["path"]):
        return "/payload/path", "a path inside the workspace"
    if draft.payload.get("kind") in {"patch", "diff"}:
        return "/payload/kind", "a patch or diff through its own event"
    return None


def act(page: Page, run: Record, edge: Edge, action: Action) -> Drafts:
    """A tool call meets its gate: it goes ahead, waits for a reviewer, or is denied, and is on record in each case."""
    call = page.new_id("call")
    yield Draft("run.tool.call", run.id, {"callId": call, "toolName": action.tool, "input": _shown(action.input)})
    gate = gates.tool_gate(
        page.protocol,
        action.tool,
        run.data["plan"]["approvalPolicy"]["gates"],
        admitted=action.reaches is None or covered(action.reaches, edge.allowlist),
        owned_secret=action.input.get("name") in edge.flows,
    )
    if gate.verdict == "deny":
        yield from _denied(page, run, call, action, gate)
    elif gate.asks:
        kept = {"tool": action.tool, "call": call, "result": action.result, "fails": action.fails}
        kept |= _writing(run, edge, action)
        yield from approvals.request(page, run, action.kind, _question(run, action), kept)
    elif action.kind == "file_read":
        yield from _read(page, run, edge, call, action)
    else:
        yield tool_result(run.id, call, action.tool, action.result, failed=action.fails)


def _writing(run: Record, edge: Edge, action: Action) -> dict[str, Any]:
    """The files that an action would write, and what they hold now."""
    if action.kind != "file_write":
        return {}
    path = action.input["path"]
    before = {path: digest(workspace(run, edge), path)}
    return {"changes": {path: action.input.get("text", "")}, "before": before}


def workspace(run: Record, edge: Edge) -> Folder:
    """The files of the workspace that a run works in; a run that started has one (AH-26)."""
    return edge.workspaces[run.data["workspace"]["id"]]


def _denied(page: Page, run: Record, call: str, action: Action, gate: gates.Gate) -> Drafts:
    yield tool_result(run.id, call, action.tool, f"Denied: {gate.text}.", failed=True)
    # A run that waits for a decision cannot have been ended by policy (AH-123); its runtime learns of the refusal.
    if action.needed and run.state != "NeedsApproval":
        message = f"Policy refused {action.tool}, and the run cannot go on without it."
        yield from ends.fail(page, run, "permission_denied", message, {"gate": gate.id, "toolName": action.tool})


def _shown(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments as events may show them: neither a path that leads outside, nor the text of a file."""
    shown = {name: value for name, value in arguments.items() if name != "text"}
    if "path" in shown and not inside(shown["path"]):
        shown["path"] = "outside"
    return shown


def _question(run: Record, action: Action) -> Payload:
    """What a reviewer is asked, named as the action it is."""
    path = action.input.get("path")
    target = action.input.get("command") or action.input.get("destination") or path or action.tool
    return {
        "summary": action.summary or f"Let {action.tool} act on {target}",
        "commandPreview": action.input.get("command"),
        "workspace": run.data.get("workspace"),
        "destination": action.input.get("destination"),
        "affectedFiles": [path] if path is not None else None,
    }


def _read(page: Page, run: Record, edge: Edge, call: str, action: Action) -> Drafts:
    """A read inside the workspace needs no approval, because it is on record."""
    path, at = action.input["path"], page.now()
    try:
        data, size = workspace(run, edge).read(path, LONGEST)
    except OSError:
        yield tool_result(run.id, call, action.tool, "There is no file to read.", failed=True)
        return
    preview = keep(page, f"preview://{run.id}/{call}", data.decode(errors="replace"))
    yield Draft("run.file.read", run.id, {"path": path, "readAt": at, "previewRef": preview, "sizeBytes": size})
    yield tool_result(run.id, call, action.tool, f"{size} bytes read", failed=False)


def propose(page: Page, run: Record, edge: Edge, changes: dict[str, str], summary: str) -> Drafts:
    """A patch: a diff for every file, the proposal, and the question whether it may be applied."""
    _need_started(run)
    if not changes or not all(covered(path, edge.allowlist) for path in changes):
        raise CommandRejected("outside_allowlist", "A patch changes files inside the allowlisted workspace.")
    policy = run.data["plan"]["approvalPolicy"]["gates"]
    gate = gates.gate_for(page.protocol, "patch_apply", policy)
    patch, approval = page.new_id("patch"), page.new_id("apr")
    folder = workspace(run, edge)
    before = {path: digest(folder, path) for path in changes}
    for path, text in changes.items():
        yield Draft("run.diff.ready", run.id, _diff(page, folder, patch, path, text))
    files, reference = list(changes), keep(page, f"patch://{patch}", changes)
    told: Payload = {"patchId": patch, "affectedFiles": files}
    if gate.asks:
        told |= {"applyStatus": "awaiting_approval", "approvalId": approval}
    else:
        told |= {"applyStatus": "blocked", "approvalId": not_applicable("Policy denies patches to this run.")}
    yield Draft("run.patch.proposed", run.id, {**told, "summary": summary, "patchRef": reference})
    if gate.asks:
        place = {"workspace": run.data.get("workspace"), "patchId": patch, "affectedFiles": files}
        kept = {"tool": "apply_patch", "changes": changes, "before": before}
        yield from approvals.request(page, run, "patch_apply", {"summary": summary, **place}, kept, approval)


def _diff(page: Page, folder: Folder, patch: str, path: str, text: str) -> Payload:
    old = text_of(folder, path).splitlines()
    rows = list(difflib.unified_diff(old, text.splitlines(), path, path, lineterm=""))
    added = sum(row.startswith("+") and not row.startswith("+++") for row in rows)
    removed = sum(row.startswith("-") and not row.startswith("---") for row in rows)
    return {
        "diffId": page.new_id("diff"),
        "base": "workspace",
        "target": f"proposal/{patch}",
        "path": path,
        "changeSummary": f"{added} lines added, {removed} removed",
        "additions": added,
        "deletions": removed,
        "diffRef": keep(page, f"diff://{patch}/{path}", "\n".join(rows)),
    }
