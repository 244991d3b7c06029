"""Sessions judged apart give the report of one judge, byte for byte, or are not judged apart."""

import random

import pytest

from tests.properties.apart import HEADER, apart, damaged, mixed, together, written
from tests.properties.streams import camel
from validator import engine
from validator.engine import Options
from validator.protocol.protocol import load_protocol
from validator.replay import world
from validator.replay.readmodels.agent_runtime import recall
from validator.rules.redaction import redacted_here_plain_there as redactions
from validator.rules.snapshot import old_fact_told_anew as told

OPTIONS = (
    *(Options(), Options(), Options(max_findings_per_rule=2), Options(expect="complete")),
    *(Options(profile="strict"), Options(select=("SNP002", "TRM", "GOV")), Options(canaries=("Main",))),
)
HEADERS = ({}, {"completeness": "complete"}, {"completeness": "prefix"}, {"canaries": ["Main"]})


def judged(choose, share, times, in_camel_case=False):
    """One capture judged by one and by several; whether they could."""
    events = damaged(mixed(choose, choose.randint(2, 12), share), choose, times)
    if in_camel_case:
        core = load_protocol("agent-runtime")
        events = [camel(core, event) if isinstance(event.get("type"), str) else event for event in events]
    header = [{**HEADER, **choose.choice(HEADERS)}] if choose.random() < 0.4 else []
    raw, options = written([*header, *events]), choose.choice(OPTIONS)
    found = apart(raw, choose.choice((2, 2, 3)), options)
    if found is not None:
        assert repr(found) == repr(together(raw, options))
    return found is not None


@pytest.mark.parametrize("seed", range(40))
def test_what_is_told_side_by_side_is_judged_as_by_one(seed):
    choose = random.Random(seed)
    judged(choose, choose.choice((0, 0, 0.02, 0.2)), choose.choice((0, 1, 4, 12)))


@pytest.mark.parametrize("seed", range(40, 80))
def test_so_it_is_when_little_is_remembered(seed, monkeypatch):
    choose = random.Random(seed)
    monkeypatch.setattr(world, "RECENT", choose.choice((40, 100)))
    monkeypatch.setattr(recall, "TAKEN", choose.choice((60, 200, 20_000)))
    monkeypatch.setattr(told, "KEPT", choose.choice((20, 4096)))
    monkeypatch.setattr(redactions, "_STEPS_KEPT", choose.choice((30, 10_000)))
    monkeypatch.setattr(redactions, "_PLAIN_KEPT", choose.choice((5, 50_000)))
    judged(choose, 0, choose.choice((0, 1, 4)))


@pytest.mark.parametrize("seed", range(80, 100))
def test_so_it_is_in_camel_case(seed):
    choose = random.Random(seed)
    judged(choose, choose.choice((0, 0, 0.02)), choose.choice((0, 1, 4)), in_camel_case=True)


@pytest.mark.parametrize("few", [1, 7, 60])
def test_it_does_not_matter_when_the_short_way_begins_for_one_judge(few, monkeypatch):
    monkeypatch.setattr(engine, "FEW", few)
    assert sum(judged(random.Random(seed), 0, 0) for seed in range(100, 110)) >= 5


@pytest.mark.parametrize("in_camel_case", [False, True])
def test_most_of_what_has_nothing_in_common_is_judged_apart(in_camel_case):
    assert sum(judged(random.Random(seed), 0, 0, in_camel_case) for seed in range(100, 130)) >= 15


def test_a_name_in_the_other_casing_concerns_all_sessions():
    drawn = (mixed(random.Random(seed), 4, 0) for seed in range(101, 131))
    # What is drawn hangs on which fixtures there are, and some cannot be judged apart.
    events = next(events for events in drawn if apart(written(events), 2) is not None)
    core = load_protocol("agent-runtime")
    for place in (0, 1, len(events) // 2, len(events) - 1):
        told = [camel(core, event) if number == place else event for number, event in enumerate(events)]
        assert apart(written(told), 2) is None


@pytest.mark.parametrize("raw", [b"", b'{"cut'])
def test_where_no_line_can_be_read_nothing_is_judged_apart(raw):
    assert apart(raw, 2, Options(protocol="agent-runtime")) is None
