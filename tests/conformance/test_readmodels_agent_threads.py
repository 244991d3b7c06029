"""The validator's own read models of agent-threads equal every expected model of the golden captures."""

import json

import pytest

from tests.conformance.test_readmodels_runagents import by_word
from validator import resources
from validator.capture.lines import read_lines
from validator.protocol.protocol import load_protocol
from validator.replay.readmodels.agent_threads import Reducer, Threads
from validator.replay.world import World

GOLDEN = resources.fixtures() / "agent-threads" / "1" / "golden"


def replay(path):
    world = World(load_protocol("agent-threads"), (Threads,))
    for number, line in read_lines(path):
        world.apply(line, number)
    return world


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.ndjson")), ids=lambda path: path.stem)
def test_models_are_what_the_capture_amounts_to(path):
    threads = replay(path).ledger(Threads)
    expected = json.loads(path.with_suffix("").with_suffix(".readmodel.json").read_text())["models"]
    for view in expected.get("run_view", []):
        assert by_word(threads.run_view(view["runId"])) == by_word(view)
    for transcript in expected.get("transcript", []):
        built = threads.transcript(transcript["threadId"], transcript["branch"])
        assert by_word(built) == by_word(transcript)
    for tree in expected.get("thread_tree", []):
        assert by_word(threads.tree(tree["threadId"])) == by_word(tree)


@pytest.mark.parametrize("served", ["both", "the first"])
def test_threads_that_say_the_same_keep_their_own_ids(served):
    """Of a thread whose messages nobody served the ids are unknown, whatever another thread says."""
    told = [line for _, line in read_lines(GOLDEN / "error-then-commit.ndjson") if line.get("record") != "header"]
    other = json.loads(json.dumps(told).replace("01KJQA4", "01KJQB4").replace("thread-weather", "thread-rain"))
    world = World(load_protocol("agent-threads"), (Threads,))
    for number, line in enumerate([*told, *(other if served == "both" else other[:-1])], start=1):
        world.apply(line, number)
    one, two = (world.ledger(Threads).transcript(name, "all")["messages"] for name in ("thread-weather", "thread-rain"))
    assert [message["id"][:7] for message in one] == ["01KJQA4", "01KJQA4"]
    if served == "both":
        assert [message["id"][:7] for message in two] == ["01KJQB4", "01KJQB4"]
    else:
        assert [message["id"]["honest"] for message in two] == ["unknown", "unknown"]


def test_a_transcript_that_names_no_thread_tells_ids_of_any():
    told = [line for _, line in read_lines(GOLDEN / "error-then-commit.ndjson") if line.get("record") != "header"]
    del told[-1]["snapshot"]["threadId"]
    world = World(load_protocol("agent-threads"), (Threads,))
    for number, line in enumerate(told, start=1):
        world.apply(line, number)
    shown = world.ledger(Threads).transcript("thread-weather", "all")["messages"]
    assert [message["id"] for message in shown] == [message["id"] for message in told[-1]["snapshot"]["messages"]]


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.ndjson")), ids=lambda path: path.stem)
def test_models_fit_their_schemas(path):
    world = replay(path)
    threads, store, schemas = world.ledger(Threads), world.protocol.store, world.protocol.snapshots
    for run in threads.runs():
        assert not store.errors(schemas["run_view"], threads.run_view(run))
    for thread in threads.threads():
        assert not store.errors(schemas["thread_tree"], threads.tree(thread))
        for branch in ("active", "all"):
            assert not store.errors(schemas["transcript"], threads.transcript(thread, branch))


def stored(sequence, kind, **payload):
    return {"seq": sequence, "event": {"kind": kind, "payload": payload}}


def reduce(*events):
    kinds = {row["id"]: row["values"] for row in load_protocol("agent-threads").tables["kinds"]["rows"]}
    reducer = Reducer(kinds)
    for sequence, (kind, payload) in enumerate(events, start=1):
        reducer.apply(stored(sequence, kind, **payload))
    return reducer


def test_a_result_without_a_call_bears_the_name_unknown():
    (message,) = reduce(("tool-result", {"toolCallId": "c1", "output": 1})).messages()
    assert message["role"] == "tool"
    assert message["parts"] == [
        {"type": "tool-result", "toolCallId": "c1", "toolName": "unknown", "output": 1, "isError": False}
    ]


def test_text_at_the_end_of_a_stream_is_a_message_too():
    (message,) = reduce(("text-delta", {"delta": "half "}), ("text-delta", {"delta": "said"})).messages()
    assert message["parts"] == [{"type": "text", "text": "half said"}]


def test_a_step_that_says_nothing_leaves_no_message():
    reducer = reduce(("step-started", {}), ("text-delta", {"delta": ""}), ("step-finished", {"finishReason": "stop"}))
    assert reducer.messages() == []


def test_an_error_with_no_message_open_leaves_no_trace():
    assert reduce(("error", {"message": "late"}), ("acme-note", {})).messages() == []


def test_a_payload_that_is_no_object_says_nothing():
    reducer = reduce()
    reducer.apply({"seq": 1, "event": {"kind": "text-delta", "payload": "half said"}})
    assert (reducer.messages(), reducer.last) == ([], 1)


def record(run, thread="t", status="committed", **more):
    base = {"record": "run", "runId": run, "threadId": thread, "streamId": f"run:{run}", "status": status}
    return {**base, "forkFromMessageId": None, "createdAt": "c", "finishedAt": "f", "messageCount": 1, **more}


def said(run, text, sequence=1):
    event = {"kind": "user-message", "payload": {"content": text}}
    return {"seq": sequence, "timestamp": "t", "streamId": f"run:{run}", "event": event}


def committed(run, text, thread="t"):
    begun = [record(run, thread, status, messageCount=0, finishedAt=None) for status in ("created", "streaming")]
    return [*begun, said(run, text), record(run, thread)]


def told(*lines):
    world = World(load_protocol("agent-threads"), (Threads,))
    for number, line in enumerate(lines, start=1):
        world.apply(line, number)
    return world.ledger(Threads)


def texts(transcript):
    return [message["parts"][0]["text"] for message in transcript["messages"]]


def test_a_message_belongs_to_the_thread_of_its_run():
    threads = told(*committed("r1", "one", "t"), *committed("r2", "two", "u"))
    assert (texts(threads.transcript("t", "all")), texts(threads.transcript("u", "all"))) == (["one"], ["two"])


def test_a_line_that_does_not_say_whose_it_is_tells_nothing():
    lost = {"seq": 1, "timestamp": "t", "event": {"kind": "user-message", "payload": {"content": "x"}}}
    threads = told(lost, {**record("r1"), "threadId": None})
    assert (threads.runs(), threads.threads(), threads.streams) == ([], [], {})
    assert threads.record("r1") is None


def test_ids_are_learnt_from_messages_that_were_served_and_fit():
    strange = [{"role": "user", "parts": []}, {"id": "m0", "role": "tool", "parts": [], "parentMessageId": None}]
    transcript = {"threadId": "t", "branch": "all", "messages": strange}
    message = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "one"}], "parentMessageId": None}
    tree = {"threadId": "t", "nodes": [{"runId": "r1"}, {"messageId": "m0"}], "forkPoints": []}
    lines = committed("r1", "one")
    for model, snapshot in (("transcript", transcript), ("thread_tree", tree)):
        lines.append({"record": "snapshot", "model": model, "snapshot": snapshot})
    nameless = {name: value for name, value in message.items() if name != "id"}
    lines.append({"record": "snapshot", "model": "message", "snapshot": nameless})
    assert told(*lines).transcript("t", "all")["messages"][0]["id"]["honest"] == "unknown"
    lines.append({"record": "snapshot", "model": "message", "snapshot": message})
    assert told(*lines).transcript("t", "all")["messages"][0]["id"] == "m1"
