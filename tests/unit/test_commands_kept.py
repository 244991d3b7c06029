"""A command that a rule has yet to speak of at the end is not let go of, however long ago it was sent."""

import io

import pytest

from tests.conformance.test_rules import STREAMS, named
from tests.conformance.variations import document, renamed, written
from validator.engine import validate
from validator.protocol.protocol import load_protocol
from validator.replay import world
from validator.rulestreams import options_of

LEFT_OPEN = ("CMD001", "CMD004", "CMD005", "CMD006", "CMD012")
"""Rules that speak at the end of what never followed."""
MADE = [stream for stream in STREAMS if stream[1] in LEFT_OPEN and stream[2].stem.startswith("trips")]


def told_thrice(path):
    """A stream, and behind it the same two more times under other ids."""
    once = [document(line) for line in path.read_bytes().splitlines()]
    again = [one for one in once if one.get("record") != "header"]
    twice = [renamed(one) for one in again]
    return b"\n".join(map(written, [*once, *twice, *map(renamed, twice)])) + b"\n"


def found(protocol, rule, path, entry):
    report = validate(io.BytesIO(told_thrice(path)), path.name, options_of(protocol, entry))
    return [fault.line for fault in report.findings if fault.rule == rule]


@pytest.mark.parametrize(("name", "rule", "path", "entry"), MADE, ids=named)
def test_a_command_with_something_left_to_say_is_kept(name, rule, path, entry, monkeypatch):
    protocol = load_protocol(name)
    whole = found(protocol, rule, path, entry)
    assert len(whole) >= 3
    monkeypatch.setattr(world, "RECENT", 4)
    assert found(protocol, rule, path, entry) == whole
