"""JSON-RPC 2.0 over lines: commands are methods, events are notifications, and nonsense gets a proper error."""

import io
import json

import pytest

from reference_runtime.capture import LineCapture
from reference_runtime.log.memory import MemoryStore
from reference_runtime.service import Runtime
from reference_runtime.settings import Settings
from reference_runtime.transports.stdio import serve
from tests.runtime.machine import SCRIPTS

HALF = "half \ud800"
SUBMIT = {"session_id": "s", "thread_id": "t", "turn_id": "u", "input_parts": [{"kind": "text", "text": "hi"}]}


def talk(*lines):
    """What comes back for some lines: replies, and the store they left."""
    runtime, sink = Runtime(MemoryStore(), Settings(scripts=SCRIPTS)), io.StringIO()
    source = io.StringIO("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    serve(runtime, source, sink)
    said = [json.loads(line) for line in sink.getvalue().splitlines()]
    return [one for one in said if not (isinstance(one, dict) and "method" in one)], said, runtime.store


def call(method, params=None, identity=1):
    message = {"jsonrpc": "2.0", "id": identity, "method": method}
    return message if params is None else {**message, "params": params}


def test_a_command_is_answered_and_its_events_are_told():
    replies, said, store = talk(call("submit_turn", SUBMIT))
    assert replies == [{"jsonrpc": "2.0", "id": 1, "result": replies[0]["result"]}]
    assert replies[0]["result"]["outcome"] == "accepted"
    told = [one["params"]["event_id"] for one in said if one.get("method") == "event"]
    assert told == [event["event_id"] for event in store.read()]
    assert [event["type"] for event in store.read()][-1] == "turn.completed"


@pytest.mark.parametrize(
    ("line", "code", "identity"),
    [
        ("{", -32700, None),
        ('{"jsonrpc": "2.0", "id": NaN}', -32700, None),
        ('"x"', -32600, None),
        ("[]", -32600, None),
        ({"id": 1, "method": "get_session"}, -32600, 1),
        ({"jsonrpc": "1.0", "id": 1, "method": "get_session"}, -32600, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": 5}, -32600, 1),
        ({"jsonrpc": "2.0", "id": {}, "method": "get_session"}, -32600, None),
        (call("nobody"), -32601, 1),
        (call("get_session", [1]), -32602, 1),
        (call("runtime/snapshot", {}), -32603, 1),
    ],
)
def test_a_message_that_is_no_request_gets_its_error_and_changes_nothing(line, code, identity):
    replies, _, store = talk(line)
    assert [(one["error"]["code"], one["id"]) for one in replies] == [(code, identity)]
    assert store.position() == 0


def test_a_rejected_command_is_an_answer_and_no_error():
    replies, _, _ = talk(call("get_session", {"session_id": "nobody"}), call("get_session", {}))
    assert [one["result"]["outcome"] for one in replies] == ["rejected", "rejected"]


def test_a_notification_gets_no_reply_and_a_batch_gets_one_list():
    batch = [call("get_session", {"session_id": "s"}), {"jsonrpc": "2.0", "method": "get_session"}, 7]
    replies, _, _ = talk({"jsonrpc": "2.0", "method": "submit_turn", "params": SUBMIT}, batch)
    assert len(replies) == 1
    assert [one["id"] for one in replies[0]] == [1, None]


def test_a_snapshot_can_be_asked_for():
    replies, _, _ = talk(
        call("submit_turn", SUBMIT), call("runtime/snapshot", {"model": "session_snapshot", "session_id": "s"})
    )
    assert replies[-1]["result"]["session_id"] == "s"


def test_half_a_character_is_refused_on_the_wire():
    """It is written as an escape there, and readable as JSON."""
    line = json.dumps(call("submit_turn", {**SUBMIT, "input_parts": [{"kind": "text", "text": HALF}]}))
    replies, _, store = talk(line, call("get_session", {"session_id": "s"}, 2))
    assert [reply.get("error", {}).get("code") for reply in replies] == [-32700, None]
    assert list(store.read()) == []


def test_half_a_character_is_rejected_by_the_runtime_itself(tmp_path):
    """Whoever calls it without a wire can pass one, and a capture could not hold it."""
    request = {**SUBMIT, "input_parts": [{"kind": "text", "text": HALF}]}
    with open(tmp_path / "capture.ndjson", "w", encoding="utf-8") as file:
        runtime = Runtime(MemoryStore(), Settings(scripts=SCRIPTS), capture=LineCapture(file))
        answer = runtime.handle("submit_turn", request)
    assert (answer["outcome"], answer["error"]["category"]) == ("rejected", "invalid_request")
    assert "surrogate" in answer["error"]["message"]
    assert list(runtime.store.read()) == []
    assert (tmp_path / "capture.ndjson").read_text("utf-8").count("\n") == 1
