"""Faults about commands, the queue, and the order and identity of events."""

from reference_runtime import service
from reference_runtime.stamping import Draft
from tests.broken.runtimes import BrokenRuntime, Fault, do, submit, task_acts

WAITS = {"work": [{"ask": {"question": {"action_type": "ask_user", "prompt": "Q", "decisions": ["answered"]}}}]}


class SkipsQueueChanged(Fault):
    """A turn waits and is given up, and no queue.changed says so."""

    rule = "CMD016"
    scripts = WAITS
    ids = {"session_id": "s", "thread_id": "t", "turn_id": "turn_b"}
    removed = {"operation": "removed", "queued_turn_id": "queued_1", "reason": "r"}
    acts = [
        submit(),
        {"run": True},
        submit("work", "turn_b"),
        {"fact": "queue.changed", "ids": ids, "payload": removed},
    ]

    def tamper(self, draft, state):
        if draft.type == "queue.changed" and draft.payload["operation"] == "removed":
            said = {"status": "cancelled", "reason": "user_cancelled", "interrupted_by": "user"}
            return [Draft("turn.failed", self.ids, said)]
        return [] if draft.type == "queue.changed" else [draft]


class ActsOnARejectedCommand(Fault):
    """It says no, and does it anyway."""

    rule = "CMD004"
    acts = task_acts(do("create_task", session_id="s", task_id="task_b", objective="o"))

    def patch(self, patcher):
        answer = BrokenRuntime._answer

        def lying(self, command, request, *more):
            said = answer(self, command, request, *more)
            error = {"category": "policy", "message": "No."}
            return {"outcome": "rejected", "error": error} if request.get("task_id") == "task_b" else said

        patcher.setattr(BrokenRuntime, "_answer", lying)


class MovesStateOnARead(Fault):
    """Looking at a task changes it."""

    rule = "CMD005"
    acts = task_acts(do("get_task", task_id="task_a"))

    def patch(self, patcher):
        def get_task(state, request):
            yield Draft("task.paused", {"session_id": "s", "task_id": "task_a"}, {"reason": "Somebody looked."})
            written = [event["event_id"] for event in state.events]
            return {"task": {"task_id": "task_a", "status": "paused"}, "event_ids": written}

        patcher.setitem(service.DECISIONS, "get_task", get_task)


class AcceptsAWishForAStranger(Fault):
    """It accepts to change a task that does not exist."""

    rule = "CMD012"
    expect = "complete"
    acts = task_acts(do("complete_task", task_id="task_a"), do("pause_task", task_id="task_nobody", reason="r"))

    def patch(self, patcher):
        def pause_task(state, request):
            return {"task_id": request["task_id"]}
            yield  # a decision is a generator

        patcher.setitem(service.DECISIONS, "pause_task", pause_task)


class SkipsASequence(Fault):
    """Numbers are missing from the stream, and nothing marks the hole."""

    rule = "ORD006"
    expect = "complete"

    def event(self, event):
        return event | {"sequence": event["sequence"] + (3 if event["sequence"] == 5 else 0)}


class ForgetsTheQueueOnRestart(Fault):
    """After a restart a waiting turn starts, and never leaves the queue."""

    rule = "CMD016"
    scripts = WAITS | {"silent": []}
    answered = do("respond_action", action_id="action_1", decision="answered", answer={"x": 1})
    acts = [submit(), {"run": True}, submit("silent", "turn_b"), {"restart": "kill"}, answered, {"run": True}]
    gone = False

    def tamper(self, draft, state):
        self.gone = self.gone or draft.type == "history.reconstructed"
        return [] if self.gone and draft.type == "queue.changed" else [draft]


class ActsOnARepetition(Fault):
    """The same key and the same content take effect a second time."""

    rule = "CMD009"
    same = do("update_task", task_id="task_a", title="x", idempotency_key="k")
    acts = task_acts(same, do("update_task", task_id="task_a", title="y"), same)

    def patch(self, patcher):
        patcher.setattr(service, "_key", lambda command, request: None)


class CountsAnewAfterARestart(Fault):
    """After a restart the stream begins at one again."""

    rule = "ORD007"
    acts = task_acts({"restart": "kill"})
    gone = False

    def event(self, event):
        self.gone = self.gone or event["type"] == "history.reconstructed"
        return event | ({"sequence": event["sequence"] % 5} if self.gone else {})


class ReusesAnEventId(Fault):
    """Two events have one id."""

    rule = "ORD003"

    def event(self, event):
        return event | ({"event_id": "evt_000001"} if event["type"] == "turn.started" else {})


class ChangesItsName(Fault):
    """The same runtime has another id after a restart."""

    rule = "IDN010"
    acts = task_acts({"restart": "kill"})
    gone = False

    def event(self, event):
        self.gone = self.gone or event["type"] == "history.reconstructed"
        return event | ({"runtime_id": "rt_other"} if self.gone else {})
