"""Faults about tasks, attempts and what a restart leaves behind."""

from dataclasses import replace

from reference_runtime.domain import task, task_end
from reference_runtime.stamping import Draft
from tests.broken.runtimes import Fault, do, task_acts

WAITS = {"work": [{"ask": {"question": {"action_type": "ask_user", "prompt": "Q", "decisions": ["answered"]}}}]}


class CallsALostWorkerDone(Fault):
    """After a restart it says that the task in flight is complete."""

    rule = "UNK002"
    acts = task_acts({"restart": "kill"})

    def tamper(self, draft, state):
        if draft.type == "task.attempt.failed":
            return [Draft("task.attempt.completed", draft.ids, {"completion_summary": "It must have worked."})]
        if draft.type == "task.lost":
            return [Draft("task.completed", draft.ids, {"completion_summary": "It must have worked."})]
        return [draft]


class CompletesWithAnOpenChild(Fault):
    """A task is done while a child of it still works."""

    rule = "TRM005"
    acts = task_acts(
        do("create_task", parent_task_id="task_a", task_id="task_b", objective="o"),
        do("link_tasks", task_id="task_a", relationship={"kind": "child", "target_id": "task_b"}),
        do("complete_task", task_id="task_a"),
    )

    def patch(self, patcher):
        patcher.setattr(task_end, "_delegated", lambda state, task: False)


class CancelsBeforeItsChildren(Fault):
    """A task counts as cancelled while a child of it works on."""

    rule = "TRM011"
    acts = task_acts(
        do("create_task", parent_task_id="task_a", task_id="task_b", objective="o"),
        do("start_task", task_id="task_b"),
        do("cancel_task", task_id="task_a", reason="r"),
    )

    def patch(self, patcher):
        patcher.setattr(task_end, "_tree", lambda state, task: [task])


class ReusesARunId(Fault):
    """A retry takes the id of the attempt that failed."""

    rule = "TRM001"
    acts = task_acts(
        do("fail_task", task_id="task_a", error={"category": "c", "message": "m", "retryable": True, "recovery": "r"}),
        do("retry_task", task_id="task_a", reason="r", run_id="run_1"),
    )

    def patch(self, patcher):
        patcher.setattr(task, "_new_run", lambda state, request: request.get("run_id", "run_1"))

    def tamper(self, draft, state):
        if draft.type == "task.retrying":
            return [replace(draft, payload={"trigger": "failure", "reason": "r"})]
        if draft.type == "task.attempt.started":
            said = {name: value for name, value in draft.payload.items() if name != "prior_run_id"}
            return [replace(draft, payload=said)]
        return [draft]


class OverwritesAnAttempt(Fault):
    """The second attempt calls itself the first."""

    rule = "TRM015"
    acts = task_acts(
        do("fail_task", task_id="task_a", error={"category": "c", "message": "m", "retryable": True, "recovery": "r"}),
        do("retry_task", task_id="task_a", reason="r"),
    )

    def tamper(self, draft, state):
        if draft.type == "task.attempt.started":
            return [replace(draft, payload={**draft.payload, "attempt_count": 1})]
        return [draft]
