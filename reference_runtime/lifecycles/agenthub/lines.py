"""Drafts of events, and how they become lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reference_runtime.facts.record import Record
from reference_runtime.lifecycles.book import Line, Page
from reference_runtime.redaction import clean

Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Draft:
    """An event of a run that was decided and not yet stamped."""

    type: str
    run: str
    payload: Payload = field(default_factory=dict)
    at: str | None = None
    """The moment of the decision, where the decision depends on it."""
    visible: Payload = field(default_factory=dict)
    """The shared session and the agent, where the run is not known yet."""


def stamp(page: Page, draft: Draft) -> Line:
    """An event: id, place in its run, session and agent of the run, time, and a payload without private paths."""
    run = page.get("run", draft.run)
    visible = {name: run.data.get(name) for name in ("sessionId", "agentId")} if run else draft.visible
    event = {
        "id": f"evt_{page.number():06d}",
        "sequence": page.sequence(draft.run) + 1,
        "type": draft.type,
        "runId": draft.run,
        **{name: value for name, value in visible.items() if value is not None},
        "timestamp": draft.at or page.now(),
        "payload": {name: value for name, value in draft.payload.items() if value is not None},
    }
    return clean(event)


def tool_result(run: str, call: str, tool: str, content: str, *, failed: bool) -> Draft:
    """What came back from a tool, or why nothing did."""
    return Draft("run.tool.result", run, {"callId": call, "toolName": tool, "content": content, "isError": failed})


def unavailable(reason: str) -> dict[str, str]:
    """An honest value for what the runtime does not tell."""
    return {"honest": "unavailable", "reason": reason}


def not_applicable(reason: str) -> dict[str, str]:
    """An honest value for what does not exist here."""
    return {"honest": "not_applicable", "reason": reason}


def keep(page: Page, reference: str, content: Any) -> str:
    """Keeps content behind a reference, beside the events and never in them."""
    page.edit("blob", reference).data["content"] = content
    return reference


def owned(page: Page, kind: str, run: str) -> list[Record]:
    """The records of a kind that belong to a run, in the order of their first mention."""
    return page.find(kind, run_id=run)
