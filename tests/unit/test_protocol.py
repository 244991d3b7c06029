"""A protocol is loaded as a whole; what does not fit together is refused where it stands."""

import pytest

from validator.errors import DefinitionError, UsageError
from validator.protocol.protocol import available, load_protocol


def broken(contract, old, new, file="protocol.yaml", protocol="agent-runtime/0.3"):
    path = contract / "schemas" / protocol / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(DefinitionError) as caught:
        load_protocol(protocol, contract / "schemas")
    return caught.value


def test_the_four_protocols_are_there():
    assert available() == ["agent-runtime/0.3", "agent-threads/1", "agenthub/1", "runagents/1"]


def test_a_protocol_is_found_by_name_and_by_version():
    assert load_protocol("agent-runtime") is load_protocol("agent-runtime/0.3") is load_protocol("agent-runtime@0.3")


@pytest.mark.parametrize("name", ["agentruntime", "agent-runtime/9", ""])
def test_an_unknown_name_lists_the_known_ones(name):
    with pytest.raises(UsageError) as caught:
        load_protocol(name)
    assert "agent-runtime/0.3, agent-threads/1, agenthub/1, runagents/1" in str(caught.value)


def test_an_event_without_a_schema_is_refused(contract):
    error = broken(contract, "session.updated]", "session.updated, session.closed]")
    assert (
        error.reason
        == "events/session.closed has no schema at agent-runtime/0.3/events/session.schema.json#/$defs/session.closed"
    )


def test_an_event_that_neither_moves_nor_informs_is_refused(contract):
    error = broken(contract, "  session.updated: Metadata only.\n", "")
    assert error.reason == "session.updated moves no machine and is not informational"
    assert error.source == "schemas/agent-runtime/0.3/protocol.yaml"
    assert error.place.startswith("line ")


def test_an_event_that_moves_cannot_be_called_informational(contract):
    error = broken(contract, "informational:\n", "informational:\n  turn.started: It does not.\n")
    assert error.reason == "turn.started moves a machine, so it is not informational"


def test_an_event_in_two_families_is_refused(contract):
    error = broken(
        contract,
        "events: [thread.started, thread.updated]",
        "events: [thread.started, thread.updated, session.created]",
    )
    assert error.reason == "an event type is listed in two families"


def test_a_schema_that_no_family_lists_is_refused(contract):
    error = broken(contract, "events: [session.created, session.updated]", "events: [session.created]")
    assert "defines session.updated, which no family lists" in error.reason


def test_a_table_that_waits_for_a_state_nobody_has_is_refused(contract):
    error = broken(contract, "into: [removed]", "into: [vanished]", "machines/turn.yaml")
    assert "waits for queue to become vanished" in error.reason


def test_a_table_that_counts_what_nobody_lists_is_refused(contract):
    error = broken(contract, "when: {open.job_item: [none]}", "when: {open.job_itm: [none]}", "machines/job.yaml")
    assert "open.job_itm" in error.reason


def test_a_table_driven_by_an_unknown_event_is_refused(contract):
    error = broken(contract, "{event: task.archived", "{event: task.archive", "machines/task.yaml")
    assert "task.archive" in error.reason


def test_a_command_that_writes_an_unknown_event_is_refused(contract):
    error = broken(contract, "writes: [task.updated]", "writes: [task.changed]")
    assert error.reason == "no family lists task.changed"


def test_an_alias_of_nothing_is_refused(contract):
    error = broken(contract, ": APPROVED", ": APPROVD", protocol="runagents/1")
    assert error.reason == "no family lists APPROVD"


def test_a_family_that_carries_an_unknown_identity_is_refused(contract):
    error = broken(contract, "carries: {must: [session_id]}", "carries: {must: [sesion_id]}")
    assert error.reason == "sesion_id is not an identity or field"


def test_a_file_that_names_another_protocol_is_refused(contract):
    error = broken(contract, 'version: "0.3"', 'version: "0.4"')
    assert error.reason == "the file names agent-runtime/0.4"


def test_a_malformed_reference_table_is_refused_with_its_line(contract):
    error = broken(contract, "rows:\n  - id: diff", "rows:\n  - name: diff", "tables/metadata.yaml", "agenthub/1")
    assert error.source == "schemas/agenthub/1/tables/metadata.yaml"
    assert error.place.startswith("line ")
    assert error.hint == "see _meta/table.schema.json"


def test_a_table_driven_by_an_event_that_no_family_lists_is_refused(contract):
    row = "moves:\n  - {event: acme.started, from: [none], to: accepted, clause: TURN-1}\n"
    error = broken(contract, "moves:\n", row, "machines/turn.yaml")
    assert error.reason == "a state table is driven by acme.started, which no family lists"


def test_an_informational_event_that_no_family_lists_is_refused(contract):
    error = broken(contract, "informational:\n", "informational:\n  acme.noted: It informs.\n")
    assert error.reason == "no family lists acme.noted"


def test_what_is_no_folder_of_a_protocol_is_not_listed(tmp_path):
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "empty" / "1").mkdir(parents=True)
    (tmp_path / "mine" / "1").mkdir(parents=True)
    (tmp_path / "mine" / "1" / "protocol.yaml").write_text("")
    assert available(tmp_path) == ["mine/1"]
