"""Reference runtimes with exactly one fault each.

A fault is a small class: what it does wrong, the story that brings it out, and the rule that catches it. A broken
runtime asks no state table, for nobody who breaks a rule on purpose would; everything else it does right.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from reference_runtime import service
from reference_runtime.capture import LineCapture
from reference_runtime.domain import task, task_end
from reference_runtime.domain.state import State
from reference_runtime.errors import IllegalMove
from reference_runtime.facts.learn import learn
from reference_runtime.log.memory import MemoryStore
from reference_runtime.scripts import player
from reference_runtime.stamping import Draft

BOUNDARY = {
    "mode": "workspace_write",
    "cwd": ".",
    "read_roots": ["."],
    "write_roots": ["build"],
    "network": "restricted",
}
BOUNDARY |= {"process_limits": {"timeout_ms": 1}}
SHELL = {"name": "shell", "args": {"c": 1}, "process": {"command": "make", "output": ["x"]}, "result": "done"}


def submit(script: str = "work", turn: str = "turn_a", **more: Any) -> dict[str, Any]:
    request = {"session_id": "s", "thread_id": "t", "turn_id": turn, "input_parts": [{"kind": "text", "text": "hi"}]}
    return {"command": "submit_turn", "request": {**request, "options": {"script": script}, **more}}


def task_acts(*acts: dict[str, Any]) -> list[dict[str, Any]]:
    """A session with a task that runs, and then the acts."""
    made = {"command": "create_task", "request": {"session_id": "s", "task_id": "task_a", "objective": "o"}}
    started = {"command": "start_task", "request": {"task_id": "task_a", "run_id": "run_1"}}
    return [submit("silent"), {"run": True}, made, started, *acts]


def do(command: str, **request: Any) -> dict[str, Any]:
    return {
        "command": command,
        "request": request,
        "expect": ["accepted", "queued", "no_op", "rejected", "unavailable"],
    }


class Fault:
    """What a runtime does wrong; by itself it does nothing wrong."""

    rule = ""
    expect = "prefix"
    told = False
    """The fault is in the facts that the story reports, so the story has no version without it."""
    scripts: dict[str, Any] = {"work": [{"catalog": {}}, {"tool": SHELL | {"decision": "allow"}}]}
    acts: list[dict[str, Any]] = [submit(), {"run": True}]

    def tamper(self, draft: Draft, state: State) -> Iterable[Draft]:
        """What is written instead of a draft."""
        return [draft]

    def event(self, event: dict[str, Any]) -> dict[str, Any]:
        """What an event becomes after it was stamped."""
        return event

    def patch(self, patcher: Any) -> None:
        """What else is broken."""


class BrokenRuntime(service.Runtime):
    """A runtime with a fault, which writes what its tables would refuse."""

    fault: Fault

    def _run(self, state: State, decision: Any) -> Any:
        while True:
            try:
                draft = next(decision)
            except StopIteration as end:
                return end.value
            for written in self.fault.tamper(draft, state):
                self._write(state, self.fault.event(self._stamp(state, written)))

    def _write(self, state: State, event: dict[str, Any]) -> None:
        try:
            learn(state, event)
        except IllegalMove:
            state.events.append(event)


def capture_of(fault: Fault, patcher: Any) -> str:
    """What a broken runtime leaves behind after its story."""
    store, text = MemoryStore(), io.StringIO()
    patcher.setattr(player, "Runtime", type("Broken", (BrokenRuntime,), {"fault": fault}))
    fault.patch(patcher)
    story = {"scripts": fault.scripts, "acts": fault.acts}
    player.Player(story, lambda: store, LineCapture(text, completeness=fault.expect)).play()
    return text.getvalue()


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


class SkipsQueueChanged(Fault):
    """A turn waits and is given up, and no queue.changed says so."""

    rule = "CMD016"
    scripts = {"work": [{"ask": {"question": {"action_type": "ask_user", "prompt": "Q", "decisions": ["answered"]}}}]}
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


class RunsWithoutABoundary(Fault):
    """It starts a process before any sandbox was applied."""

    rule = "GOV005"

    def tamper(self, draft, state):
        return [] if draft.type == "sandbox.applied" else [draft]


class ForgetsTheQueueOnRestart(Fault):
    """After a restart a waiting turn starts, and never leaves the queue."""

    rule = "CMD016"
    scripts = SkipsQueueChanged.scripts | {"silent": []}
    answered = do("respond_action", action_id="action_1", decision="answered", answer={"x": 1})
    acts = [submit(), {"run": True}, submit("silent", "turn_b"), {"restart": "kill"}, answered, {"run": True}]
    gone = False

    def tamper(self, draft, state):
        self.gone = self.gone or draft.type == "history.reconstructed"
        return [] if self.gone and draft.type == "queue.changed" else [draft]


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


class CancelsBeforeItsChildren(Fault):
    """A task counts as cancelled while a child of it works on."""

    rule = "TRM011"
    acts = task_acts(
        do("create_task", parent_task_id="task_a", task_id="task_b", objective="o"),
        do("start_task", task_id="task_b"),
        do("cancel_task", task_id="task_a", reason="r"),
    )

    def patch(self, patcher):
        patcher.setattr(task_end, "_tree", lambda state, task: iter([task]))


class LeaksAHomePath(Fault):
    """What a person wrote goes into events as it stands, path and all."""

    rule = "RED002"
    acts = task_acts(do("pause_task", task_id="task_a", reason="see /home/ada/notes.md"))

    def patch(self, patcher):
        patcher.setattr(service, "clean", lambda event: event)


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


class DropsAQuestionInCompaction(Fault):
    """A compaction keeps everything but the question that is open."""

    rule = "TRM023"
    told = True
    scripts = SkipsQueueChanged.scripts
    ids = {"session_id": "s", "thread_id": "t"}
    before = {"trigger": "manual", "affected_turn_ids": ["turn_a"], "tokens_before": 9}
    after = {"summary_ref": "x://1", "continuation_ref": "x://2", "tokens_before": 9, "tokens_after": 1}
    acts = [
        submit(),
        {"run": True},
        {"fact": "context.compaction.started", "ids": ids, "payload": before},
        {"fact": "context.compaction.completed", "ids": ids, "payload": {**after, "preserved_action_ids": []}},
    ]


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


class InventsAPrice(Fault):
    """A price that nobody knows is told as low."""

    rule = "UNK004"
    scripts = {"work": [{"route": {}}, {"model": {"say": ["a"]}}]}

    def tamper(self, draft, state):
        if draft.type == "cost.estimated":
            unknown = {"honest": "unknown", "reason": "No price list."}
            return [replace(draft, payload={**draft.payload, "estimated_total_cost": unknown})]
        return [draft]


FAULTS = sorted(Fault.__subclasses__(), key=lambda fault: fault.__name__)
