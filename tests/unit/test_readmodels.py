"""The replay's read models of the core, one tricky clause at a time."""

import pytest

from validator.replay.readmodels import ReadModels
from validator.replay.world import World

SESSION = "ses_1"


class Stream:
    """A capture under construction; events count their sequence and their seconds."""

    def __init__(self, protocol):
        self.world = World(protocol, [ReadModels])
        self.models = self.world.ledger(ReadModels)
        self.sequence = self.number = 0

    def tell(self, kind, payload=None, skip=0, **ids):
        self.sequence += 1 + skip
        line = {
            "type": kind,
            "event_id": f"e{self.sequence}",
            "timestamp": time(self.sequence),
            "sequence": self.sequence,
            "session_id": SESSION,
            **({"payload": payload} if payload is not None else {}),
            **ids,
        }
        return self.take(line)

    def take(self, line):
        self.number += 1
        self.world.apply(line, self.number)
        return self

    def build(self, model, thread=None, turn=None):
        return self.models.build(model, thread, turn)


def time(second):
    return f"2026-05-08T09:{second // 60:02}:{second % 60:02}Z"


@pytest.fixture
def stream(core):
    return Stream(core)


def begun(stream, thread="h", turn="t"):
    stream.tell("thread.started", {"title": "Main"}, thread_id=thread)
    stream.tell("turn.submitted", {"status": "accepted"}, thread_id=thread, turn_id=turn)
    return stream.tell("turn.started", thread_id=thread, turn_id=turn)


class TestScope:
    def test_an_event_without_a_thread_finds_it_through_what_it_names(self, stream):
        begun(stream)
        stream.tell("task.created", {"objective": "o"}, turn_id="t", task_id="k")
        stream.tell("artifact.changed", {"change": "created"}, task_id="k", artifact_id="a")
        assert stream.build("thread_read_model", "h")["artifact_ids"] == ["a"]
        assert [task["task_id"] for task in stream.build("task_snapshot", "h")["active"]] == ["k"]

    def test_events_from_before_the_thread_was_told_are_of_it_as_well(self, stream):
        stream.tell("thread.started", thread_id="h")
        stream.tell("task.created", {"objective": "o"}, task_id="k")
        stream.tell("artifact.changed", {"change": "created"}, task_id="k", artifact_id="a")
        assert stream.build("artifact_checkpoint_summary", "h") is None
        stream.tell("task.accepted", task_id="k", thread_id="h")
        assert [entry["artifact_id"] for entry in stream.build("artifact_checkpoint_summary", "h")["artifacts"]] == [
            "a"
        ]
        assert stream.build("artifact_checkpoint_summary", "h")["updated_at"] == time(4)

    def test_a_call_belongs_to_a_thread_through_a_turn_that_was_told_later(self, stream):
        stream.tell("thread.started", thread_id="h")
        stream.tell("tool.started", {"tool_name": "shell"}, turn_id="t", tool_call_id="c")
        stream.tell("tool.failed", {"reason": "no"}, tool_call_id="c")
        stream.tell("turn.submitted", thread_id="h", turn_id="t")
        assert stream.build("thread_read_model", "h")["diagnostics"]["failed_tool_call_ids"] == ["c"]

    def test_what_belongs_to_one_thread_is_in_no_other(self, stream):
        begun(stream)
        stream.tell("thread.started", thread_id="g")
        stream.tell("task.created", {"objective": "o"}, thread_id="h", task_id="k")
        stream.tell("task.accepted", thread_id="g", task_id="k")
        assert stream.build("task_snapshot", "g") is None
        assert stream.build("task_snapshot", "h")["active"][0]["status"] == "accepted"

    def test_a_fact_about_the_session_stays_out_of_a_thread(self, stream):
        begun(stream)
        stream.tell("policy.changed", {"mode": "plan"})
        stream.tell("policy.changed", {"mode": "auto"}, thread_id="h")
        stream.tell("policy.changed", {"mode": "never"})
        assert stream.build("permission_sandbox_summary")["mode"] == "never"
        assert stream.build("permission_sandbox_summary", "h")["mode"] == "auto"

    def test_a_mention_before_the_beginning_settles_the_order(self, stream):
        begun(stream)
        stream.tell("permission.evaluated", {"decision": "allow"}, thread_id="h", turn_id="t", tool_call_id="c2")
        for call in ("c1", "c2"):
            stream.tell("tool.started", {"tool_name": "x"}, thread_id="h", turn_id="t", tool_call_id=call)
        calls = stream.build("thread_read_model", "h")["tool_calls"]
        assert [call["tool_call_id"] for call in calls] == ["c2", "c1"]
        assert calls[0]["policy_decision"] == "allow"

    def test_a_mention_in_the_thread_may_change_the_order_and_that_is_a_change(self, stream):
        stream.tell("thread.started", thread_id="h")
        for child, ids in {"g1": {}, "g2": {"thread_id": "h"}}.items():
            stream.tell("subagent.spawned", {"parent_thread_id": "h", "role": "helper"}, subagent_id=child, **ids)
        assert self.children(stream) == (["g1", "g2"], time(3))
        asked = {"action_type": "approval", "prompt": "Go?"}
        stream.tell("action.required", asked, thread_id="h", action_id="a", subagent_id="g1")
        assert self.children(stream) == (["g2", "g1"], time(4))

    @staticmethod
    def children(stream):
        found = stream.build("subagent_job_summary", "h")
        return [child["subagent_id"] for child in found["subagents"]], found["updated_at"]

    def test_when_tools_changed_cannot_be_told_before_their_thread_is_known(self, stream):
        tools = {"caller": "main", "tools": [{"tool_name": "read"}]}
        stream.tell("tool.catalog.resolved", tools, turn_id="t")
        early = stream.models.inventory("main", None, "t", SESSION)
        assert early["updated_at"]["honest"] == "unknown"
        stream.tell("tool.catalog.resolved", {**tools, "caller": "other"}, thread_id="h", turn_id="t2")
        assert stream.models.inventory("other", None, "t2", SESSION)["updated_at"] == time(2)

    def test_how_far_a_channel_of_no_session_has_read_changes_nothing(self, stream):
        begun(stream).tell("channel.connected", channel_id="c")
        before = stream.build("channel_summary")
        stream.models.acknowledge("c", 3, "elsewhere")
        assert stream.build("channel_summary") == before

    def test_the_reason_of_a_thread_goes_with_the_state_it_explains(self, stream):
        begun(stream)
        stream.tell("thread.updated", {"status": "blocked", "reason": "A key is missing."}, thread_id="h")
        assert stream.build("thread_read_model", "h")["status_reason"] == "A key is missing."
        stream.tell("turn.completed", thread_id="h", turn_id="t")
        assert stream.build("thread_read_model", "h")["status"] == "completed"
        assert "status_reason" not in stream.build("thread_read_model", "h")

    def test_a_vendor_event_counts_and_feeds_nothing(self, stream):
        begun(stream)
        before = stream.build("session_snapshot")
        stream.tell("acme.note", {"title": "t"}, thread_id="h", turn_id="t", step_id="s", trace_id="x")
        after = stream.build("session_snapshot")
        assert after.pop("as_of_sequence") == before.pop("as_of_sequence") + 1
        assert after == before
        assert stream.build("evidence_summary") is None


class TestDoubt:
    def test_open_work_is_stale_after_a_gap_and_keeps_its_other_fields(self, stream):
        begun(stream)
        stream.tell("task.created", {"objective": "o"}, thread_id="h", task_id="k")
        stream.tell("task.started", task_id="k")
        stream.tell("task.waiting", {"status": "waiting_input", "action_ids": ["a"], "reason": "r"}, task_id="k")
        stream.tell("runtime.warning", {"message": "m"}, skip=3)
        thread = stream.build("thread_read_model", "h")
        assert (thread["status"], thread["turns"][0]["status"], thread["active_turn_id"]) == ("stale", "stale", "t")
        tasks = stream.build("task_snapshot")
        assert [tasks["task_summary"][name] for name in ("waiting", "lost")] == [0, 1]
        assert tasks["lost"][0]["required_action_ids"] == ["a"]
        assert thread["diagnostics"]["stalled_task_ids"] == ["k"]
        assert tasks["updated_at"] == time(6)
        assert tasks["freshness"] == "stale"

    def test_doubt_ends_with_an_event_about_the_subject_and_the_gap_with_a_repair(self, stream):
        begun(stream)
        stream.tell("runtime.warning", {"message": "m"}, skip=3)
        stream.tell("model.requested", {"model": "m"}, thread_id="h", turn_id="t")
        thread = stream.build("thread_read_model", "h")
        assert (thread["turns"][0]["status"], thread["freshness"]) == ("running", "stale")
        stream.tell("snapshot.repaired", {"reason": "r"})
        assert stream.build("thread_read_model", "h")["freshness"] == "degraded"

    def test_a_job_in_doubt_makes_the_thread_that_it_names_stale(self, stream):
        begun(stream)
        stream.tell("job.created", {"items": [{"job_item_id": "i"}]}, thread_id="h", job_id="j")
        stream.tell("turn.completed", thread_id="h", turn_id="t")
        stream.tell("runtime.warning", {"message": "m"}, skip=3)
        assert stream.build("thread_read_model", "h")["status"] == "stale"

    def test_a_thread_without_open_work_is_not_stale(self, stream):
        begun(stream)
        stream.tell("turn.completed", thread_id="h", turn_id="t")
        stream.tell("runtime.warning", {"message": "m"}, skip=3)
        assert stream.build("thread_read_model", "h")["status"] == "completed"

    def test_a_capture_from_the_middle_is_degraded(self, stream):
        stream.tell("thread.started", thread_id="h", skip=7)
        assert stream.build("session_snapshot")["freshness"] == "degraded"
        assert "history_truncated" not in stream.build("session_snapshot")


class TestTurns:
    def test_a_lost_turn_is_an_outcome_until_it_is_taken_up_again(self, stream):
        begun(stream)
        stream.tell("turn.failed", {"status": "lost", "reason": "gone"}, thread_id="h", turn_id="t")
        thread = stream.build("thread_read_model", "h")
        assert thread["last_outcome"] == {
            "turn_id": "t",
            "outcome_type": "unknown",
            "primary_cause": "gone",
            "ended_at": time(4),
        }
        assert (thread["turns"][0]["reason"], "completed_at" in thread["turns"][0]) == ("gone", False)
        stream.tell("turn.started", thread_id="h", turn_id="t")
        thread = stream.build("thread_read_model", "h")
        assert "last_outcome" not in thread
        assert "reason" not in thread["turns"][0]
        assert thread["turns"][0]["started_at"] == time(3)

    def test_a_failed_turn_names_what_failed(self, stream):
        begun(stream)
        error = {"category": "provider_overload", "message": "m", "retryable": True}
        stream.tell("turn.failed", {"error": error}, turn_id="t")
        outcome = stream.build("thread_read_model", "h")["last_outcome"]
        assert (outcome["outcome_type"], outcome["retryable"]) == ("failed_provider", True)

    def test_a_rollback_renews_the_thread_of_the_turns_it_names(self, stream):
        begun(stream)
        stream.tell("thread.started", thread_id="g")
        stream.tell("history.rollback.completed", {"removed_turn_ids": ["t"]})
        assert stream.build("thread_read_model", "h")["updated_at"] == time(5)
        assert stream.build("thread_read_model", "g")["updated_at"] == time(4)

    def test_a_rollback_removes_the_turns_it_names_with_their_steps(self, stream):
        begun(stream)
        stream.tell("model.delta", {"text": "x"}, thread_id="h", turn_id="t", step_id="s")
        stream.tell("turn.completed", thread_id="h", turn_id="t")
        stream.tell("history.rollback.started", {"removed_turn_ids": ["t"]}, thread_id="h")
        assert len(stream.build("session_snapshot")["recent_turns"]) == 1
        stream.tell("history.rollback.completed", {"removed_turn_ids": ["t"]}, thread_id="h")
        session, thread = stream.build("session_snapshot"), stream.build("thread_read_model", "h")
        assert (session["recent_turns"], session["recent_steps"], thread["turns"]) == ([], [], [])
        assert "last_outcome" not in thread

    def test_the_window_hides_older_turns_from_the_session_only(self, stream):
        begun(stream)
        stream.tell("turn.completed", thread_id="h", turn_id="t")
        stream.tell("turn.submitted", thread_id="h", turn_id="u")
        stream.tell("history.window.loaded", {"first_sequence": 5, "cursor": "c", "has_more": True})
        session = stream.build("session_snapshot")
        assert [turn["turn_id"] for turn in session["recent_turns"]] == ["u"]
        assert (session["history_cursor"], session["history_truncated"]) == ("c", True)
        assert len(stream.build("thread_read_model", "h")["turns"]) == 2


class TestQueue:
    def queue(self, stream, **payload):
        return stream.tell("queue.changed", payload, thread_id="h")

    def waiting(self, stream):
        return stream.build("queue_snapshot", "h")["queued_turn_ids"]

    def test_operations_leave_the_order_they_say(self, stream):
        begun(stream)
        for key in ("a", "b", "c"):
            self.queue(stream, operation="added", queued_turn_id=key)
        self.queue(stream, operation="added", queued_turn_id="d", position=1)
        assert self.waiting(stream) == ["a", "d", "b", "c"]
        self.queue(stream, operation="promoted", queued_turn_id="c")
        assert self.waiting(stream) == ["c", "a", "d", "b"]
        self.queue(stream, operation="reordered", queued_turn_ids=["b", "a"])
        assert self.waiting(stream) == ["b", "a", "c", "d"]
        self.queue(stream, operation="removed", queued_turn_id="a")
        assert self.waiting(stream) == ["b", "c", "d"]
        self.queue(stream, operation="cleared")
        assert self.waiting(stream) == []
        assert stream.build("queue_snapshot", "h")["resume_state"] == "drained"

    def test_a_whole_queue_is_taken_at_its_word(self, stream):
        begun(stream)
        self.queue(stream, operation="added", queued_turn_id="a")
        self.queue(stream, operation="removed", queued_turn_id="a", queue=[{"queued_turn_id": "b", "image_count": 2}])
        (item,) = stream.build("queue_snapshot", "h")["items"]
        assert item == {
            "queued_turn_id": "b",
            "turn_id": "b",
            "position": 0,
            "status": "waiting",
            "image_count": 2,
            "created_at": time(5),
        }

    def test_a_recovery_holds_until_the_queue_changes(self, stream):
        begun(stream)
        self.queue(stream, operation="added", queued_turn_id="a")
        stream.tell("history.reconstructed", {"degraded": False})
        assert stream.build("queue_snapshot", "h")["resume_state"] == "recovered"
        self.queue(stream, operation="policy_changed", policy="p")
        assert stream.build("queue_snapshot", "h")["resume_state"] == "running"
        stream.tell("action.required", {"action_type": "approval"}, thread_id="h", turn_id="t", action_id="x")
        assert stream.build("queue_snapshot", "h")["resume_state"] == "paused"


class TestTasks:
    def one(self, stream):
        tasks = stream.build("task_snapshot")
        return next(task for name in ("active", "failed", "lost", "recent_terminal") for task in tasks[name])

    def test_archiving_changes_nothing_about_the_end_and_a_retry_takes_it_back(self, stream):
        stream.tell("task.created", {"objective": "o"}, task_id="k")
        stream.tell("task.started", task_id="k")
        stream.tell("task.failed", {"reason": "r"}, task_id="k")
        assert (self.one(stream)["ended_at"], self.one(stream)["status_reason"]) == (time(3), "r")
        stream.tell("task.retrying", {"trigger": "policy"}, task_id="k")
        assert "ended_at" not in self.one(stream)
        assert "status_reason" not in self.one(stream)
        stream.tell("task.failed", {"reason": "r"}, task_id="k")
        stream.tell("task.archived", task_id="k")
        assert (self.one(stream)["ended_at"], self.one(stream)["updated_at"]) == (time(5), time(6))

    def test_an_event_that_says_nothing_new_does_not_update_a_task(self, stream):
        stream.tell("task.created", {"objective": "o"}, task_id="k")
        stream.tell("task.updated", {"objective": "o"}, task_id="k")
        stream.tell("artifact.changed", {"change": "created"}, artifact_id="a")
        assert self.one(stream)["updated_at"] == time(1)
        assert stream.build("task_snapshot")["updated_at"] == time(1)

    def test_edges_are_drawn_removed_and_drawn_again(self, stream):
        stream.tell("task.created", {"objective": "o"}, task_id="k", parent_task_id="p")
        stream.tell("task.delegated", {"target_kind": "subagent", "target_id": "s"}, task_id="k")
        stream.tell("task.delegated", {"target_kind": "peer", "target_id": "x"}, task_id="k")
        edge = {"kind": "blocks", "target_id": "m"}
        stream.tell("task.dependency.updated", {"relationship": edge, "operation": "linked"}, task_id="k")
        stream.tell("task.dependency.updated", {"relationship": edge, "operation": "unlinked"}, task_id="k")
        edges = [(edge["kind"], edge["to_id"], edge["status"]) for edge in self.graph(stream)["edges"]]
        expected = [("parent", "p", "active"), ("spawned_subagent", "s", "active"), ("blocks", "m", "removed")]
        assert edges == expected
        stream.tell("task.dependency.updated", {"relationship": edge, "operation": "linked"}, task_id="k")
        assert self.graph(stream)["edges"][-1]["status"] == "active"
        assert self.one(stream)["relationships"][-1]["created_at"] == time(4)

    def graph(self, stream):
        return stream.build("task_snapshot")["task_graph"]

    def test_a_deleted_artifact_stays_with_its_task_and_one_never_told_is_left_out(self, stream):
        stream.tell("task.created", {"objective": "o"}, task_id="k")
        stream.tell("task.started", task_id="k")
        stream.tell("artifact.changed", {"change": "created", "title": "A"}, artifact_id="a")
        stream.tell("task.completed", {"artifact_ids": ["a", "b"]}, task_id="k")
        stream.tell("artifact.changed", {"change": "deleted"}, artifact_id="a")
        assert [(entry["artifact_id"], entry["title"]) for entry in self.one(stream)["artifacts"]] == [("a", "A")]
        assert self.one(stream)["updated_at"] == time(5)
        assert stream.build("artifact_checkpoint_summary")["artifacts"] == []
        assert stream.build("task_snapshot")["delivery_state"] == "unknown"


class TestJobs:
    def test_an_item_that_is_only_mentioned_where_its_job_is_shown_changes_nothing(self, stream):
        stream.tell("job.created", {"items": [{"job_item_id": "x", "status": "pending"}]}, job_id="j")
        stream.tell("job.started", job_id="j")
        stream.tell("job.item.started", {"attempt_count": 1}, job_id="j", job_item_id="x")
        stream.tell("job.progress", {"progress": {"total": 1, "running": 1}}, job_id="j", thread_id="h")
        stream.tell("cost.recorded", {"input_tokens": 1}, job_id="j", job_item_id="x", thread_id="h")
        assert stream.build("subagent_job_summary", "h")["updated_at"] == time(4)


class TestValues:
    def test_a_copy_holds_declared_fields_only(self, stream):
        begun(stream)
        stream.tell("sandbox.applied", {"mode": "read_only", "acme": 1}, thread_id="h", turn_id="t")
        assert stream.build("execution_environment_snapshot")["sandbox_profile"] == {"mode": "read_only"}

    def test_amounts_are_added_in_order_and_a_missing_one_makes_the_sum_unknown(self, stream):
        begun(stream)
        for amount in (0.1, 0.2, 0.3):
            stream.tell("cost.recorded", {"actual_total_cost": amount, "usage": {"input_tokens": 1}}, turn_id="t")
        cost = stream.build("routing_limit_summary")["cost_state"]
        assert cost["actual_total_cost"] == 0.1 + 0.2 + 0.3
        assert cost["usage"]["input_tokens"] == 3
        assert cost["usage"]["total_tokens"]["honest"] == "unknown"

    def test_what_another_turn_was_told_is_not_beside_the_routed_one(self, stream):
        begun(stream)
        stream.tell("routing.decided", {"selected_model": "m", "candidate_count": 2}, thread_id="h", turn_id="t")
        stream.tell("task.profile.resolved", {"kind": "chat"}, thread_id="h", turn_id="u")
        summary = stream.build("routing_limit_summary")
        assert summary["task_profile"] == {"kind": "chat"}
        assert "routing_decision" not in summary
        assert stream.build("routing_limit_summary", "h", "t")["candidate_count"] == 2

    def test_a_selection_replaces_the_one_before_it_and_tokens_are_the_latest(self, stream):
        begun(stream)
        stream.tell("context.resolved", {"selected": [], "missing": [], "tokens": 9}, thread_id="h", turn_id="t")
        stream.tell("context.compaction.started", {}, thread_id="h")
        stream.tell("context.compaction.completed", {"summary_ref": "s://1", "tokens_after": 4}, thread_id="h")
        assert stream.build("context_boundary_snapshot", "h")["tokens"] == 4
        stream.tell("context.resolved", {"selected": [], "tokens": 7}, thread_id="h", turn_id="t")
        context = stream.build("context_boundary_snapshot", "h")
        assert (context["tokens"], context["missing_facts"]["honest"]) == (7, "unknown")
        assert "context_gaps" not in stream.build("thread_read_model", "h")["diagnostics"]

    def test_a_hook_without_an_id_is_called_by_its_point_and_replaced_by_the_next_run(self, stream):
        begun(stream)
        where = {"thread_id": "h", "turn_id": "t", "tool_call_id": "c"}
        stream.tell("tool.started", {"tool_name": "x"}, **where)
        stream.tell("hook.started", {"hook_point": "pre_tool"}, **where)
        stream.tell("hook.completed", {"hook_point": "pre_tool", "decision": "allow"}, **where)
        stream.tell("hook.started", {"hook_point": "pre_tool"}, **where)
        (run,) = stream.build("permission_sandbox_summary")["hook_runs"]
        assert run == {"hook_run_id": "pre_tool|c", "hook_point": "pre_tool", "status": "running"}
        assert stream.build("thread_read_model", "h")["tool_calls"][0]["hook_run_ids"] == ["pre_tool|c"]

    def test_a_resolution_that_timed_out_denied(self, stream):
        begun(stream)
        where = {"thread_id": "h", "turn_id": "t", "tool_call_id": "c"}
        stream.tell("permission.requested", {}, **where)
        stream.tell("permission.resolved", {"decision": "timed_out"}, **where)
        summary = stream.build("permission_sandbox_summary")
        assert summary["permission_state"] == "denied"
        assert summary["decisions"] == [
            {"decision": "deny", "decision_reason": "timed_out", "target_kind": "tool", "target_id": "c"}
        ]

    def test_an_incident_of_the_session_holds_for_every_thread_until_it_is_cleared(self, stream):
        begun(stream)
        begun(stream, "g", "u")
        stream.tell("runtime.error", {"code": "c", "incident_id": "i"})
        stream.tell("runtime.warning", {"message": "m", "incident_id": "j"}, thread_id="g")
        held = [[i["incident_id"] for i in stream.build("thread_read_model", h)["incidents"]] for h in ("h", "g")]
        assert held == [["i"], ["i", "j"]]
        stream.tell("runtime.warning", {"message": "m", "incident_id": "i", "cleared": True})
        assert stream.build("thread_read_model", "h")["incidents"] == []

    def test_an_accepted_answer_confirms_a_sequence_and_is_no_event(self, stream):
        stream.tell("channel.connected", {"transport": "sse"}, channel_id="ch")
        for key, outcome, sequence in (("1", "accepted", 1), ("2", "rejected", 9)):
            request = {"channel_id": "ch", "sequence": sequence}
            stream.take({"record": "command", "command": "ack_events", "command_id": key, "request": request})
            result = {"outcome": outcome, "last_acknowledged_sequence": sequence}
            stream.take({"record": "result", "command": "ack_events", "command_id": key, "result": result})
        summary = stream.build("channel_summary")
        assert (summary["last_acknowledged_sequence"], summary["updated_at"]) == (1, time(1))
        stream.tell("channel.disconnected", {"reason": "r"}, channel_id="ch")
        summary = stream.build("channel_summary")
        assert summary["last_acknowledged_sequence"]["honest"] == "not_applicable"
        assert summary["channels"][0]["disconnect_reason"] == "r"

    def test_a_stream_that_does_not_count_says_so(self, core):
        stream = Stream(core)
        stream.take({"type": "session.created", "event_id": "e", "timestamp": time(1), "session_id": SESSION})
        session = stream.build("session_snapshot")
        assert (session["as_of_sequence"]["honest"], session["history_truncated"]) == ("unavailable", False)

    def test_a_document_can_be_changed_without_changing_the_replay(self, stream):
        begun(stream)
        stream.build("thread_read_model", "h")["turns"][0].clear()
        assert stream.build("thread_read_model", "h")["turns"][0]["turn_id"] == "t"
