"""An event leaves out details without which it cannot be replayed, found or compared.

Why: what was not written down at the time cannot be asked for later.
Trips: turn.submitted without its input.  Near miss: turn.submitted with a reference to it and its source.
Fix: Carry the details that the clause names, or an honest value for what is not known.
"""

from functools import partial

from validator.protocol.honest import is_honest, known
from validator.rules import finding, rule, seen
from validator.rules.terminal._details import wanting
from validator.rules.terminal._work import entries, told, tracks

WANTS = {
    "turn.submitted": ("TURN-18", {"input": ("input_ref", "input_parts"), "source": ("source", "source_channel_id")}),
    "model.requested": ("MOD-10", {"provider": ("provider",), "model": ("model",)}),
    "model.completed": ("MOD-11", {"usage": ("usage",), "stop_reason": ("stop_reason",)}),
    "process.started": (
        "PROC-11",
        {name: (name,) for name in ("cwd", "cwd_validated", "subcommands", "destructive", "network", "justification")},
    ),
    "output.truncated": ("OUT-5", {"truncation": ("truncation",), "kept_bytes": ("kept_bytes",)}),
    "output.redacted": ("OUT-7", {"redacted_fields": ("redacted_fields", "reason"), "redaction": ("redaction",)}),
    "artifact.changed": ("ART-3", {"version_id": ("version_id",), "read_ref": ("read_ref", "preview_ref")}),
    "context.compaction.completed": (
        "CTX-12",
        {"summary": ("summary_ref", "summary_preview"), "history": ("replacement_history_ref", "continuation_ref")},
    ),
    "context.compaction.started": ("CTX-14", {"trigger": ("trigger",), "affected_turn_ids": ("affected_turn_ids",)}),
    "history.rollback.completed": (
        "HIST-11",
        {"target": ("target", "target_turn_id"), "turns": ("removed_turn_ids", "removed_turn_count")},
    ),
    "job.item.started": ("JOB-21", {"assignment": ("assignment",)}),
    "runtime.warning": ("RUN-12", {"code": ("code",)}),
    "runtime.error": ("RUN-12", {"code": ("code",)}),
    "session.updated": (
        "SES-3",
        {"what changed": ("changed", "title", "workspace_id", "account_ref", "active_thread_id", "pinned_thread_ids")},
    ),
}
TOUCHED = {f"affected_{name}_ids": (f"affected_{name}_ids",) for name in ("tool_call", "artifact", "subagent", "job")}
SIZES = {"tokens_before": ("tokens_before",), "tokens_after": ("tokens_after",)}
OWNER = {"owner": ("owner",), "owner_id": ("owner_id",)}
EDGE = ("created_at", "updated_at", "status")
FLAGS = ("is_read_only", "is_destructive", "is_concurrency_safe")
PRODUCERS = ("turn_id", "task_id", "run_id", "tool_call_id")
SCOPES = ("session_id", "thread_id", "turn_id", "task_id", "run_id")


ALONE = {
    kind: tuple(wants.values())
    for kind, (_, wants) in WANTS.items()
    if not kind.startswith(("output.", "context.compaction.completed", "history.", "artifact."))
}
"""The places for each want of those events of which nothing else is asked."""


def is_whole(step, world, context):
    """The key of an event whose payload has all that is wanted of it, and of which nothing else is asked: its type."""
    wants, payload = ALONE.get(step.type), step.line.get("payload")
    if wants is None or step.refusals or not isinstance(payload, dict):
        return None
    for places in wants:
        for place in places:
            if payload.get(place) is not None:
                break
        else:
            return None
    return step.type


@rule(
    "REF016",
    "record-says-too-little",
    clauses={
        "agent-runtime": (
            *dict.fromkeys(clause for clause, _ in WANTS.values()),
            "ART-7",
            "CTX-13",
            "EVI-2",
            "EVI-6",
            "HIST-12",
            "ORC-4",
            "OUT-11",
            "REA-5",
            "TOOL-13",
        )
    },
    on=(*WANTS, "output.*", "evidence.changed", "reasoning.*", "task.dependency.updated", "tool.catalog.resolved"),
    quiet=is_whole,
)
def check(step, world, context):
    if step.refusals or not isinstance(step.line.get("payload", {}), dict):
        return
    witness = partial(tracks, world, step)
    if step.type in WANTS and not (step.type == "artifact.changed" and told(step, "change") == "deleted"):
        yield from wanting(step, *WANTS[step.type], witness)
    if step.type.startswith("output.") and step.type != "output.expired":
        yield from wanting(step, "OUT-11", OWNER, witness)
    elif step.type == "context.compaction.completed":
        yield from wanting(step, "CTX-13", SIZES, witness)
    elif step.type == "history.rollback.completed":
        yield from wanting(step, "HIST-12", TOUCHED, witness)
    elif step.type == "artifact.changed":
        yield from _ids(step, "ART-7", PRODUCERS, "what produced it")
    elif step.type == "evidence.changed":
        yield from _ids(step, "EVI-2", SCOPES, "what it is about")
        yield from _passed(step)
    elif step.type.startswith("reasoning."):
        yield from _ids(step, "REA-5", ("turn_id",), "the turn it belongs to")
    elif step.type == "task.dependency.updated":
        yield from _edge(step)
    elif step.type == "tool.catalog.resolved":
        yield from _tools(step)


def _ids(step, clause, names, what):
    yield seen(clause)
    if not any(step.line.get(name) is not None for name in names):
        yield finding(step, f"an id of {what}", "none", clause=clause)


def _passed(step):
    for index, outcome in enumerate(entries(step, "verification_outcomes")):
        if isinstance(outcome, dict) and outcome.get("status") == "passed":
            yield seen("EVI-6")
            if outcome.get("evidence_ref") is None:
                expected, pointer = "where it is shown that it passed", f"/payload/verification_outcomes/{index}"
                yield finding(step, expected, "no evidence_ref", clause="EVI-6", pointer=pointer)


def _edge(step):
    edge = told(step, "relationship")
    if not isinstance(edge, dict) or told(step, "operation") == "unlinked":
        return
    yield seen("ORC-4")
    missing = [name for name in EDGE if edge.get(name) is None]
    if missing:
        pointer, key = "/payload/relationship", " ".join(missing)
        yield finding(step, ", ".join(EDGE), f"no {', '.join(missing)}", clause="ORC-4", pointer=pointer, key=key)


def _tools(step):
    for index, tool in enumerate(entries(step, "tools")):
        if not isinstance(tool, dict) or known(tool) is None:
            continue
        yield seen("TOOL-13")
        missing = [name for name in FLAGS if tool.get(name) is None and not is_honest(tool.get(name))]
        if missing:
            about = {"clause": "TOOL-13", "pointer": f"/payload/tools/{index}", "key": " ".join(missing)}
            yield finding(step, ", ".join(FLAGS), f"no {', '.join(missing)}", **about)
