"""What the gates promise, each by itself: order, payloads, scopes, ends, and what is kept beside the log."""

import io

import pytest

from reference_runtime.capture import LineCapture
from reference_runtime.errors import CommandRejected
from reference_runtime.lifecycles.runagents import stage
from reference_runtime.lifecycles.runagents.history import CONTRACT
from reference_runtime.lifecycles.runagents.policy import Call, Policy, Rule, Tool
from reference_runtime.log.memory import MemoryStore

APPROVER = {"approver_id": "user_marta"}


@pytest.fixture(params=["api", "operations"])
def scene(request):
    store = MemoryStore()
    return stage.Scene("gates", lambda: store, LineCapture(io.StringIO(), CONTRACT), vocabulary=request.param)


def refused(act, *given):
    with pytest.raises(CommandRejected) as refusal:
        act(*given)
    return refusal.value.code


@pytest.mark.parametrize(
    ("effects", "expected"),
    [
        (["allow"], "allow"),
        (["allow", "approval_required"], "approval_required"),
        (["deny", "allow", "approval_required"], "deny"),
        ([], "deny"),
    ],
)
def test_the_strongest_rule_wins_and_nothing_is_allowed_by_silence(effects, expected):
    policy = Policy((Tool("t"),), tuple(Rule(effect) for effect in effects))
    assert policy.effect("agent", Call("t", "GET /")) == expected
    assert policy.effect("agent", Call("not registered", "GET /")) == "deny"


def test_the_hash_is_of_what_is_said_and_not_of_how_it_is_written():
    one, other = Call("t", "c", {"a": 1, "b": [2]}), Call("t", "c", {"b": [2], "a": 1})
    assert one.payload_hash == other.payload_hash != Call("t", "c", {"a": 1, "b": [3]}).payload_hash


def test_the_payload_is_kept_while_it_is_needed_and_no_longer(scene):
    run_id = scene.begin("refund-agent")
    (action,), store = scene.platform.actions(run_id), scene.platform.book.store
    kept = store.load("checkpoint", action["action_id"]).data
    assert kept["call"]["payload"] == stage.REFUND["payload"]
    assert kept["payload_hash"] == action["payload_hash"] == Call(**stage.REFUND).payload_hash
    scene.approve()
    assert "call" not in store.load("checkpoint", action["action_id"]).data
    assert "call" not in store.load("flight", run_id).data


def test_a_run_that_fails_forgets_what_it_waited_for(scene):
    run_id = scene.begin("refund-agent")
    (action,) = scene.platform.actions(run_id)
    scene.platform.set_status(run_id, {"status": "FAILED"})
    checkpoint = scene.platform.book.store.load("checkpoint", action["action_id"])
    assert (checkpoint.open, "call" in checkpoint.data) == (False, False)
    assert scene.platform.requests("PENDING") == []
    changed = {"action_id": action["action_id"], "payload": {}}
    assert refused(scene.platform.keep_checkpoint, run_id, changed) == "not_blocked"


def test_a_decision_is_taken_once(scene):
    scene.begin("refund-agent")
    request = scene.pending()
    scene.platform.approve(request, APPROVER)
    assert refused(scene.platform.approve, request, APPROVER) == "already_decided"
    assert refused(scene.platform.reject, request, APPROVER) == "already_decided"
    scene.worker.run()
    assert refused(scene.platform.reject, request, APPROVER) == "already_decided"


def test_consent_decides_no_action_and_an_approval_gives_no_consent(scene):
    run_id = scene.begin("calendar-agent")
    assert scene.platform.requests() == []
    scene.settle(run_id, completed=True)
    assert scene.platform.run(run_id)["status"] == "PAUSED_APPROVAL"
    assert refused(scene.platform.settle_consent, run_id, True) == "wrong_state"
    scene.approve(scope="agent_user_ttl")
    other = scene.begin("calendar-agent", "user_jonas")
    assert scene.platform.run(other)["status"] == "PAUSED_CONSENT", "another user has given none"


def test_consent_is_settled_once(scene):
    run_id = scene.begin("calendar-agent")
    scene.platform.settle_consent(run_id, True)
    assert refused(scene.platform.settle_consent, run_id, False) == "already_decided"


@pytest.mark.parametrize(("scope", "waits"), [("once", True), ("run", False), ("agent_user_ttl", False)])
def test_a_grant_reaches_as_far_as_its_scope_says(scene, scope, waits):
    run_id = scene.begin("twice-agent")
    scene.approve(scope=scope)
    assert scene.platform.run(run_id)["status"] == ("PAUSED_APPROVAL" if waits else "COMPLETED")
    if not waits:
        again = scene.begin("twice-agent")
        reaches = scope == "agent_user_ttl"
        assert scene.platform.run(again)["status"] == ("COMPLETED" if reaches else "PAUSED_APPROVAL")
        stranger = scene.begin("twice-agent", "user_jonas")
        assert scene.platform.run(stranger)["status"] == "PAUSED_APPROVAL"


def test_a_grant_that_ended_is_told_as_expired_and_serves_nothing(scene):
    scene.begin("refund-agent")
    request = scene.pending()
    scene.approve(scope="agent_user_ttl", duration="10m")
    assert scene.worker.sweep() == 0
    scene.clock.advance(11 * 60 * 1000)
    assert scene.worker.sweep() == 1
    assert scene.worker.sweep() == 0
    assert scene.platform.request(request)["status"] == "EXPIRED"
    assert scene.platform.run(scene.begin("refund-agent"))["status"] == "PAUSED_APPROVAL"


def test_the_same_block_is_found_again_and_another_is_refused(scene):
    run_id = scene.begin("foreign-agent")
    asked = {"tool_id": "stripe", "capability": "POST /v1/refunds", "payload_hash": "a" * 64}
    first = scene.platform.block(run_id, asked)
    position = scene.platform.book.store.position()
    again = scene.platform.block(run_id, {**asked, "payload_hash": "sha256:" + "a" * 64})
    assert (first["created"], again["created"]) == (True, False)
    assert first["action"] == again["action"]
    assert scene.platform.book.store.position() == position
    assert refused(scene.platform.block, run_id, {**asked, "payload_hash": "b" * 64}) == "wrong_state"


def test_a_tool_that_breaks_is_a_call_that_failed(scene):
    def breaks(call):
        raise RuntimeError("the secret of the tool")

    tools = (Tool("stripe", breaks),)
    scene.platform.settings = scene.settings.__class__(
        policy=Policy(tools, (Rule("approval_required"),)), agents=stage.AGENTS, vocabulary=scene.settings.vocabulary
    )
    run_id = scene.begin("refund-agent")
    scene.approve()
    assert scene.platform.actions(run_id)[0]["status"] == "FAILED"
    assert scene.platform.run(run_id)["status"] == "COMPLETED"
    assert "secret" not in str(list(scene.platform.book.read()))
