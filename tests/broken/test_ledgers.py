"""Each broken ledger is caught by the rule it breaks, and by no other; without its fault nothing is found."""

import pytest

from tests.broken import ledger_faults, ledger_views
from tests.broken.ledgers import LedgerFault, capture_of
from tests.runtime.judging import judge

FAULTS = sorted(LedgerFault.__subclasses__(), key=lambda fault: fault.__name__)
assert {fault.__module__ for fault in FAULTS} == {ledger_faults.__name__, ledger_views.__name__}


def rules(fault, patcher):
    report = judge(capture_of(fault, patcher), "complete")
    assert not report.crashes
    return {finding.rule for finding in report.findings}


def sound(fault):
    """A ledger without the fault, in the same story."""
    told = LedgerFault()
    told.story = fault().story
    return told


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_is_caught_by_its_rule_and_by_no_other(fault, monkeypatch):
    assert rules(fault(), monkeypatch) == {fault.rule, *fault.also}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_the_same_story_without_the_fault_is_clean(fault, monkeypatch):
    assert rules(sound(fault), monkeypatch) == set()
