"""The runtime's projections, written from the chapter alone, derive what every golden capture expects."""

import json

import pytest

from reference_runtime.facts.channels import acknowledge
from reference_runtime.facts.learn import learn
from reference_runtime.facts.unit import Unit
from reference_runtime.log.memory import MemoryStore
from reference_runtime.projections import all_snapshots
from tests.conformance.test_readmodels import by_word
from validator import resources

GOLDEN = resources.fixtures() / "agent-runtime" / "0.3" / "golden"
STORIES = sorted(path.stem for path in GOLDEN.glob("*.ndjson"))


def folded(story):
    unit, seen, commands = Unit(MemoryStore()), set(), {}
    for line in (GOLDEN / f"{story}.ndjson").read_text().splitlines():
        document = json.loads(line)
        if document.get("record") == "command":
            commands[document["command_id"]] = document["request"]
        elif document.get("record") == "result" and document["command"] == "ack_events":
            channel = unit.edit("channel", commands[document["command_id"]]["channel_id"])
            acknowledge(channel.data, document["result"].get("last_acknowledged_sequence"))
        elif "record" not in document and document["event_id"] not in seen:
            seen.add(document["event_id"])
            learn(unit, document)
    return unit


@pytest.mark.parametrize("story", STORIES)
def test_every_read_model_and_every_state_is_as_expected(story):
    unit = folded(story)
    expected = json.loads((GOLDEN / f"{story}.readmodel.json").read_text())
    derived: dict[str, list] = {}
    for session in unit.find("session"):
        for model, document in all_snapshots(unit, session.id):
            derived.setdefault(model, []).append(document)
    limited = {"thread_read_model", "queue_snapshot", "context_boundary_snapshot"}
    wanted = {
        model: [
            one for one in documents if model in limited or "thread_id" not in one or model == "tool_inventory_snapshot"
        ]
        for model, documents in expected["models"].items()
    }
    assert by_word(derived) == by_word(wanted)
    found = {kind: {name: unit.state(kind, name) for name in subjects} for kind, subjects in expected["states"].items()}
    assert found == expected["states"]
