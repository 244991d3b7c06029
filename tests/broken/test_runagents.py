"""Each broken platform is caught by the rule it breaks, and by no other; without its fault nothing is found."""

import pytest

from tests.broken import runagents_gates, runagents_log
from tests.broken.platform import PlatformFault, capture_of
from tests.runtime.judging import judge

FAULTS = sorted(PlatformFault.__subclasses__(), key=lambda fault: fault.__name__)
assert {fault.__module__ for fault in FAULTS} == {runagents_gates.__name__, runagents_log.__name__}


def rules(fault, patcher):
    report = judge(capture_of(fault, patcher), fault.expect)
    assert not report.crashes
    return {finding.rule for finding in report.findings}


def test_there_are_enough_of_them():
    assert len(FAULTS) >= 20


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_is_caught_by_its_rule_and_by_no_other(fault, monkeypatch):
    assert rules(fault(), monkeypatch) == {fault.rule}


@pytest.mark.parametrize("vocabulary", ["api", "operations"])
def test_the_same_book_without_a_fault_writes_what_nobody_objects_to(vocabulary, monkeypatch):
    sound = PlatformFault()
    sound.vocabulary = vocabulary
    assert rules(sound, monkeypatch) == set()
