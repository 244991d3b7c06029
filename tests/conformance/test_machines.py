"""Every pair of a state and a driver is driven: what the table has passes, what it has not is found with its clause.

Where a table asks more than the state (a payload, other open subjects), a pair is driven once for every answer that
golden lines and golden prefixes give.
"""

import io
import json
from dataclasses import replace

import pytest

from tests.conformance.drives import drives, pairs, problem, stories
from tests.conformance.drives_by_move import move_drives
from tests.conftest import PROTOCOLS
from validator.engine import Options, validate
from validator.protocol.machine import NONE
from validator.protocol.protocol import load_protocol

MACHINES = [(name, machine) for name in PROTOCOLS for machine in load_protocol(name).machines]

NEVER = {
    ("job_item", NONE, "move job"),
    ("run", NONE, "move run"),
    ("approval", NONE, "move run"),
    ("blocked_action", NONE, "move blocked_action"),
    ("blocked_action", NONE, "move run"),
}
"""Members and siblings are looked up among the subjects that exist, so no move reaches one that was never seen."""

SHOWN = {("blocked_action", NONE, "record blocked_action")}
"""A stored record shows its own subject, so it is never an effect before its cause (ORD005), whatever it says first."""


def driven(protocol, machine, state, driver, into):
    if driver.kind == "move":
        return list(move_drives(protocol, machine, state, driver, into))
    return list(drives(protocol, machine, state, driver))


@pytest.mark.parametrize(("name", "machine"), MACHINES)
def test_the_judge_says_what_the_table_says(name, machine):
    protocol = load_protocol(name)
    table, wrong, never = protocol.machines[machine], [], set()
    for state, driver, into in pairs(protocol, table):
        rows = [row for row in table.by_driver[driver] if state in row.sources and (not into or into in row.into)]
        found = driven(protocol, table, state, driver, into)
        if not any(drive.legal == bool(rows) for drive in found):
            never.add((machine, state, str(driver)))
        wrong += [reason for drive in found if (reason := problem(protocol, drive)) and not is_shown(drive)]
    assert wrong == []
    assert never == {pair for pair in NEVER if pair[0] == machine} & listed(protocol, table)


def listed(protocol, table):
    return {(table.name, state, str(driver)) for state, driver, _ in pairs(protocol, table)}


def is_shown(drive):
    return not drive.legal and (drive.machine.name, drive.stand.state, str(drive.driver)) in SHOWN


@pytest.mark.parametrize(("name", "machine"), MACHINES)
def test_the_whole_judge_agrees(name, machine):
    """One illegal pair of every table, as a capture, through reading, schemas and all rules."""
    protocol = load_protocol(name)
    table = protocol.machines[machine]
    tried = (
        drive
        for state, driver, _ in pairs(protocol, table)
        for drive in (drives(protocol, table, state, driver) if state != NONE and driver.kind != "move" else ())
    )
    drive = next((drive for drive in tried if not drive.legal), None)
    assert drive, "every table forbids something"
    lines = (*stories(name)[drive.stand.story][: drive.stand.length], drive.line)
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    report = validate(io.BytesIO(data), "driven.ndjson", Options(protocol=name))
    rule = "TRM001" if table.is_terminal(drive.stand.state) else "STA001"
    assert (rule, len(lines), (machine, drive.key)) in [(f.rule, f.line, f.entity) for f in report.findings]
    assert report.verdict == "violations"


def test_a_table_with_a_row_too_many_is_noticed(core):
    """The drives can fail: told that one more state is a source, they say where the judge differs."""
    table = core.machines["compaction"]
    told = (drive for state, driver, _ in pairs(core, table) for drive in drives(core, table, state, driver))
    drive = next(drive for drive in told if not drive.legal)
    assert problem(core, drive) is None
    assert "the table says move" in problem(core, replace(drive, legal=True))
