"""The runtime's reducer, written from the chapter alone, and the judge's give the same messages."""

import json

import hypothesis.strategies as st
import pytest
from hypothesis import given

from reference_runtime.lifecycles.agent_threads.reducer import reduce
from validator import resources
from validator.protocol.protocol import load_protocol
from validator.replay.readmodels.agent_threads import Reducer

GOLDEN = resources.fixtures() / "agent-threads" / "1" / "golden"
WORDS = st.sampled_from(["", "a", "b c"])
CALLS = st.sampled_from(["c1", "c2"])
KINDS = {
    "step-started": {"stepIndex": st.integers(0, 1)},
    "text-delta": {"delta": WORDS},
    "reasoning": {"text": WORDS},
    "tool-call": {"toolCallId": CALLS, "toolName": st.sampled_from(["read", "write"]), "input": WORDS},
    "tool-result": {"toolCallId": CALLS, "output": WORDS},
    "file": {"mimeType": st.just("text/csv"), "url": st.just("store://f"), "name": st.just("f.csv")},
    "step-finished": {"stepIndex": st.integers(0, 1), "finishReason": st.just("stop")},
    "error": {"message": WORDS},
    "user-message": {"content": WORDS},
    "acme-note": {"note": WORDS},
}
EVENTS = st.sampled_from(sorted(KINDS)).flatmap(
    lambda kind: st.fixed_dictionaries(
        {"kind": st.just(kind), "payload": st.fixed_dictionaries(KINDS[kind], optional=optional(kind))}
    )
)


def optional(kind):
    return {"toolName": st.just("list"), "isError": st.booleans()} if kind == "tool-result" else {}


def stored(events):
    return [
        {"seq": seq, "timestamp": f"2026-05-08T09:00:{seq:02d}.000Z", "streamId": "run:x", "event": event}
        for seq, event in enumerate(events, 1)
    ]


def judged(events):
    """What the judge's reducer makes of a stream."""
    reducer = Reducer({row["id"]: row["values"] for row in load_protocol("agent-threads").tables["kinds"]["rows"]})
    for event in events:
        reducer.apply(event)
    return list(reducer.messages())


def without_times(messages):
    return [{name: value for name, value in message.items() if name != "createdAt"} for message in messages]


@given(st.lists(EVENTS, max_size=12))
def test_both_reducers_agree_on_any_stream(events):
    assert without_times(reduce(stored(events))) == judged(stored(events))


@given(st.lists(EVENTS, max_size=8), st.integers(0, 7))
def test_a_replay_that_overlaps_changes_nothing(events, back):
    whole = stored(events)
    assert reduce(whole + whole[back:]) == reduce(whole)


def streams(path):
    found = {}
    for line in map(json.loads, path.read_text().splitlines()):
        if "streamId" in line and "seq" in line:
            found.setdefault(line["streamId"], []).append(line)
    return found


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.ndjson")), ids=lambda path: path.stem)
def test_the_golden_transcripts_are_what_their_streams_reduce_to(path):
    said = [message for events in streams(path).values() for message in reduce(events)]
    models = json.loads(path.with_suffix("").with_suffix(".readmodel.json").read_text())["models"]
    for transcript in models.get("transcript", []):
        for message in transcript["messages"] if isinstance(transcript["messages"], list) else ():
            known = {name: value for name, value in message.items() if name not in {"id", "parentMessageId"}}
            if isinstance(message["createdAt"], str):
                assert known in said
            else:
                assert {**known, "createdAt": 0} in [{**one, "createdAt": 0} for one in said]


def test_a_message_begins_when_it_is_opened():
    events = [{"kind": "step-started", "payload": {"stepIndex": 0}}, {"kind": "text-delta", "payload": {"delta": "x"}}]
    assert [message["createdAt"] for message in reduce(stored(events))] == ["2026-05-08T09:00:01.000Z"]
