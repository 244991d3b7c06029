"""Laws of the judge: the same bytes give the same report however they come; what does not matter changes nothing."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import PROTOCOLS
from tests.properties.streams import (
    GOLDEN,
    HEADLESS,
    READABLE,
    RULE_STREAMS,
    as_bytes,
    camel,
    interleaved,
    judge,
    law,
    lines_of,
    marks,
    outcomes,
    renamed,
    vendor_event,
)
from tests.properties.test_fold_laws import CALM, identified
from validator.engine import Validator
from validator.protocol.protocol import load_protocol
from validator.renderers import render
from validator.rulestreams import options_of
from validator.run import Run

CORE = "agent-runtime/0.3"
CAPTURES = [*[(name, path, {}) for name in PROTOCOLS for path in GOLDEN[name][:3]], *RULE_STREAMS]
READ = {path for _, path, _ in READABLE}
DRAWN = [*[(name, path, {}) for name in PROTOCOLS for path in GOLDEN[name]], *READABLE]

RETURNS = (b'"reconnect"', b'"channel.resumed"')
CONNECTED = [entry for entry in DRAWN if not any(word in entry[1].read_bytes() for word in RETURNS)]
SPELT = [
    entry
    for entry in DRAWN
    if b'"eventId"' not in (raw := entry[1].read_bytes()) and not (entry[0] == CORE and b'"profile":"strict"' in raw)
]
"""Captures that are spelt as the vendor's event is, under no profile that demands more of it than the envelope does."""
ONE_CASING = [entry for entry in DRAWN if entry[0] == CORE and entry[1].parent.name != "FRM014"]
"""Captures that have another form: not those that are about a mixture of both."""


def fed(pieces, name, entry):
    judge = Validator("drawn.ndjson", options_of(load_protocol(name), entry))
    for piece in pieces:
        judge.feed(piece)
    return render("json", Run((judge.close(),)))


@law
@given(capture=st.sampled_from(CAPTURES), data=st.data())
def test_however_it_is_cut_the_report_is_the_same(capture, data):
    name, path, entry = capture
    raw = path.read_bytes()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=8)))
    whole = fed([raw], name, entry)
    assert fed([raw[start:end] for start, end in zip([0, *cuts], [*cuts, len(raw)], strict=True)], name, entry) == whole
    assert fed(raw.splitlines(keepends=True), name, entry) == whole
    assert load_protocol(name).store.errors("report/1/report.schema.json", json.loads(whole)) == []


def test_the_hash_seed_decides_nothing():
    files = [str(GOLDEN[name][0]) for name in PROTOCOLS]
    files += [str(path) for name, path, _ in READABLE[:: len(READABLE) // 4] if name == CORE]
    command = [sys.executable, "-c", "from validator.cli import main; main()", "check", *files, "--format", "json"]
    told = [
        subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed}) for seed in ("1", "77")
    ]
    assert told[0].stdout == told[1].stdout
    assert len(json.loads(told[0].stdout)["captures"]) == len(files)


@law
@given(capture=st.sampled_from(CONNECTED), data=st.data())
def test_an_event_delivered_again_changes_no_verdict(capture, data):
    """After a reconnection what is delivered again is the replay itself, which has rules of its own."""
    name, path, entry = capture
    lines = lines_of(path)
    place = data.draw(st.integers(1, len(lines)))
    earlier = [line for line in lines[:place] if "record" not in line and identified(name, line, lines)]
    if not earlier:
        return
    again = [*lines[:place], data.draw(st.sampled_from(earlier)), *lines[place:]]
    plain, told = judge(lines, name, entry), judge(again, name, entry)
    back = {number: number - 1 if number > place + 1 else number for number in range(1, len(again) + 1)}
    assert (told.verdict, told.incomplete) == (plain.verdict, plain.incomplete)
    assert marks(told, back) == marks(plain)


def with_a_field(event):
    """An event with a vendor's field; in an export every event has it, as it has in the log."""
    if "record" in event:
        held = event.get("snapshot")
        exports = isinstance(held, dict) and isinstance(held.get("events"), list)
        return {**event, "snapshot": with_a_field(held)} if exports else event
    inside = event.get("events")
    held = {"events": [with_a_field(entry) for entry in inside]} if isinstance(inside, list) else {}
    return {**event, **held, "x_acme": {"kind": "vendor"}}


@law
@given(capture=st.sampled_from(SPELT), data=st.data())
def test_what_nobody_lists_changes_no_verdict_and_no_outcome(capture, data):
    name, path, entry = capture
    lines = lines_of(path)
    place = data.draw(st.integers(1, len(lines)))
    told = [with_a_field(line) for line in lines]
    told.insert(place, vendor_event(name, 1, lines[:place]))
    plain, found = judge(lines, name, entry), judge(told, name, entry)
    back = {number: number - 1 if number > place + 1 else number for number in range(1, len(told) + 1)}
    assert (found.verdict, found.incomplete) == (plain.verdict, plain.incomplete)
    assert marks(found, back) == marks(plain)
    differing = {key: value for key, value in outcomes(found).items() if outcomes(plain)[key] != value}
    # A clause about unknown types and fields has something to look at now.
    assert set(differing.values()) <= {"pass"}


@law
@given(capture=st.sampled_from(ONE_CASING))
def test_the_other_casing_gets_the_same_verdict(capture):
    name, path, entry = capture
    core, lines = load_protocol(name), lines_of(path)
    plain, told = judge(lines, name, entry), judge([camel(core, line) for line in lines], name, entry)
    assert told.verdict == plain.verdict
    assert marks(told, pointers=False) == marks(plain, pointers=False)


def is_restarted(path):
    """True for a capture of a runtime that was stopped and started; that concerns every stream."""
    return any(line.get("record") == "restart" for line in lines_of(path))


def manner(lines):
    """What a capture says as a whole: whether commands were captured, how names are spelt, whether a version is named.

    Streams that differ in this are not independent.
    """
    events = [line for line in lines if "record" not in line]
    words = {word for word in ("eventId", "schema_version") if any(word in event for event in events)}
    return any(line.get("record") == "command" for line in lines), words


def is_shown_by_others(rule, line, later, others):
    """True for a finding that rests on what another stream shows as well.

    That the runtime went on is shown by any later answer, that it tells its routes by any route, and that there are
    sessions by any of them.
    """
    if rule in {"CMD001", "CMD007"}:
        return any(other.get("record") == "result" for other in later)
    if rule == "RTE005":
        return any(str(other.get("type")).startswith("routing.") for other in others)
    return rule == "IDN004" and "session_id" not in line


def is_left_open_by_others(rule, line, between):
    """True for a finding about an answer without a sequence: after any event nobody knows what it reflects."""
    return (
        rule in {"SNP001", "SNP006"} and line.get("record") == "result" and any("record" not in one for one in between)
    )


def own_streams(name):
    """Streams that can be told beside others: without a restart or limits of their own, and some others are alike."""
    manners = [manner(lines_of(calm)) for calm in CALM[name]]
    own = [(path, entry) for protocol, path, entry in HEADLESS if protocol == name and path in READ]
    own = [(path, entry) for path, entry in own if "max_line_bytes" not in entry.get("options", {})]
    return [(path, entry) for path, entry in own if not is_restarted(path) and manner(lines_of(path)) in manners]


@pytest.mark.parametrize("name", PROTOCOLS)
@law
@given(data=st.data())
def test_independent_streams_are_judged_as_if_alone(name, data):
    path, entry = data.draw(st.sampled_from(own_streams(name)))
    one = renamed(lines_of(path), "_one")
    others = [calm for calm in CALM[name] if manner(lines_of(calm)) == manner(one)]
    two = renamed(lines_of(data.draw(st.sampled_from(others))), "_two")
    mixed, origin = interleaved(data.draw(st.lists(st.booleans(), max_size=40)), one, two)
    found = marks(judge(mixed, name, entry))
    for which, lines in enumerate((one, two)):
        places = {number: at for at, (who, number) in enumerate(origin) if who == which}
        others = [line for line, (who, _) in zip(mixed, origin, strict=True) if who != which]
        numbers = {at + 1: number for number, at in places.items()}
        mine = [(numbers[mark[0]], *mark[1:]) for mark in found if mark[0] in numbers]
        alone = marks(judge(lines, name, entry))
        # What precedes a line alone precedes it here too, so what stands between is the other's.
        between = {number: mixed[places.get(number - 1, -1) + 1 : at] for number, at in places.items()}
        more = [
            mark
            for mark in mine
            if mark not in alone
            and is_shown_by_others(mark[1], lines[mark[0] - 1], mixed[places[mark[0]] + 1 :], others)
        ]
        less = [
            mark
            for mark in alone
            if mark not in mine and is_left_open_by_others(mark[1], lines[mark[0] - 1], between[mark[0]])
        ]
        assert [mark for mark in mine if mark not in more] == [mark for mark in alone if mark not in less], as_bytes(
            mixed
        )
