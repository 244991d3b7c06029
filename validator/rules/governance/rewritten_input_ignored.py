"""A decision or a hook rewrote the input, and something else was taken as the input afterwards.

Why: who rewrote it did so to make it safe; running the old input undoes that silently.
Trips: hook.completed with updated_input_ref, then tool.started with another args_ref.
Near miss: tool.started has the rewritten reference as args_ref.
Fix: Run the rewritten input, and state its reference as args_ref.
"""

from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import finding, rule, seen
from validator.rules.governance._questions import Questions
from validator.rules.governance._said import permits, said


class Rewrites:
    """The last rewritten input of each call, who rewrote it and where."""

    hears = ("permission.evaluated", "hook.completed", "action.resolved", "tool.result", "tool.failed")
    forgets = ("latest",)

    def __init__(self, world: World):
        self._world = world
        self.latest: dict[str, tuple[str, str, tuple[int, ...]]] = {}

    def apply(self, step: Step) -> None:
        if step.kind != "event":
            return
        call, ref, clause, lines = step.scope.get("tool_call_id"), None, "", (step.number,)
        if step.type == "permission.evaluated":
            ref, clause = permits(step.line, "updated_input_ref"), "PERM-27"
        elif step.type == "hook.completed" and said(step.line, "hook_point") in {
            "pre_tool_use",
            "permission_request",
            None,
        }:
            ref, clause = said(step.line, "updated_input_ref", "hook_run"), "HOOK-11"
            subjects = [move.subject for move in step.moves if move.machine == "hook"]
            lines = tuple(line for key in subjects for line in self._world.subjects("hook")[key].history)
        elif step.type == "action.resolved" and said(step.line, "decision") == "modified":
            question = self._world.ledger(Questions).all.get(step.scope.get("action_id", ""))
            if question and (question.answered in {None, step.number}):
                call, ref, clause = question.call, said(step.line, "modified_input_ref"), "ACT-14"
                lines = (question.line, step.number)
        elif step.type in {"tool.result", "tool.failed"}:
            self.latest.pop(call or "", None)
        if call and isinstance(ref, str):
            self.latest[call] = (ref, clause, lines)


@rule(
    "GOV014",
    "rewritten-input-ignored",
    clauses={"agent-runtime": ("PERM-27", "HOOK-11", "ACT-14")},
    on=("tool.started", "tool.args"),
    needs=(Rewrites, Questions),
)
def check(step, world, context):
    call, ref = step.scope.get("tool_call_id", ""), said(step.line, "args_ref")
    found = world.ledger(Rewrites).latest.get(call)
    if found is None or ref is None:
        return
    rewritten, clause, lines = found
    yield seen(clause)
    if ref != rewritten:
        subject = world.subjects("tool_call").get(call)
        yield finding(
            step,
            "the rewritten input",
            "a reference to another input",
            pointer="/payload/args_ref",
            clause=clause,
            entity=("tool_call", call),
            witness=(*lines, *(subject.history if subject else ())),
        )
