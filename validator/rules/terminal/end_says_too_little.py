"""A failure, a stop or a loss leaves out what a reader needs to act on it.

Why: a program that decides about a retry, and a person who is asked to help, both start from the error.
Trips: turn.failed whose error says neither whether to try again nor what to do.  Near miss: its error says both.
Fix: State the category, whether trying again may help, and what to do next; say who stopped the work and why.
"""

from functools import partial

from validator.rules import rule
from validator.rules.terminal._details import carries, wanting
from validator.rules.terminal._work import told, tracks

CATEGORY = ("error/category", "last_error/category", "failure_category")
RETRY = ("error/retryable", "last_error/retryable", "retryable")
RECOVERY = ("error/recovery", "last_error/recovery", "recovery", "next_attempt_policy")
STRUCTURED = {"category": CATEGORY, "retryable": RETRY, "recovery": RECOVERY}
FAILURES = ("task.failed", "task.attempt.failed", "process.failed", "subagent.failed", "job.failed")


@rule(
    "TRM032",
    "end-says-too-little",
    clauses={
        "agent-runtime": (
            "DONE-5",
            "TURN-21",
            "TURN-22",
            "TASK-39",
            "TASK-40",
            "TASK-41",
            "MOD-13",
            "TOOL-24",
            "JOB-19",
            "PROC-20",
        )
    },
    on=(
        *FAILURES,
        "turn.failed",
        "task.timed_out",
        "task.lost",
        "task.cancel_requested",
        "model.failed",
        "tool.failed",
        "job.item.failed",
        "process.terminated",
    ),
)
def check(step, world, context):
    if step.refusals:
        return
    status = told(step, "status") or step.line.get("status")
    failed, witness = status in (None, "failed"), partial(tracks, world, step)
    if step.type in FAILURES:
        if failed:
            yield from wanting(step, "DONE-5", STRUCTURED, witness)
    elif step.type == "turn.failed":
        yield from _turn(step, status, witness)
    elif step.type == "task.timed_out":
        yield from wanting(step, "TASK-39", {"kind": ("kind",), "limit_ms": ("limit_ms",)}, witness)
    elif step.type == "task.lost":
        yield from wanting(step, "TASK-40", {"last_seen_at": ("last_seen_at", "worker/last_seen_at")}, witness)
    elif step.type == "task.cancel_requested":
        yield from wanting(step, "TASK-41", {"reason": ("reason",), "propagation": ("propagation",)}, witness)
    elif step.type == "process.terminated":
        yield from wanting(step, "PROC-20", {"terminated_by": ("terminated_by",), "reason": ("reason",)}, witness)
    elif failed and step.type == "model.failed":
        yield from wanting(step, "MOD-13", {"retryable": RETRY}, witness)
    elif failed and step.type == "tool.failed":
        yield from wanting(step, "TOOL-24", STRUCTURED, witness)
    elif failed and step.type == "job.item.failed":
        wants = {"attempt_count": ("attempt_count",), "retryable": RETRY, "assignment": ("assignment",)}
        yield from wanting(step, "JOB-19", wants, witness)


def _turn(step, status, witness):
    if status == "cancelled":
        wants = {"reason": ("reason", "error/message", "^/status_reason"), "interrupted_by": ("interrupted_by",)}
        yield from wanting(step, "TURN-22", wants, witness)
    elif carries(step, "error"):
        yield from wanting(step, "TURN-21", STRUCTURED, witness)
