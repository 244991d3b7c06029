"""Whatever is done to a capture, the judge says something about it: no rule crashes, nothing is raised."""

import copy
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import PROTOCOLS, strangers_validator
from validator import resources
from validator.capture.ndjson import read
from validator.engine import Options, validate
from validator.renderers import render
from validator.renderers.replay import render_text
from validator.replay.run import Options as ReplayOptions
from validator.replay.run import replay
from validator.run import Run

STREAMS = {
    name: sorted((resources.fixtures() / name).rglob("golden/*.ndjson"))
    + sorted((resources.fixtures() / name).rglob("rules/*/*.ndjson"))
    for name in PROTOCOLS
}
WRONG = [
    None, True, False, 0, -1, 5, 1.5, 1e308, -(10**20), 10**300, 10**400, "", "x", "\u0000", "2026-13-45T99:99:99Z",
    "a/b~c", [], [None], [[]], ["x"], ["a", "a"], [1, "a", None, {}], {}, {"a": {"b": [1]}}, {"k": ["x"]},
    {"honest": "unknown", "reason": "r"}, {"honest": 5, "reason": None},
]  # fmt: skip
DROP = object()
REPORT = strangers_validator(json.loads((resources.schemas() / "report/1/report.schema.json").read_text()))


def places(value, path=()):
    """Where something could be put instead: every key and every position."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, sub in entries:
        yield (*path, key)
        yield from places(sub, (*path, key))


def put(document, path, value):
    """Replaces or drops one value; a path that an earlier change has cut off changes nothing."""
    *above, last = path
    for step in above:
        if not isinstance(document, dict | list) or (isinstance(document, dict) and step not in document):
            return
        if isinstance(document, list) and not (isinstance(step, int) and step < len(document)):
            return
        document = document[step]
    if isinstance(document, dict) and last in document:
        if value is DROP:
            del document[last]
        else:
            document[last] = copy.deepcopy(value)
    elif isinstance(document, list) and isinstance(last, int) and last < len(document):
        document[last] = None if value is DROP else copy.deepcopy(value)


@st.composite
def damaged(draw):
    """A protocol, and a capture of it in which some values are wrong and some bytes are others."""
    name = draw(st.sampled_from(PROTOCOLS))
    lines = draw(st.sampled_from(STREAMS[name])).read_bytes().splitlines()
    for index in draw(st.lists(st.integers(0, max(len(lines) - 1, 0)), max_size=12)):
        try:
            document = json.loads(lines[index])
        except (ValueError, IndexError):
            continue
        found = list(places(document))
        if found:
            for path in draw(st.lists(st.sampled_from(found), min_size=1, max_size=3)):
                put(document, path, draw(st.sampled_from([*WRONG, DROP])))
            lines[index] = json.dumps(document).encode()
    data = bytearray(b"\n".join(lines) + b"\n")
    for at in draw(st.lists(st.integers(0, len(data) - 1), max_size=2)) if draw(st.booleans()) else ():
        data[at] = draw(st.integers(0, 255))
    return name, bytes(data)


def judge(name, data):
    report = validate(io.BytesIO(data), "x.ndjson", Options(protocol=name))
    return report, render("json", Run((report,)))


def replayed(name, data):
    return render_text(replay(io.BytesIO(data), ReplayOptions(protocol=name), "x.ndjson"))


@settings(max_examples=80)
@given(damaged())
def test_damage_is_judged_and_nothing_breaks(case):
    report, text = judge(*case)
    assert report.crashes == ()
    assert REPORT.is_valid(json.loads(text))
    assert judge(*case)[1] == text
    assert render("text", Run((report,)))
    assert replayed(*case)


def event(number, kind, payload, **ids):
    base = {"type": kind, "event_id": f"e{number}", "timestamp": "2026-05-08T09:00:00Z", "sequence": number}
    return {**base, "session_id": "s", "thread_id": "h", "turn_id": "u", **ids, "payload": payload}


BROKE_ONCE = {
    "a payload that is a list": [event(1, "tool.started", ["x"], step_id="p", tool_call_id="c")],
    "a sequence larger than any length": [event(1, "turn.submitted", {}), event(10**300, "turn.started", {})],
    "a gap too long to count": [event(1, "turn.submitted", {}), event(10**15, "turn.started", {}), event(7, "x", {})],
    "a tool whose name is a flag": [
        event(1, "turn.submitted", {}),
        event(2, "turn.started", {}),
        event(3, "tool.started", {"tool_name": True}, tool_call_id="c"),
        event(4, "tool.result", {"status": "completed"}, tool_call_id="c"),
    ],
    "a snapshot whose session is no text": [
        event(1, "turn.submitted", {}),
        {"record": "reconnect", "stream": {"a": 1}, "channel_id": "c", "last_acknowledged_sequence": 1},
        {"record": "snapshot", "model": "session_snapshot", "snapshot": {"session_id": {"a": 1}}},
    ],
    "a child whose thread is no text": [
        event(1, "thread.started", {}),
        event(2, "subagent.spawned", {"child_thread_id": {"a": 1}}, subagent_id="a"),
    ],
    "a compaction that ends in another session": [
        event(1, "thread.started", {}),
        event(2, "context.compaction.started", {}),
        event(1, "context.compaction.completed", {}, session_id="t"),
    ],
    "an entity whose id is a number": [event(1, "permission.resolved", {"request_id": 5}, request_id=1.5)],
}


@pytest.mark.parametrize("lines", BROKE_ONCE.values(), ids=BROKE_ONCE)
def test_what_broke_a_rule_once_breaks_none(lines):
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    report, _ = judge("agent-runtime/0.3", data)
    assert report.crashes == ()
    assert report.findings
    assert replayed("agent-runtime/0.3", data)


def test_a_run_whose_status_is_no_text_breaks_no_rule_of_agent_threads():
    for path in STREAMS["agent-threads/1"]:
        lines = [line.document for line in read(io.BytesIO(path.read_bytes())) if line.readable]
        if any(line.get("record") == "run" for line in lines):
            for line in lines:
                put(line, ("status",), {"a": 1})
            report, _ = judge("agent-threads/1", b"".join(json.dumps(line).encode() + b"\n" for line in lines))
            assert report.crashes == (), path.name


def test_a_gate_list_that_is_a_number_breaks_no_rule_of_agenthub():
    for path in STREAMS["agenthub/1"]:
        data = path.read_bytes()
        if b'"gates":' in data:
            lines = [json.loads(line) for line in data.splitlines()]
            for line in lines:
                for place in list(places(line)):
                    if place[-1] == "gates":
                        put(line, place, 5)
            report, _ = judge("agenthub/1", b"".join(json.dumps(line).encode() + b"\n" for line in lines))
            assert report.crashes == (), path.name
