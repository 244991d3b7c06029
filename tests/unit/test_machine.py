"""Tables are sound, and an unsound one is refused where it is wrong."""

from dataclasses import replace

import pytest

from tests.conftest import PROTOCOLS
from validator import resources
from validator.errors import DefinitionError
from validator.protocol.machine import SAME, Driver, load_machine, problems
from validator.protocol.protocol import load_protocol
from validator.protocol.schemas import load_store

MACHINES = [(name, machine) for name in PROTOCOLS for machine in load_protocol(name).machines]


def reasons(machine):
    return [reason for _, reason in problems(machine)]


def rebuilt(machine, rows):
    by_driver = {}
    for row in rows:
        by_driver[row.driver] = (*by_driver.get(row.driver, ()), row)
    return replace(machine, rows=tuple(rows), by_driver=by_driver)


@pytest.mark.parametrize(("protocol", "name"), MACHINES)
def test_every_table_is_sound(protocol, name):
    assert reasons(load_protocol(protocol).machines[name]) == []


@pytest.mark.parametrize(("protocol", "name"), MACHINES)
def test_a_state_that_no_row_reaches_is_found(protocol, name):
    machine = load_protocol(protocol).machines[name]
    for state in machine.states:
        rows = [row for row in machine.rows if row.target != state]
        assert f"no row leads to {state}" in reasons(rebuilt(machine, rows))


@pytest.mark.parametrize(("protocol", "name"), MACHINES)
def test_a_state_without_a_way_out_is_found(protocol, name):
    machine = load_protocol(protocol).machines[name]
    for state, kind in machine.states.items():
        if kind == "terminal":
            continue
        rows = [replace(row, sources=tuple(s for s in row.sources if s != state)) for row in machine.rows]
        assert f"{state} is {kind} but no row leaves it" in reasons(rebuilt(machine, rows))


@pytest.mark.parametrize(("protocol", "name"), MACHINES)
def test_two_rows_that_can_both_be_taken_are_found(protocol, name):
    machine = load_protocol(protocol).machines[name]
    for row in machine.rows:
        twin = replace(row, index=len(machine.rows))
        found = reasons(rebuilt(machine, [*machine.rows, twin]))
        assert any(f"rows {row.index + 1} and {twin.index + 1} can both be taken" in reason for reason in found)


@pytest.mark.parametrize(("protocol", "name"), MACHINES)
def test_a_row_with_a_misspelt_state_is_found(protocol, name):
    machine = load_protocol(protocol).machines[name]
    row = machine.rows[-1]
    broken = [*machine.rows[:-1], replace(row, target="compelted")]
    assert f"compelted is not a state of {name}" in reasons(rebuilt(machine, broken))
    broken = [*machine.rows[:-1], replace(row, sources=(*row.sources, "runing"))]
    assert f"runing is not a state of {name}" in reasons(rebuilt(machine, broken))


def test_nothing_stays_the_same_before_it_exists(core):
    machine = core.machines["turn"]
    broken = [replace(machine.rows[0], target=SAME), *machine.rows[1:]]
    assert "a subject not seen before has no same state" in reasons(rebuilt(machine, broken))


def test_only_a_move_has_states_it_moved_into(core):
    machine = core.machines["turn"]
    broken = [replace(machine.rows[0], into=("pending",)), *machine.rows[1:]]
    assert "only a move has states it moved into" in reasons(rebuilt(machine, broken))


TABLE = """\
machine: lamp
title: Lamp
subject: [lamp_id]
work: true
owns: [lamp]
states: {off: initial, on: active, broken: terminal}
moves:
  - {event: lamp.made, from: [none], to: off, clause: LAMP-1}
  - {event: lamp.lit, from: [off], to: on, clause: LAMP-2}
  - {event: lamp.broke, from: [off, on], to: broken, clause: LAMP-3}
"""


@pytest.mark.parametrize(
    ("old", "new", "place", "reason"),
    [
        ("to: on,", "too: on,", "line 9 (/moves/1)", "lacks to"),
        ("clause: LAMP-2", "clause: lamp2", "line 9 (/moves/1/clause)", "must match"),
        ("on: active", "on: busy", "line 6 (/states/on)", "must be one of"),
        ("from: [off], to: on", "from: [of], to: on", "line 9 (/moves/1/from)", "of is not a state of lamp"),
        ("from: [off], to: on", "from: [off], to: on, when: {a: []}", "line 9 (/moves/1/when/a)", "breaks minItems 1"),
        (
            "  - {event: lamp.lit",
            "  - {from: [off], to: on, clause: LAMP-9}\n  - {event: lamp.lit",
            "line 9 (/moves/1)",
            "lacks one of",
        ),
        ("machine: lamp", "machine: lantern", None, "the file is not"),
        (
            "states: {off: initial,",
            "states: {same: active, off: initial,",
            "line 6 (/states/same)",
            "same is not a state",
        ),
        ("  - {event: lamp.lit", "  - {event: lamp.lit, to: off, to: on", "line 9, column 32", "'to' occurs twice"),
    ],
)
def test_a_bad_table_is_refused_with_file_place_and_reason(tmp_path, old, new, place, reason):
    store = load_store(resources.schemas().resolve())
    path = tmp_path / "schemas" / "lamp.yaml"
    path.parent.mkdir()
    path.write_text(TABLE)
    assert load_machine(path, store).is_open("on")
    path.write_text(TABLE.replace(old, new, 1))
    with pytest.raises(DefinitionError) as caught:
        load_machine(path, store)
    assert caught.value.source == "schemas/lamp.yaml"
    assert reason in caught.value.reason
    if place:
        assert caught.value.place == place


def test_a_refusal_cites_the_row_that_only_the_state_bars(core):
    turn = core.machines["turn"]
    driver = Driver("event", "turn.failed")
    row = turn.nearest(driver, "completed", {"payload.status": "cancelled"}.get)
    assert (row.clause, row.target) == ("TURN-11", "cancelled")


def test_an_honest_value_satisfies_no_listed_word(core):
    honest = {"honest": "unknown", "reason": "Not told."}
    rows = core.machines["turn"].by_driver[Driver("event", "turn.submitted")]
    assert [row for row in rows if "none" in row.sources and row.holds({"payload.status": honest}.get)] == []
    assert [row for row in rows if "none" in row.sources and row.holds({"payload.status": "accepted"}.get)]
