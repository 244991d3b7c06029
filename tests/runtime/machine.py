"""A Hypothesis machine that treats the runtime as a user, an operator, a worker and a power cut would."""

from __future__ import annotations

import contextlib
import io
import json
from typing import Any

import hypothesis.strategies as st
from hypothesis import settings as hypothesis_settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from reference_runtime.capture import LineCapture
from reference_runtime.errors import IllegalMove
from reference_runtime.log.base import Store
from reference_runtime.log.memory import MemoryStore
from reference_runtime.recovery import recover
from reference_runtime.service import Runtime
from reference_runtime.settings import Settings
from reference_runtime.stamping import VirtualClock
from reference_runtime.work.engine import Worker
from tests.runtime.judging import disagreements, findings

SCRIPTS: dict[str, list[dict[str, Any]]] = {
    "reply": [{"context": {}}, {"catalog": {}}, {"route": {}}, {"model": {"say": ["a", "b"]}}],
    "silent": [],
    "ask": [{"ask": {"question": {"action_type": "ask_user", "prompt": "Which?", "decisions": ["answered"]}}}],
    "shell": [
        {"catalog": {}},
        {"tool": {"name": "shell", "args": {"c": 1}, "process": {"command": "make", "output": ["x", "y"]}}},
    ],
    "read": [
        {"catalog": {}},
        {"tool": {"name": "read_file", "args": {}, "hook": {"answer": {}}, "progress": ["p"], "result": "r" * 90}},
        {"tool": {"name": "deploy", "args": {}}},
    ],
    "fails": [
        {"route": {"candidates": ["acme-large", "acme-small"]}},
        {"model": {"say": ["a"], "fail": {}}},
        {"fallback": {"to_model": "acme-small"}},
        {"model": {"model": "acme-small", "say": ["b"]}},
    ],
}
SESSION = "ses_1"
THREADS = st.sampled_from(["thr_1", "thr_2"])
TURNS = st.sampled_from(["turn_a", "turn_b", "turn_c", "turn_d", "turn_e"])
TASKS = st.sampled_from(["task_a", "task_b", "task_c"])
CHILDREN = st.sampled_from(["sub_a", "sub_b"])
JOBS = st.sampled_from(["job_a", "job_b"])
KEYS = st.none() | st.sampled_from(["k1", "k2", "k3"])
NUMBERS = st.integers(1, 6)
DECISIONS = st.sampled_from(["approved", "denied", "answered", "cancelled", "allow", "modified"])


class RuntimeMachine(RuleBasedStateMachine):
    """Every rule is one act from outside; crashes come between any two of them."""

    @initialize()
    def begin(self) -> None:
        self.text = io.StringIO()
        self.capture = LineCapture(self.text, completeness="prefix")
        self.store, self.clock = self.open_store(), VirtualClock()
        self.answers: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {}
        self.acknowledged: set[str] = set()
        self.boot()
        self.send("submit_turn", session_id=SESSION, thread_id="thr_1", input_parts=[{"kind": "text"}])

    def open_store(self) -> Store:
        return MemoryStore()

    def boot(self) -> None:
        self.runtime = Runtime(self.store, Settings(scripts=SCRIPTS), self.clock, self.capture)
        self.worker = Worker(self.runtime)

    def send(self, command: str, key: str | None = None, **request: Any) -> dict[str, Any]:
        """Sends a command, and checks what holds for every answer."""
        request = {name: value for name, value in request.items() if value is not None}
        if key:
            request["idempotency_key"] = key
        before = self.store.position()
        answer = self.runtime.handle(command, request)
        if answer["outcome"] in {"rejected", "no_op"}:
            assert self.store.position() == before, (command, answer)
        place = f"{command}|{key}"
        if key and place in self.answers:
            self.check_repetition(place, request, answer, before)
        elif key:
            self.answers[place] = (command, request, answer)
        self.acknowledged |= set(answer.get("event_ids", ()))
        return answer

    def check_repetition(self, place: str, request: Any, answer: Any, before: int) -> None:
        _, first_request, first_answer = self.answers[place]
        assert self.store.position() == before, "a repetition took effect"
        if first_request == request:
            assert answer == first_answer
        else:
            assert answer["error"]["code"] == "key_reused"

    def tell(self, kind: str, ids: dict[str, Any], payload: dict[str, Any]) -> None:
        with contextlib.suppress(IllegalMove):
            self.runtime.fact(kind, {"session_id": SESSION, **ids}, payload)

    @rule(thread=THREADS, turn=st.none() | TURNS, script=st.sampled_from(sorted(SCRIPTS)), key=KEYS)
    def submit(self, thread, turn, script, key):
        create = {"policy": "new_thread"} if not self.store.load("thread", thread) else None
        parts, options = [{"kind": "text", "text": "hi"}], {"script": script}
        request = {"session_id": SESSION, "thread_id": thread, "turn_id": turn, "create_thread": create}
        self.send("submit_turn", key, **request, input_parts=parts, options=options)

    @rule(steps=st.integers(1, 12))
    def work(self, steps):
        for _ in range(steps):
            self.worker.step()

    @rule()
    def work_on(self):
        self.worker.run()

    @rule(thread=THREADS, turn=st.none() | TURNS, policy=st.none() | st.sampled_from(["keep", "clear"]), key=KEYS)
    def interrupt(self, thread, turn, policy, key):
        where = {"turn_id": turn} if turn else {"thread_id": thread}
        self.send("interrupt_turn", key, session_id=SESSION, reason="Stop.", queue_policy=policy, **where)

    @rule(thread=THREADS)
    def resume(self, thread):
        self.send("resume_thread", session_id=SESSION, thread_id=thread)

    @rule(number=NUMBERS, decision=DECISIONS, key=KEYS)
    def respond(self, number, decision, key):
        answer = {"value": 1} if decision in {"answered", "modified"} else None
        self.send("respond_action", key, action_id=f"action_{number}", decision=decision, answer=answer)

    @rule(number=NUMBERS, decision=st.sampled_from(["allowed", "denied", "cancelled"]))
    def resolve(self, number, decision):
        self.send("resolve_permission", tool_call_id=f"call_{number}", decision=decision)

    @rule(number=NUMBERS)
    def evaluate(self, number):
        self.send("evaluate_permission", tool_call_id=f"call_{number}")

    @rule(number=NUMBERS, act=st.sampled_from(["remove_queued_turn", "promote_queued_turn"]))
    def queue(self, number, act):
        self.send(act, queued_turn_id=f"queued_{number}", session_id=SESSION)

    @rule(number=NUMBERS, end=st.booleans())
    def process(self, number, end):
        if end:
            self.send("terminate_process", process_id=f"process_{number}", reason="Enough.")
        else:
            self.send("write_process_stdin", process_id=f"process_{number}", input="y")

    @rule(task=TASKS, parent=st.none() | TASKS, thread=st.none() | THREADS, key=KEYS)
    def create_task(self, task, parent, thread, key):
        thread = thread if thread and self.store.load("thread", thread) else None
        parent = parent if parent != task else None
        place = {"session_id": SESSION, "thread_id": thread, "parent_task_id": parent}
        self.send("create_task", key, task_id=task, objective="Do it.", **place)

    @rule(task=TASKS, act=st.sampled_from(["start_task", "complete_task", "get_task"]), key=KEYS)
    def task(self, task, act, key):
        self.send(act, key if act != "get_task" else None, task_id=task)

    @rule(
        task=TASKS,
        act=st.sampled_from(["pause_task", "resume_task", "cancel_task", "retry_task"]),
        propagation=st.none() | st.sampled_from(["children", "none"]),
        key=KEYS,
    )
    def move_task(self, task, act, propagation, key):
        self.send(act, key, task_id=task, reason="Because.", propagation=propagation)

    @rule(task=TASKS, retryable=st.booleans())
    def fail_task(self, task, retryable):
        error = {"category": "tool", "message": "No.", "retryable": retryable, "recovery": "Look."}
        self.send("fail_task", task_id=task, error=error)

    @rule(task=TASKS, other=TASKS, kind=st.sampled_from(["blocks", "child", "blocked_by"]), link=st.booleans())
    def edge(self, task, other, kind, link):
        edge = {"kind": kind, "target_id": other}
        self.send("link_tasks" if link else "unlink_tasks", task_id=task, relationship=edge)

    @rule(task=TASKS, percent=st.integers(0, 100))
    def progress(self, task, percent):
        self.send("append_task_progress", task_id=task, progress={"percent": percent})
        self.send("update_task", task_id=task, title=f"At {percent}")

    @rule(child=CHILDREN, task=st.none() | TASKS, turn=st.none() | TURNS)
    def spawn(self, child, task, turn):
        parents = {"parent_session_id": SESSION, "parent_thread_id": "thr_1", "parent_task_id": task}
        isolation = {"workspace": "copy"}
        self.send("spawn_subagent", subagent_id=child, parent_turn_id=turn, isolation=isolation, **parents)

    @rule(child=CHILDREN, act=st.sampled_from(["send", "resume", "close", "blocked", "running", "completed", "failed"]))
    def child(self, child, act):
        if act == "send":
            self.send("send_subagent_input", subagent_id=child, input_parts=[{"kind": "text"}])
        elif act in {"resume", "close"}:
            self.send(f"{act}_subagent", subagent_id=child, reason="So.")
        elif (record := self.store.load("subagent", child)) and record.known:
            ids = {"subagent_id": child, "thread_id": record.thread}
            error = {"category": "model", "message": "No.", "retryable": True, "recovery": "Ask again."}
            said = {"completed": {"summary": "Done."}, "failed": {"error": error}}.get(act, {"status": act})
            kind = act if act in {"completed", "failed"} else "status"
            self.tell(f"subagent.{kind}", ids, said)

    @rule(job=JOBS, task=st.none() | TASKS, key=KEYS)
    def create_job(self, job, task, key):
        items = [{"job_item_id": f"{job}_1", "status": "pending"}, {"job_item_id": f"{job}_2", "status": "pending"}]
        self.send("create_job", key, session_id=SESSION, job_id=job, task_id=task, instruction="Each.", items=items)

    @rule(job=JOBS, item=st.integers(1, 2), act=st.sampled_from(["start", "begin", "end", "fail", "done", "cancel"]))
    def job(self, job, item, act):
        record, piece = self.store.load("job", job), self.store.load("job_item", f"{job}_{item}")
        if record is None or not record.known:
            return
        if act == "cancel":
            self.send("cancel_job", job_id=job, reason="Enough.")
            return
        ids = {"job_id": job, "thread_id": record.thread, "task_id": record.scope.get("task_id")}
        ids = {name: value for name, value in ids.items() if value}
        count, who = piece.data.get("starts", 0), {"assignment": {"worker_id": "w"}}
        error = {"category": "model", "message": "No.", "retryable": True, "recovery": "Again."}
        kind, said = {
            "start": ("job.started", {}),
            "done": ("job.completed", {"summary": "All."}),
            "begin": ("job.item.started", {"attempt_count": count + 1, **who}),
            "end": ("job.item.completed", {"attempt_count": count, "output_ref": f"out://{job}_{item}/{count}"}),
            "fail": ("job.item.failed", {"attempt_count": count, "last_error": error, "retryable": True, **who}),
        }[act]
        self.tell(kind, {**ids, "job_item_id": f"{job}_{item}"} if "item" in kind else ids, said)

    @rule(act=st.sampled_from(["connect", "drop", "ack", "reconnect"]), sequence=st.integers(0, 60))
    def channel(self, act, sequence):
        if act == "connect":
            peer = {"native_peer": {"native_protocol": "a2a", "peer_id": "p"}, "peer_role": "client"}
            self.tell("channel.connected", {"channel_id": "ch_1"}, {**peer, "transport": "sse", "capabilities": ["e"]})
        elif act == "drop":
            self.tell("channel.disconnected", {"channel_id": "ch_1"}, {"reason": "Gone."})
        elif act == "ack":
            self.send("ack_events", channel_id="ch_1", sequence=sequence)
        else:
            self.send("reconnect_channel", channel_id="ch_1", last_acknowledged_sequence=sequence)

    @rule(kind=st.sampled_from(["export_evidence", "export_replay", "export_review"]), turn=TURNS)
    def export(self, kind, turn):
        self.send(kind, session_id=SESSION, turn_id=turn)

    @rule(window=st.none() | st.integers(1, 3))
    def read(self, window):
        self.send("get_session", session_id=SESSION, window=window)
        self.send("get_thread_read", session_id=SESSION, thread_id="thr_1")
        self.send("list_tasks", session_id=SESSION)
        self.send("get_tool_inventory", session_id=SESSION)
        self.send("get_execution_environment", session_id=SESSION)
        self.send("list_subagents", session_id=SESSION)
        self.send("list_jobs", session_id=SESSION)

    @rule()
    def look(self):
        for _ in self.runtime.snapshots(SESSION):
            pass

    @rule()
    def crash(self):
        """The process is gone; the store is not. What was acknowledged is there when it comes back."""
        self.boot()
        recover(self.runtime)
        for key, (command, request, answer) in list(self.answers.items()):
            assert self.runtime.handle(command, request) == answer, key

    @invariant()
    def sequences_have_no_holes(self):
        stream = self.store.load("stream", SESSION)
        assert stream.data["sequence"] == self.store.position()

    def teardown(self) -> None:
        if not hasattr(self, "runtime"):
            return
        self.look()
        text = self.text.getvalue()
        kept = {event["event_id"] for event in self.store.read()}
        assert self.acknowledged <= kept, "an acknowledged event is lost"
        told = [json.loads(line) for line in text.splitlines()]
        assert [line["event_id"] for line in told if "event_id" in line] == [e["event_id"] for e in self.store.read()]
        assert findings(text) == []
        assert disagreements(text) == []


TestRuntimeMachine = RuntimeMachine.TestCase
TestRuntimeMachine.settings = hypothesis_settings(stateful_step_count=30)
