"""Faults about decisions, boundaries, secrets and what is not known."""

from dataclasses import replace

from reference_runtime import service
from reference_runtime.scripts import player
from reference_runtime.stamping import Draft
from tests.broken.runtimes import BOUNDARY, SHELL, Fault, do, submit, task_acts

WAITS = {"work": [{"ask": {"question": {"action_type": "ask_user", "prompt": "Q", "decisions": ["answered"]}}}]}


class ResumesWithoutADecision(Fault):
    """It answers its own question, and goes on as if a person had."""

    rule = "GOV001"
    scripts = {"work": [{"catalog": {}}, {"tool": SHELL}]}

    def tamper(self, draft, state):
        yield draft
        if draft.type == "action.required":
            said = {"decision": "approved", "decided_by": "reviewer", "decision_source": "human"}
            yield Draft("action.resolved", draft.ids, {**said, "payload_hash": draft.payload["payload_hash"]})
            ids = {name: value for name, value in draft.ids.items() if name != "action_id"}
            link = {"approval_action_id": draft.ids["action_id"], "decision_source": "human", "actor": "reviewer"}
            yield Draft("permission.resolved", ids, {"decision": "allowed", "scope": "once", **link})


class WorksBeforeTheAnswer(Fault):
    """A call makes progress while its question is open."""

    rule = "STA001"
    scripts = {"work": [{"catalog": {}}, {"tool": SHELL | {"person": {"decision": "approved"}}}]}

    def tamper(self, draft, state):
        yield draft
        if draft.type == "action.required":
            ids = {name: value for name, value in draft.ids.items() if name != "action_id"}
            yield Draft("sandbox.applied", ids, BOUNDARY)
            yield Draft("tool.progress", ids, {"message": "Already on it."})


class RunsWithoutADecision(Fault):
    """It runs a command that nobody decided about."""

    rule = "GOV004"
    scripts = {"work": [{"tool": SHELL | {"decision": "allow"}}]}

    def tamper(self, draft, state):
        return [] if draft.type == "permission.evaluated" else [draft]


class RunsAnotherPayload(Fault):
    """A person is asked about one payload, and another one runs."""

    rule = "GOV015"
    scripts = {"work": [{"catalog": {}}, {"tool": SHELL | {"person": {"decision": "approved"}}}]}

    def tamper(self, draft, state):
        if draft.type == "tool.started":
            return [replace(draft, payload={**draft.payload, "payload_hash": f"sha256:{'0' * 64}"})]
        return [draft]


class TakesSilenceForAYes(Fault):
    """A question that nobody answers in time counts as approved."""

    rule = "GOV017"
    asks = SHELL | {"question": {"expires_at": "2026-05-08T10:00:00Z", "timeout_ms": 1000}}
    scripts = {"work": [{"catalog": {}}, {"tool": asks}]}
    acts = [submit(), {"run": True}, {"expire": True}]

    def tamper(self, draft, state):
        if draft.type in {"action.resolved", "permission.resolved"}:
            word = "approved" if draft.type == "action.resolved" else "allowed"
            return [replace(draft, payload={**draft.payload, "decision": word})]
        return [draft]

    def patch(self, patcher):
        # It does not even wait until the time is up.
        patcher.setattr(player.VirtualClock, "not_before", lambda self, moment: None)


class RunsWithoutABoundary(Fault):
    """It starts a process before any sandbox was applied."""

    rule = "GOV005"

    def tamper(self, draft, state):
        return [] if draft.type == "sandbox.applied" else [draft]


class CompletesWithAnOpenQuestion(Fault):
    """A turn ends while somebody is still being asked."""

    rule = "TRM002"
    scripts = {
        "work": [
            {"ask": {"question": {"action_type": "approval", "prompt": "Q", "decisions": ["approved"]}}},
            {"fact": {"type": "turn.failed", "payload": {"reason": "policy"}}},
        ]
    }
    acts = [submit(), {"run": True}, do("interrupt_turn", session_id="s", reason="r")]

    def tamper(self, draft, state):
        return [] if draft.type == "action.resolved" else [draft]


class LeaksAHomePath(Fault):
    """What a person wrote goes into events as it stands, path and all."""

    rule = "RED002"
    acts = task_acts(do("pause_task", task_id="task_a", reason="see /home/ada/notes.md"))

    def patch(self, patcher):
        patcher.setattr(service, "clean", lambda event: event)


class DropsAQuestionInCompaction(Fault):
    """A compaction keeps everything but the question that is open."""

    rule = "TRM023"
    told = True
    scripts = WAITS
    ids = {"session_id": "s", "thread_id": "t"}
    before = {"trigger": "manual", "affected_turn_ids": ["turn_a"], "tokens_before": 9}
    after = {"summary_ref": "x://1", "continuation_ref": "x://2", "tokens_before": 9, "tokens_after": 1}
    acts = [
        submit(),
        {"run": True},
        {"fact": "context.compaction.started", "ids": ids, "payload": before},
        {"fact": "context.compaction.completed", "ids": ids, "payload": {**after, "preserved_action_ids": []}},
    ]


class InventsAPrice(Fault):
    """A price that nobody knows is told as low."""

    rule = "UNK004"
    scripts = {"work": [{"route": {}}, {"model": {"say": ["a"]}}]}

    def tamper(self, draft, state):
        if draft.type == "cost.estimated":
            unknown = {"honest": "unknown", "reason": "No price list."}
            return [replace(draft, payload={**draft.payload, "estimated_total_cost": unknown})]
        return [draft]
