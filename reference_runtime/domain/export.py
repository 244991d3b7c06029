"""export_evidence, export_replay, export_review: documents built from the log that the read models are built from."""

from __future__ import annotations

from typing import Any

from reference_runtime.domain.state import Decision, Request, State, ids_of
from reference_runtime.errors import CommandRejected
from reference_runtime.facts.record import Record
from reference_runtime.projections import entries, snapshot
from reference_runtime.stamping import Draft

_GAP = {"signal": "provider request log", "status": "unsupported", "reason": "Scripted providers keep none."}
_SCOPES = ("task_id", "turn_id", "thread_id", "session_id")


def export_evidence(state: State, request: Request) -> Decision:
    return (yield from _export(state, request, "evidence", "pack_ref", _pack))


def export_replay(state: State, request: Request) -> Decision:
    return (yield from _export(state, request, "replay", "replay_ref", _replay))


def export_review(state: State, request: Request) -> Decision:
    return (yield from _export(state, request, "review", "review_ref", _review))


def _export(state: State, request: Request, kind: str, field: str, build: Any) -> Decision:
    """Keeps a document about the scope asked for, behind a reference that the event and the answer share."""
    subject = _subject(state, request)
    last = state.get("stream", subject.session).data["sequence"]
    covered = request.get("as_of_sequence", last)
    if covered > last:
        raise CommandRejected("never_emitted", "The stream has not reached that sequence.", category="invalid_request")
    evidence_id = state.new_id("evidence")
    timeline = [event for event in _timeline(state, subject) if event["sequence"] <= covered]
    asked = any(event["type"] == "model.requested" for event in timeline)
    gaps = [_GAP] if asked else []
    reference = state.keep(f"{kind}://{evidence_id}", build(state, subject, timeline, gaps))
    scope = {name: request[name] for name in _SCOPES if name in request}
    said = {"change": "exported", "export_kind": kind, "scope": scope, field: reference, "known_gaps": gaps}
    ids = {**ids_of(subject), "evidence_id": evidence_id}
    yield Draft("evidence.changed", ids, {**said, "as_of_sequence": covered})
    return {"evidence_id": evidence_id, field: reference, "known_gaps": gaps, "as_of_sequence": covered}


def _subject(state: State, request: Request) -> Record:
    named = [(name, request[name]) for name in _SCOPES if name in request]
    if not named:
        raise CommandRejected("scope_required", "Name the session, thread, turn or task.", category="invalid_request")
    wider = {name: value for name, value in named[1:] if name in {"thread_id", "session_id"}}
    for name, value in named[1:]:
        state.need(name.removesuffix("_id"), value)
    return state.need(named[0][0].removesuffix("_id"), named[0][1], **wider)


def _timeline(state: State, subject: Record) -> list[dict[str, Any]]:
    """The events of the subject, in order."""
    name = f"{subject.kind}_id"
    return [event for event in state.log(subject.session) if event.get(name) == subject.id]


def _failures(timeline: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for event in timeline if event["type"].endswith(".failed")]


def _pack(state: State, subject: Record, timeline: list[dict[str, Any]], gaps: list[Any]) -> dict[str, Any]:
    where = {f"{subject.kind}_id": subject.id}
    read = snapshot(state, "thread_read_model", subject.session, subject.thread) if subject.thread else None
    return {
        "runtime_summary": {"runtime_id": state.settings.runtime_id, "subject": subject.id, "status": subject.state},
        "timeline": timeline,
        "thread_read_model": read,
        "tool_calls": [entries.tool_call(one) for one in state.find("tool_call", **where) if one.known],
        "failures": _failures(timeline),
        "artifact_ids": [one.id for one in state.find("artifact", session_id=subject.session)],
        "known_gaps": gaps,
    }


def _replay(state: State, subject: Record, timeline: list[dict[str, Any]], gaps: list[Any]) -> dict[str, Any]:
    """Input, context, tools and expected behaviour, all as recorded (EVI-10)."""

    def of(kind: str) -> list[dict[str, Any]]:
        return [event for event in timeline if event["type"] == kind]

    return {
        "input": [event["payload"].get("input_ref") for event in of("turn.submitted")],
        "context": [event.get("payload") for event in of("context.resolved")],
        "tool_inventory": [event.get("payload") for event in of("tool.catalog.resolved")],
        "expected": [[event["type"], event.get("payload", {}).get("status")] for event in timeline],
        "known_gaps": gaps,
    }


def _review(state: State, subject: Record, timeline: list[dict[str, Any]], gaps: list[Any]) -> dict[str, Any]:
    decisions = [event for event in timeline if event["type"] in {"action.resolved", "permission.resolved"}]
    return {"subject": subject.id, "decisions": decisions, "failures": _failures(timeline), "known_gaps": gaps}
