"""After a restart everything durable is back, and nothing unproved is called done."""

import pytest

from reference_runtime.log.memory import MemoryStore
from reference_runtime.recovery import recover
from reference_runtime.service import Runtime
from reference_runtime.settings import Settings
from reference_runtime.work.engine import Worker
from tests.runtime.machine import SCRIPTS

PARTS = [{"kind": "text", "text": "hi"}]
GOOD_ENDS = {"turn.completed", "task.completed", "task.attempt.completed", "tool.result", "process.completed"}
GOOD_ENDS |= {"model.completed", "subagent.completed", "job.completed", "job.item.completed", "hook.completed"}


def begun():
    runtime = Runtime(MemoryStore(), Settings(scripts=SCRIPTS))
    for name, script in (("a", "ask"), ("b", "reply")):
        request = {"session_id": "s", "thread_id": f"t_{name}", "turn_id": name, "input_parts": PARTS}
        create = {"create_thread": {"policy": "new_thread"}}
        runtime.handle("submit_turn", {**request, **create, "options": {"script": script}})
    return runtime


def restarted(runtime):
    again = Runtime(runtime.store, runtime.settings)
    before = again.store.position()
    recover(again)
    return again, list(again.store.read(after=before))


@pytest.mark.parametrize("steps", range(0, 18, 2))
def test_a_restart_anywhere_ends_nothing_well(steps):
    runtime = begun()
    worker = Worker(runtime)
    for _ in range(steps):
        worker.step()
    _, told = restarted(runtime)
    assert told[0]["type"] == "history.reconstructed"
    assert not GOOD_ENDS & {event["type"] for event in told}


def test_a_question_waits_on_and_its_turn_goes_on_when_it_is_answered():
    runtime = begun()
    Worker(runtime).run()
    again, told = restarted(runtime)
    assert [event["type"] for event in told] == ["history.reconstructed"]
    assert told[0]["payload"]["degraded"] is False
    assert again.state().state("turn", "a") == "waiting_input"
    again.handle("respond_action", {"action_id": "action_1", "decision": "answered", "answer": {"x": 1}})
    Worker(again).run()
    assert again.state().state("turn", "a") == "completed"


def test_work_in_flight_is_lost_and_can_be_taken_up_again():
    runtime = begun()
    worker = Worker(runtime)
    while "model.delta" not in [event["type"] for event in runtime.store.read()]:
        worker.step()
    again, told = restarted(runtime)
    assert [event["type"] for event in told][-1] == "snapshot.repaired"
    assert again.state().state("turn", "b") == "lost"
    assert again.state().state("model_request", "request_1") == "lost"
    answer = again.handle("resume_thread", {"session_id": "s", "thread_id": "t_b"})
    assert (answer["resumed"], answer["degraded"]) == (True, True)
    Worker(again).run()
    assert again.state().state("turn", "b") == "completed"


def test_the_queue_is_back_in_its_order():
    runtime = begun()
    Worker(runtime).run()
    for name in ("c", "d", "e"):
        runtime.handle("submit_turn", {"session_id": "s", "thread_id": "t_a", "turn_id": name, "input_parts": PARTS})
    runtime.handle("promote_queued_turn", {"queued_turn_id": "queued_3", "session_id": "s"})
    again, _ = restarted(runtime)
    shown = again.snapshot("queue_snapshot", "s", "t_a")
    assert [item["turn_id"] for item in shown["items"]] == ["e", "c", "d"]
    assert shown["resume_state"] == "recovered"


def test_ids_and_command_ids_are_never_given_twice_across_restarts():
    runtime = begun()
    boots = []
    for _ in range(3):
        runtime, _ = restarted(runtime)
        boots.append(runtime.boot)
        runtime.handle("create_task", {"session_id": "s", "objective": "o"})
    assert boots == [1, 2, 3]
    assert len(runtime.state().find("task", session_id="s")) == 3
    ids = [event["event_id"] for event in runtime.store.read()]
    assert len(ids) == len(set(ids))


class PowerCutError(Exception):
    """The process is gone, in the middle of a command."""


class CutStore(MemoryStore):
    """Loses the process right before or right after it keeps a change."""

    moment = ""

    def commit(self, change):
        moment, self.moment = self.moment, ""
        if moment != "before":
            super().commit(change)
        if moment:
            raise PowerCutError


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize(
    ("command", "request_"),
    [
        ("create_task", {"session_id": "s", "objective": "o"}),
        ("submit_turn", {"session_id": "s", "thread_id": "t_a", "input_parts": PARTS}),
        ("interrupt_turn", {"session_id": "s", "turn_id": "a", "reason": "r"}),
    ],
)
def test_a_command_cut_off_at_its_commit_takes_effect_once(moment, command, request_):
    runtime = begun()
    store = CutStore()
    store.__dict__ |= runtime.store.__dict__
    runtime.store = store
    keyed, before = {**request_, "idempotency_key": "k"}, store.position()
    store.moment = moment
    with pytest.raises(PowerCutError):
        runtime.handle(command, keyed)
    written = store.position() - before
    assert (written > 0) == (moment == "after")
    again, _ = restarted(runtime)
    position = again.store.position()
    answer = again.handle(command, keyed)
    assert answer["outcome"] in {"accepted", "queued"}
    assert (again.store.position() > position) == (moment == "before")
    assert again.handle(command, keyed) == answer
