"""Whatever the seed documents name exists in the schemas and is exercised by a fixture."""

from pathlib import Path

import pytest

from validator import resources
from validator.datafile import read_json, read_yaml
from validator.protocol.honest import WORDS
from validator.protocol.protocol import load_protocol
from validator.protocol.view import view
from validator.selftest import run

SEEDS = read_yaml(Path(__file__).parent / "seed_vocabulary.yaml")
CORE = SEEDS["agent-runtime/0.3"]
FIXTURES = resources.fixtures()


def text_of(*folders):
    return "\n".join(path.read_text() for folder in folders for path in sorted((FIXTURES / folder).rglob("*.*")))


@pytest.fixture(scope="module")
def golden():
    return {coverage.protocol: coverage for coverage in run().coverage}


def test_the_seed_list_has_the_size_the_documents_have():
    assert (len(CORE["events"]), len(CORE["commands"]), len(CORE["snapshots"]), len(CORE["words"])) == (113, 43, 13, 16)
    assert len(CORE["identities"]) == 13, "twelve identities, one of them with two names"
    assert (len(SEEDS["agenthub/1"]["events"]), len(SEEDS["agenthub/1"]["failures"])) == (19, 7)


@pytest.mark.parametrize("name", SEEDS)
def test_every_event_exists_and_occurs(name, golden):
    protocol = load_protocol(name)
    for event in [*SEEDS[name].get("events", ()), *SEEDS[name].get("ours", ())]:
        canonical = protocol.aliases.get(event, event)
        assert canonical in protocol.events, event
        assert canonical in golden[name].events, event
        assert f'"{event}"' in text_of(f"{name}/golden"), event


def test_every_command_exists_and_has_a_fixture(core):
    assert set(CORE["commands"]) == set(core.commands)
    for command in CORE["commands"]:
        for kind in ("commands", "results"):
            assert (FIXTURES / "agent-runtime/0.3/documents" / kind / f"{command}.json").exists()


def test_every_read_model_has_every_field_the_seed_names(core):
    assert set(CORE["snapshots"]) == set(core.snapshots) == set(CORE["read_model_fields"])
    for model, fields in CORE["read_model_fields"].items():
        declared = view(core.store, core.snapshots[model]).properties()
        valid = read_json(FIXTURES / "agent-runtime/0.3/documents/snapshots" / f"{model}.json")["cases"][0]["document"]
        for field in fields:
            assert field in declared, f"{model}.{field}"
            assert valid.get(field) is not None, f"{model}.{field}"


def test_every_identity_and_envelope_field_exists_and_is_used(core):
    declared = view(core.store, core.envelope).properties()
    used = text_of("agent-runtime/0.3/golden", "agent-runtime/0.3/documents/events")
    for name in CORE["identities"]:
        assert name in core.identities
    for name in [*CORE["identities"], *CORE["envelope"]]:
        assert name in declared, name
        assert f'"{name}"' in used, name


def test_every_word_of_the_completion_semantics_is_a_status_and_occurs(core, golden):
    words = core.store.subschema("agent-runtime/0.3/definitions/statuses.schema.json")["$defs"]
    assert set(CORE["words"]) <= set(words["turn"]["enum"])
    for vocabulary in words.values():
        assert set(WORDS) <= set(vocabulary["enum"])
    assert set(CORE["honest"]) <= set(WORDS)
    reached = {state.split(".")[1] for state in golden["agent-runtime/0.3"].states}
    told = text_of("agent-runtime/0.3/golden")
    for word in CORE["words"]:
        assert word in reached or f'"status": "{word}"' in told, word


@pytest.mark.parametrize("name", ["agenthub/1", "runagents/1", "agent-threads/1"])
def test_every_state_exists_in_the_run_table_and_is_reached(name, golden):
    assert set(SEEDS[name]["states"]) <= set(load_protocol(name).machines["run"].states)
    assert {f"run.{state}" for state in SEEDS[name]["states"]} <= golden[name].states


def test_agenthub_codes_gates_and_metadata_are_data_in_two_languages():
    protocol, seed = load_protocol("agenthub"), SEEDS["agenthub/1"]
    tables = protocol.tables
    assert [row["id"] for row in tables["failures"]["rows"]] == seed["failures"]
    assert len(tables["gates"]["rows"]) == seed["gates"]
    items = {row["text"]["en"]["item"].lower(): row for row in tables["metadata"]["rows"]}
    assert {name: row["text"]["en"]["metadata"].split(", ") for name, row in items.items()} == seed["metadata"]
    used = text_of("agenthub/1/golden", "agenthub/1/documents")
    for row in items.values():
        for field in row["values"]["fields"]:
            assert f'"{field}"' in used, field
    for code in seed["failures"]:
        assert f'"{code}"' in text_of("agenthub/1/golden"), code
    for row in tables["gates"]["rows"]:
        for action in row["values"]["actions"]:
            assert f'"{action}"' in used, action
    for table in ("phases", "gates", "failures", "metadata", "vocabulary"):
        for row in tables[table]["rows"]:
            assert {"en", "zh"} <= row["text"].keys(), f"{table} {row['id']}"


def test_the_vocabulary_holds_every_state_event_code_and_gate():
    protocol = load_protocol("agenthub")
    words = {row["id"] for row in protocol.tables["vocabulary"]["rows"]}
    wanted = set(protocol.machines["run"].states) | set(protocol.events)
    wanted |= {row["id"] for row in protocol.tables["failures"]["rows"]}
    wanted |= {f"gate.{row['id']}" for row in protocol.tables["gates"]["rows"]}
    assert wanted - words == set()


def test_agenthub_envelope_is_as_the_page_shows_it():
    declared = view(load_protocol("agenthub").store, load_protocol("agenthub").envelope).properties()
    assert set(SEEDS["agenthub/1"]["envelope"]) <= set(declared)


@pytest.mark.parametrize("name", ["runagents/1", "agent-threads/1"])
def test_records_have_every_field_the_page_names(name):
    protocol = load_protocol(name)
    for record, fields in SEEDS[name]["records"].items():
        declared = view(protocol.store, protocol.records[record]).properties()
        assert set(fields) <= set(declared), record
    for export in SEEDS[name].get("exports", ()):
        assert export in protocol.records
