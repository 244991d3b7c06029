"""Commands that cannot be: a clear error each, and nothing changed."""

import pytest

from reference_runtime.contract import protocol
from reference_runtime.log.memory import MemoryStore
from reference_runtime.service import Runtime
from reference_runtime.settings import Settings
from reference_runtime.work.engine import Worker
from tests.runtime.machine import SCRIPTS

PARTS = [{"kind": "text", "text": "hi"}]
EDGE = {"kind": "blocks", "target_id": "nobody"}
# What each command needs to be well formed, about subjects that nobody has heard of.
UNKNOWN = {
    "interrupt_turn": {"session_id": "s", "turn_id": "nobody", "reason": "r"},
    "resume_thread": {"session_id": "s", "thread_id": "nobody"},
    "create_task": {"session_id": "s", "parent_task_id": "nobody", "objective": "o"},
    "update_task": {"task_id": "nobody", "title": "t"},
    "start_task": {"task_id": "nobody"},
    "append_task_progress": {"task_id": "nobody", "progress": {}},
    "pause_task": {"task_id": "nobody", "reason": "r"},
    "resume_task": {"task_id": "nobody", "reason": "r"},
    "cancel_task": {"task_id": "nobody", "reason": "r"},
    "retry_task": {"task_id": "nobody", "reason": "r"},
    "complete_task": {"task_id": "nobody"},
    "fail_task": {"task_id": "nobody", "error": {"category": "c"}},
    "list_tasks": {"session_id": "nobody"},
    "get_task": {"task_id": "nobody"},
    "link_tasks": {"task_id": "nobody", "relationship": EDGE},
    "unlink_tasks": {"task_id": "nobody", "relationship": EDGE},
    "respond_action": {"action_id": "nobody", "decision": "approved"},
    "remove_queued_turn": {"queued_turn_id": "nobody", "session_id": "s"},
    "promote_queued_turn": {"queued_turn_id": "nobody", "session_id": "s"},
    "get_session": {"session_id": "nobody"},
    "get_thread_read": {"session_id": "s", "thread_id": "nobody"},
    "get_tool_inventory": {"session_id": "nobody"},
    "get_execution_environment": {"session_id": "nobody"},
    "spawn_subagent": {"parent_session_id": "s", "parent_thread_id": "nobody", "isolation": {"workspace": "copy"}},
    "send_subagent_input": {"subagent_id": "nobody", "input_parts": PARTS},
    "wait_subagents": {"subagent_ids": ["nobody"]},
    "resume_subagent": {"subagent_id": "nobody", "reason": "r"},
    "close_subagent": {"subagent_id": "nobody"},
    "list_subagents": {"session_id": "nobody"},
    "export_evidence": {"session_id": "nobody"},
    "export_replay": {"session_id": "nobody"},
    "export_review": {"session_id": "nobody"},
    "evaluate_permission": {"tool_call_id": "nobody"},
    "resolve_permission": {"tool_call_id": "nobody", "decision": "allow"},
    "write_process_stdin": {"process_id": "nobody", "input": "x"},
    "terminate_process": {"process_id": "nobody", "reason": "r"},
    "create_job": {"session_id": "nobody", "instruction": "i", "items": [{"job_item_id": "a", "status": "pending"}]},
    "list_jobs": {"session_id": "nobody"},
    "get_job": {"job_id": "nobody"},
    "cancel_job": {"job_id": "nobody", "reason": "r"},
    "reconnect_channel": {"channel_id": "nobody", "cursor": "1"},
    "ack_events": {"channel_id": "nobody", "sequence": 1},
    "submit_turn": {"session_id": "s", "thread_id": "nobody", "input_parts": PARTS},
}


@pytest.fixture(scope="module")
def settled():
    """A runtime for refusals; that nothing changes is what they are about."""
    return begun()


@pytest.fixture
def runtime():
    return begun()


def begun():
    made = Runtime(MemoryStore(), Settings(scripts=SCRIPTS))
    made.handle("submit_turn", {"session_id": "s", "thread_id": "t", "turn_id": "u", "input_parts": PARTS})
    Worker(made).run()
    return made


def refused(runtime, command, request):
    before = (runtime.store.position(), runtime.store.ordinal())
    answer = runtime.handle(command, request)
    assert (runtime.store.position(), runtime.store.ordinal()) == before
    assert answer["outcome"] == "rejected", answer
    assert all(answer["error"][name] for name in ("category", "code", "message"))
    return answer["error"]


def test_every_command_is_asked_about_a_stranger():
    assert UNKNOWN.keys() == protocol().commands.keys()


@pytest.mark.parametrize("command", sorted(UNKNOWN))
def test_a_stranger_is_refused(settled, command):
    assert refused(settled, command, UNKNOWN[command])["category"] == "not_found"


@pytest.mark.parametrize("command", sorted(UNKNOWN))
@pytest.mark.parametrize("request_", [[], None, 7, {}, {"session_id": 5, "task_id": [], "reason": {}}])
def test_a_request_of_the_wrong_shape_is_refused(settled, command, request_):
    assert refused(settled, command, request_)["category"] == "invalid_request"


def test_a_command_nobody_knows_is_refused(settled):
    assert refused(settled, "make_coffee", {})["code"] == "unknown_command"


def test_a_caller_id_of_another_owner_is_a_conflict(settled):
    request = {"session_id": "other", "thread_id": "x", "turn_id": "u", "input_parts": PARTS}
    assert refused(settled, "submit_turn", request)["code"] == "turn_id_taken"


def test_a_busy_thread_that_has_no_queue_names_its_policy():
    runtime = Runtime(MemoryStore(), Settings(scripts=SCRIPTS, queue_policy="reject"))
    request = {"session_id": "s", "thread_id": "t", "input_parts": PARTS}
    assert runtime.handle("submit_turn", request)["outcome"] == "accepted"
    answer = runtime.handle("submit_turn", request)
    assert (answer["outcome"], answer["policy"]) == ("rejected", "reject_when_busy")


def test_repeating_a_submission_makes_no_second_turn(runtime):
    request = {"session_id": "s", "thread_id": "t", "input_parts": PARTS, "idempotency_key": "k"}
    first, position = runtime.handle("submit_turn", request), runtime.store.position()
    assert runtime.handle("submit_turn", request) == first
    assert runtime.store.position() == position
    assert refused(runtime, "submit_turn", {**request, "source": "elsewhere"})["code"] == "key_reused"


def test_a_path_of_the_machine_never_reaches_an_event(runtime):
    reason = "see /home/ada/project/notes.md and C:\\\\Users\\\\ada\\\\x.txt"
    runtime.handle(
        "submit_turn", {"session_id": "s", "thread_id": "t", "input_parts": PARTS, "options": {"script": "ask"}}
    )
    Worker(runtime).run()
    runtime.handle("interrupt_turn", {"session_id": "s", "reason": reason})
    told = str(list(runtime.store.read()))
    assert "notes.md" in told
    assert "ada" not in told


def test_an_export_is_built_from_the_log_and_can_be_read(runtime):
    answer = runtime.handle("export_evidence", {"session_id": "s", "turn_id": "u"})
    pack = runtime.content(answer["pack_ref"])
    assert [event["type"] for event in pack["timeline"]][:2] == ["turn.submitted", "turn.started"]
    assert pack["runtime_summary"]["status"] == "completed"
    replay = runtime.content(runtime.handle("export_replay", {"session_id": "s", "turn_id": "u"})["replay_ref"])
    assert replay["input"] == ["input://u"]
    assert all(replay[name] for name in ("tool_inventory", "context", "expected"))


def test_an_empty_word_of_a_caller_is_told_as_unsaid(runtime):
    runtime.handle("create_task", {"session_id": "s", "task_id": "k", "objective": " ", "owner": ""})
    runtime.handle("start_task", {"task_id": "k"})
    runtime.handle("pause_task", {"task_id": "k", "reason": ""})
    told = {event["type"]: event["payload"] for event in runtime.store.read()}
    for said in (told["task.created"]["objective"], told["task.created"]["owner"], told["task.paused"]["reason"]):
        assert said == {"honest": "unknown", "reason": "The caller left it empty."}


def test_progress_that_says_nothing_is_no_progress(runtime):
    runtime.handle("create_task", {"session_id": "s", "task_id": "k", "objective": "o"})
    runtime.handle("start_task", {"task_id": "k"})
    assert runtime.handle("append_task_progress", {"task_id": "k", "progress": {}})["outcome"] == "accepted"
    assert "progress" not in runtime.handle("get_task", {"task_id": "k"})["task"]


def test_an_edge_to_a_child_agent_that_nobody_knows_is_refused(runtime):
    runtime.handle("create_task", {"session_id": "s", "task_id": "k", "objective": "o"})
    edge = {"kind": "spawned_subagent", "target_id": "nobody"}
    assert refused(runtime, "link_tasks", {"task_id": "k", "relationship": edge})["code"] == "unknown_subagent"


def test_a_failure_says_what_to_do_also_when_the_caller_does_not(runtime):
    runtime.handle("create_task", {"session_id": "s", "task_id": "k", "objective": "o"})
    runtime.handle("start_task", {"task_id": "k"})
    runtime.handle("fail_task", {"task_id": "k", "error": {"category": "tool"}})
    said = list(runtime.store.read())[-1]["payload"]["last_error"]
    assert said["retryable"]["honest"] == "unknown"
    assert said["recovery"]


def test_an_export_names_no_scope_that_nobody_knows(runtime):
    runtime.handle("create_task", {"session_id": "s", "task_id": "k", "objective": "o"})
    assert refused(runtime, "export_review", {"task_id": "k", "turn_id": "nobody"})["code"] == "unknown_turn"
