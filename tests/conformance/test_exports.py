"""An export says what the plain lines say: the same verdict, states and read models, and findings point into it."""

import io
import json

import pytest

from tests.conformance.test_readmodels_runagents import by_word
from validator import resources
from validator.capture.canonical import Canonical
from validator.capture.detect import detect
from validator.capture.lines import read_lines
from validator.engine import Options, validate
from validator.protocol.protocol import load_protocol
from validator.replay.readmodels.runagents import ActionViews, RunViews
from validator.replay.world import World

FOLDER = resources.fixtures() / "runagents" / "1"
EXPORTS = sorted((FOLDER / "exports").glob("*.ndjson"))


def replay(path):
    protocol = load_protocol("runagents")
    world, canonical = World(protocol, (RunViews, ActionViews)), Canonical(protocol)
    for number, line in read_lines(path):
        for reading in canonical.read(line):
            if not reading.export:
                world.apply(reading.document, number)
    return world


def states(world):
    return {
        name: {key: one.state for key, one in found.items()} for name, found in world.fold.subjects.items() if found
    }


def judge(*lines, **options):
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    return validate(io.BytesIO(data), options=Options(**options))


@pytest.mark.parametrize("path", EXPORTS, ids=lambda path: path.stem)
def test_an_export_amounts_to_what_its_plain_form_does(path):
    story = FOLDER / "golden" / path.name.split(".")[0]
    expected = json.loads(story.with_suffix(".readmodel.json").read_text())
    report, world = validate(io.BytesIO(path.read_bytes())), replay(path)
    assert (report.protocol, report.verdict, report.findings, report.crashes) == ("runagents/1", "conformant", (), ())
    assert states(world) == expected["states"]
    for view in expected["models"].get("run_view", []):
        assert by_word(world.ledger(RunViews).build(view["run_id"])) == by_word(view)
    for view in expected["models"].get("action_view", []):
        assert by_word(world.ledger(ActionViews).build(view["action_id"])) == by_word(view)


EVENT = {"event_id": "e1", "run_id": "r1", "seq": 1, "type": "RUN_CREATED", "timestamp": "2026-06-01T09:00:03Z"}


def test_a_line_in_splunks_envelope_says_itself_what_it_is():
    assert detect({"time": 1, "event": EVENT}) == "runagents/1"
    assert detect({"run": {}, "actions": [], "events": [EVENT]}) == "runagents/1"
    assert detect({"time": 1, "event": {"a": 1}}) is None


def test_a_fault_inside_an_envelope_is_told_once_and_points_into_it():
    report = judge({"time": -1, "event": {**EVENT, "seq": "one", "data": {"password": "hunter2-hunter2"}}})
    places = [(found.rule, found.pointer) for found in report.findings]
    assert len(places) == len(set(places))
    assert {("SCH001", "/event/seq"), ("SCH001", "/time")} <= set(places)
    assert all(pointer.startswith(("/event", "/time")) for _, pointer in places)


def test_what_leaks_beside_the_event_is_found():
    canary = "canary-4711-aa"
    report = judge({"event": EVENT, "fields": {"note": canary}}, canaries=(canary,))
    assert ("RED005", "/fields/note") in {(found.rule, found.pointer) for found in report.findings}


def test_a_fault_inside_a_document_is_told_once_and_points_into_it():
    run = {"id": "r1", "agent_id": "a", "user_id": "u", "status": "RUNNING"}
    times = {"created_at": "2026-06-01T09:00:03Z", "updated_at": "2026-06-01T09:00:03Z"}
    report = judge({"run": run | times, "actions": [], "events": [EVENT, {**EVENT, "event_id": "e2", "seq": []}]})
    places = [(found.rule, found.pointer) for found in report.findings]
    assert ("SCH001", "/events/1/seq") in places
    assert len(places) == len(set(places))


@pytest.mark.parametrize("value", [None, 5, "x", [], {}, [EVENT]])
def test_a_misshapen_envelope_is_a_finding_and_no_crash(value):
    for line in ({"event": value}, {"run": value, "events": value}, {"run": {}, "events": [value], "actions": value}):
        report = judge(line, EVENT, protocol="runagents")
        assert report.crashes == ()
        assert "SCH001" in report.counts
