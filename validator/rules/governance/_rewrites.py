"""Inputs that a decision or a hook rewrote."""

from __future__ import annotations

from validator.replay.step import Step
from validator.replay.world import World
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
        call = step.scope.get("tool_call_id")
        if step.type in ("tool.result", "tool.failed"):
            self.latest.pop(call or "", None)
            return
        ref, clause, lines = None, "", (step.number,)
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
        if call and isinstance(ref, str):
            self.latest[call] = (ref, clause, lines)
