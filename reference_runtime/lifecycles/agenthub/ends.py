"""The three ends of a run, and what leads to them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from reference_runtime.errors import CommandRejected
from reference_runtime.facts.record import Record
from reference_runtime.lifecycles.agenthub import lines
from reference_runtime.lifecycles.agenthub.lines import Draft, Payload, owned
from reference_runtime.lifecycles.book import Page
from reference_runtime.stamping import read

Drafts = Iterator[Draft]
RESERVED = frozenset({"approval_rejected", "approval_cancelled"})
"""Reasons that belong to decisions about approvals."""


def complete(page: Page, run: Record, answer: str, usage: dict[str, Any]) -> Drafts:
    """The run ended as intended; thin evidence is said to be thin."""
    payload: Payload = {
        "finalResponse": answer,
        "artifacts": list(run.data.get("artifacts", {}).values()),
        "diffState": _diff_state(page, run),
        "metrics": _metrics(page, run, usage),
        "audit": {"refs": [_sealed(page, run)]},
        "transcriptRef": _transcript(page, run),
    }
    if reason := thin(page, run):
        payload |= {"degraded": True, "degradedReason": reason}
    yield Draft("run.completed", run.id, payload)


def thin(page: Page, run: Record) -> str | None:
    """Which evidence is missing and why, or None when the events show the whole run."""
    if not run.data.get("evidence"):
        return "The runtime told only that it ended; no message, tool, file or artifact event reached the adapter."
    if waiting := sorted(run.data.get("calls", {}).values()):
        return f"No result came back from {', '.join(waiting)}; the adapter lost the end of the call."
    if unsettled := run.data.get("unsettled"):
        return f"The files do not show whether what {', '.join(unsettled)} allowed was applied; the Edge was cut short."
    return None


def fail(page: Page, run: Record, code: str, message: str, details: Payload | None = None) -> Drafts:
    """The run ended without doing its task; the contract's table gives the first recovery."""
    rows = page.protocol.tables["failures"]["rows"]
    recovery = next(row["text"]["en"]["recovery"] for row in rows if row["id"] == code)
    payload: Payload = {"code": code, "safeMessage": message, "nextAction": f"{recovery}."}
    audit = {"refs": [_sealed(page, run)]}
    yield Draft("run.failed", run.id, {**payload, "details": details or {}, "audit": audit})


def unavailable(page: Page, run: Record, cause: str, message: str) -> Drafts:
    """The runtime is missing, not logged in, not reachable or incompatible."""
    adapter = run.data["wish"]["adapter"]
    told = {"code": "runtime_unavailable", "safeMessage": message, "cause": cause, "adapter": adapter}
    yield Draft("runtime.unavailable", run.id, told)
    yield from fail(page, run, "runtime_unavailable", message, {"cause": cause})


def time_out(page: Page, run: Record, elapsed: int) -> Drafts:
    """The runtime used more time than it was given."""
    limit = run.data["wish"]["timeout_ms"]
    message = f"The runtime was not done within {limit} ms."
    told = {"code": "run_timeout", "safeMessage": message, "timeoutMs": limit, "elapsedMs": elapsed}
    yield Draft("runtime.timeout", run.id, told)
    yield from fail(page, run, "run_timeout", message, {"timeoutMs": limit})


def elapsed(page: Page, run: Record) -> int | None:
    """Milliseconds since the run began to use its time; None before that."""
    begun = run.data.get("preparedAt") or run.data.get("startedAt")
    return _between(begun, page.now()) if begun else None


def schema_fault(page: Page, run: Record, kind: str, pointer: str, expected: str) -> Drafts:
    """An adapter emitted an event of the wrong shape; its value is never repeated."""
    adapter = run.data["wish"]["adapter"]
    message = f"{adapter} emitted {kind} in a shape that its contract does not have."
    told = {"code": "schema_validation_failed", "safeMessage": message, "adapter": adapter}
    place = {"eventType": kind, "pointer": pointer or "/", "expected": expected}
    yield Draft("schema.validation_failed", run.id, told | place)
    yield from fail(page, run, "schema_validation_failed", message, {"eventType": kind})


def cancel(page: Page, run: Record, actor: Payload, reason: str, message: str | None) -> Drafts:
    """Somebody ends the run, in whichever phase it is."""
    if reason in RESERVED:
        raise CommandRejected("reserved_reason", "Only a decision about an approval ends a run for that reason.")
    audit = {"refs": [_sealed(page, run)]}
    yield Draft("run.cancelled", run.id, {"actor": actor, "reason": reason, "message": message, "audit": audit})


def _diff_state(page: Page, run: Record) -> Payload:
    """What became of the changes that were proposed."""
    patches = owned(page, "patch", run.id)
    words = {patch.data["told"]["applyStatus"] for patch in patches}
    if not words:
        return {"status": "none"}
    # A patch that was tried in vain is still a proposal.
    mixed = "partly_applied" if "applied" in words else "proposed"
    status = words.pop() if len(words) == 1 and "failed" not in words else mixed
    return {"status": status, "ref": lines.keep(page, f"diff://{run.id}", [patch.id for patch in patches])}


def _metrics(page: Page, run: Record, usage: dict[str, Any]) -> Payload:
    untold = lines.unavailable("The runtime does not report it.")
    counted = {name: usage.get(name, untold) for name in ("inputTokens", "outputTokens", "costUsd")}
    begun = run.data.get("startedAt")
    duration = _between(begun, page.now()) if begun else untold
    return {"durationMs": duration, **counted, "toolCalls": run.data.get("called", 0)}


def _transcript(page: Page, run: Record) -> Any:
    told = [line["payload"] for line in page.log(run.id) if line["type"] == "run.message.completed"]
    if not told:
        return lines.unavailable("The runtime told no message.")
    return lines.keep(page, f"transcript://{run.id}", told)


def _sealed(page: Page, run: Record) -> str:
    """Audit evidence of the whole run: how many events it had, and the digest of them all."""
    told = [*page.log(run.id), *(line for line in page.events if line["runId"] == run.id)]
    digest = hashlib.sha256("\n".join(json.dumps(line, sort_keys=True) for line in told).encode()).hexdigest()
    return lines.keep(page, f"audit://{run.id}/end", {"events": len(told), "digest": f"sha256:{digest}"})


def _between(begun: str, ended: str) -> int:
    return int((read(ended) - read(begun)).total_seconds() * 1000)
