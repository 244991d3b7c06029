"""Rules asked in shares find what all of them find together."""

import json

import pytest

from validator import judging, processes, resources
from validator.engine import Options, Validator
from validator.rules._catalog import load_rules
from validator.sharing import shared

GOLDEN = sorted(resources.fixtures().glob("*/*/golden/*.ndjson"))
STREAMS = sorted(resources.fixtures().glob("*/*/rules/*/*.ndjson"))


def judged(path, share=None, parts=(), options=None):
    validator = Validator(path.name, options or Options(), share)
    validator.feed(path.read_bytes())
    return validator.part() if share and share[0] else validator.close(parts)


@pytest.mark.parametrize("turn", range(4))
def test_shares_add_up_to_the_report_of_one_process(turn):
    for path in (GOLDEN + STREAMS[::9])[turn::4]:
        count = 2 + turn % 2
        parts = [judged(path, (index, count)) for index in range(1, count)]
        whole = judged(path)
        assert not whole.crashes
        assert judged(path, (0, count), parts) == whole, path


def test_a_profile_with_demands_is_judged_by_one_share():
    path = resources.fixtures() / "agent-runtime" / "0.3" / "golden" / "happy-path.ndjson"
    options = Options(profile="strict")
    part = judged(path, (1, 2), options=options)
    assert not part.rule_looks
    assert judged(path, (0, 2), [part], options) == judged(path, options=options)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_every_rule_is_in_one_share_and_with_those_it_shares_a_ledger_with(count):
    rules = tuple(load_rules("agent-runtime").values())
    shares = [shared(rules, (index, count)) for index in range(count)]
    assert sorted(rule.id for share in shares for rule in share) == [rule.id for rule in rules]
    kept = [{ledger for rule in share for ledger in rule.ledgers} for share in shares]
    assert sum(map(len, kept)) == len(set().union(*kept))
    assert sum(any(rule.follows for rule in share) for share in shares) == 1


def test_one_large_capture_is_judged_in_several_processes(tmp_path, monkeypatch):
    story = (resources.fixtures() / "agent-runtime" / "0.3" / "golden" / "happy-path.ndjson").read_text()
    path = tmp_path / "many.ndjson"
    path.write_text(story + story.replace("ses_1", "ses_2") + '{"type":"turn.completed"}\n{"cut')
    whole = judging.judge([str(path)], Options()).reports
    monkeypatch.setattr(processes, "LARGE", 1)
    heard = []
    assert judging.judge([str(path)], Options(), 2, heard.append).reports == whole
    assert sum(heard) == path.stat().st_size
    assert whole[0].findings


def test_a_rule_that_fails_is_reported_as_by_one_process(tmp_path, monkeypatch):
    rule = load_rules("agent-runtime")["ORD001"]
    check = rule.check

    def fails(step, world, context):
        raise ZeroDivisionError

    object.__setattr__(rule, "check", fails)
    try:
        path = tmp_path / "one.ndjson"
        head = {"record": "header", "capture": "1", "protocol": "agent-runtime", "version": "0.3"}
        event = {"type": "session.created", "event_id": "e1", "timestamp": "2026-05-08T09:00:00Z", "session_id": "s"}
        path.write_text(json.dumps(head) + "\n" + json.dumps({**event, "sequence": 1}) + "\n")
        whole = judging.judge([str(path)], Options()).reports
        monkeypatch.setattr(processes, "LARGE", 1)
        assert judging.judge([str(path)], Options(), 2).reports == whole
        assert [crash.rule for crash in whole[0].crashes] == ["ORD001"]
    finally:
        object.__setattr__(rule, "check", check)
