"""What lacks its identity, its state or its shape is no fact: the read models of the core leave it out."""

import itertools

import pytest

from tests.unit.test_readmodels import Stream, begun, time
from validator.protocol.protocol import load_protocol
from validator.replay.readmodels import ReadModels

EVENTS = sorted(load_protocol("agent-runtime").events)


@pytest.fixture
def stream(core):
    return Stream(core)


@pytest.mark.parametrize("kind", EVENTS)
def test_an_event_without_some_of_its_ids_stops_no_replay(core, kind):
    carried = core.families[core.family_of[kind]]["carries"]
    must = [name for name in carried["must"] if name != "session_id"]
    for count, begin in itertools.product(range(len(must) + 1), (False, True)):
        for names in itertools.combinations(must, count):
            stream = Stream(core)
            if begin:
                begun(stream, "thread_id", "turn_id")
            stream.tell(kind, {}, **{name: name for name in names})
            session = stream.world.ledger(ReadModels).build("session_snapshot")
            assert session["as_of_sequence"] == stream.sequence


class TestIdentities:
    def test_an_event_without_its_identity_feeds_nothing(self, stream):
        begun(stream)
        stream.tell("tool.started", {"tool_name": "x"}, thread_id="h", turn_id="t")
        assert stream.build("thread_read_model", "h")["tool_calls"] == []

    def test_an_artifact_of_a_task_that_nobody_told_makes_no_task(self, stream):
        stream.tell("artifact.changed", {"change": "created"}, artifact_id="a", task_id="k")
        assert stream.build("task_snapshot") is None
        assert [entry["artifact_id"] for entry in stream.build("artifact_checkpoint_summary")["artifacts"]] == ["a"]

    def test_a_list_of_artifacts_counts_for_the_ids_in_it(self, stream):
        stream.tell("task.created", {"objective": "o"}, task_id="k")
        stream.tell("task.started", task_id="k")
        stream.tell("artifact.changed", {"change": "created"}, artifact_id="a")
        stream.tell("task.completed", {"artifact_ids": [7, "a"]}, task_id="k")
        (task,) = stream.build("task_snapshot")["recent_terminal"]
        assert [entry["artifact_id"] for entry in task["artifacts"]] == ["a"]

    def test_an_output_without_a_reference_is_not_listed_and_an_expired_one_stays_expired(self, stream):
        stream.tell("output.spilled", {"size_bytes": 9})
        assert stream.build("session_snapshot")["outputs"] == []
        for kind in ("output.spilled", "output.expired", "output.truncated"):
            stream.tell(kind, {"output_ref": "o://1"})
        (output,) = stream.build("session_snapshot")["outputs"]
        assert (output["output_ref"], output["status"]) == ("o://1", "expired")

    def test_a_step_without_a_turn_is_recent_and_in_no_turn(self, stream):
        begun(stream)
        stream.tell("model.delta", {"text": "x"}, thread_id="h", step_id="s")
        assert [step["step_id"] for step in stream.build("session_snapshot")["recent_steps"]] == ["s"]
        assert stream.build("thread_read_model", "h")["turns"][0]["steps"] == []

    def test_a_bridge_and_a_remote_task_without_an_id_are_left_out(self, stream):
        stream.tell("channel.connected", {"transport": "sse"}, channel_id="c")
        stream.tell("channel.permission_forwarded", {"target": "p"}, channel_id="c")
        stream.tell("channel.peer_task.linked", {"peer_task": {"status": "running"}}, channel_id="c")
        summary = stream.build("channel_summary")
        assert (summary["permission_bridges"], summary["peer_tasks"]) == ([], [])
        stream.tell("channel.permission_forwarded", {"bridge_id": "b"}, channel_id="c")
        (bridge,) = stream.build("channel_summary")["permission_bridges"]
        assert bridge == {"bridge_id": "b", "status": "forwarded"}

    def test_a_decision_about_nothing_in_particular_has_no_target(self, stream):
        begun(stream)
        stream.tell("permission.evaluated", {"decision": "allow"}, thread_id="h")
        assert stream.build("permission_sandbox_summary")["decisions"] == [{"decision": "allow"}]

    def test_tools_without_a_caller_are_the_latest_and_nobody_in_particular_has_them(self, stream):
        stream.tell("tool.catalog.resolved", {"caller": "main", "tools": [{"tool_name": "a"}]})
        stream.tell("tool.catalog.resolved", {"tools": [{"tool_name": "b"}]})
        assert [tool["tool_name"] for tool in stream.build("tool_inventory_snapshot")["tools"]] == ["b"]
        mine = stream.models.inventory("main", None, None, "ses_1")
        assert [tool["tool_name"] for tool in mine["tools"]] == ["a"]
        assert stream.models.inventory("other", None, None, "ses_1") is None
        assert stream.models.inventory("main", None, None, "ses_2") is None


class TestStates:
    def test_an_item_that_no_row_introduced_is_neither_shown_nor_counted(self, core, stream):
        stream.tell("job.created", {"items": [{"job_item_id": "a"}, {"input_ref": "i://1"}]}, job_id="j", thread_id="h")
        stream.tell("job.item.completed", {"output_ref": "o://1"}, job_id="j", job_item_id="b")
        summary = stream.build("subagent_job_summary")
        assert core.store.errors(core.snapshots["subagent_job_summary"], summary) == []
        (job,) = summary["jobs"]
        assert [item["job_item_id"] for item in job["items"]] == ["a"]
        assert (job["progress"]["total"], job["progress"]["pending"]) == (1, 1)

    def test_a_compaction_that_never_began_is_not_listed(self, stream):
        begun(stream)
        stream.tell("context.compaction.completed", {"summary_ref": "s://1"}, thread_id="h")
        assert stream.build("context_boundary_snapshot", "h") is None

    def test_a_hook_run_that_never_began_and_has_no_id_is_not_listed(self, stream):
        begun(stream)
        stream.tell("hook.completed", {"hook_point": "pre_tool", "decision": "allow"}, thread_id="h", turn_id="t")
        assert stream.build("permission_sandbox_summary")["hook_runs"] == []

    def test_a_child_that_ends_without_a_summary_has_none(self, stream):
        stream.tell("subagent.spawned", {"role": "r"}, subagent_id="s", thread_id="h")
        stream.tell("subagent.completed", {}, subagent_id="s")
        (child,) = stream.build("subagent_job_summary")["subagents"]
        assert (child["status"], "summary" in child) == ("completed", False)

    def test_an_honest_delivery_counts_as_its_word(self, stream):
        stream.tell("task.created", {"objective": "o"}, task_id="k")
        stream.tell("task.started", task_id="k")
        stale = {"honest": "stale", "reason": "The receipt is old."}
        stream.tell("task.completed", {"delivery_state": stale}, task_id="k")
        assert stream.build("task_snapshot")["delivery_state"] == "stale"


class TestAmounts:
    def test_an_estimate_tells_what_it_has_and_keeps_the_rest(self, stream):
        begun(stream)
        both = {"estimated_cost_class": "low", "estimated_total_cost": 1.5}
        stream.tell("cost.estimated", both, thread_id="h", turn_id="t")
        stream.tell("cost.estimated", {"estimated_total_cost": 2.5}, thread_id="h", turn_id="t")
        cost = stream.build("routing_limit_summary")["cost_state"]
        assert (cost["estimated_cost_class"], cost["estimated_total_cost"]) == ("low", 2.5)

    def test_a_price_beside_any_event_counts_alone(self, stream):
        begun(stream)
        stream.tell("cost.estimated", {}, turn_id="t", cost_state={"input_price_per_million": 3})
        cost = stream.build("routing_limit_summary")["cost_state"]
        assert (cost["input_price_per_million"], "output_price_per_million" in cost) == (3, False)


class TestSessions:
    def acknowledged(self, stream, request, result):
        command = {"command": "ack_events", "command_id": "c"}
        stream.take({"record": "command", **command, "request": request})
        return stream.take({"record": "result", **command, "result": {"outcome": "accepted", **result}})

    def test_an_answer_about_a_channel_that_nobody_told_confirms_nothing(self, stream):
        stream.tell("channel.connected", {"transport": "sse"}, channel_id="ch")
        self.acknowledged(stream, {"channel_id": "other"}, {"last_acknowledged_sequence": 1})
        self.acknowledged(stream, {}, {"last_acknowledged_sequence": 1})
        summary = stream.build("channel_summary")
        assert [entry["channel_id"] for entry in summary["channels"]] == ["ch"]
        assert summary["last_acknowledged_sequence"]["honest"] == "unknown"

    def test_an_answer_counts_as_well_while_nobody_watches(self, stream):
        stream.models.watched = False
        stream.tell("channel.connected", {"transport": "sse"}, channel_id="ch")
        self.acknowledged(stream, {"channel_id": "ch"}, {"last_acknowledged_sequence": 1})
        assert stream.build("channel_summary")["last_acknowledged_sequence"] == 1

    def test_events_before_the_session_is_named_are_of_it(self, core):
        stream = Stream(core)
        stream.take({"type": "thread.started", "event_id": "e0", "timestamp": time(0), "thread_id": "h"})
        assert stream.models.sessions == []
        stream.tell("turn.submitted", thread_id="h", turn_id="t")
        assert stream.models.sessions == ["ses_1"]
        assert [thread["thread_id"] for thread in stream.build("session_snapshot")["threads"]] == ["h"]

    def test_a_task_or_job_is_found_in_whatever_session_it_is(self, stream):
        stream.tell("task.created", {"objective": "o"}, task_id="k")
        stream.tell("job.created", {"items": []}, job_id="j", session_id="ses_2")
        assert stream.models.record("task", "k")["objective"] == "o"
        assert stream.models.record("job", "j")["status"] == "pending"
        assert stream.models.record("task", "j") is None
