"""Each broken runtime is caught by the rule it breaks, and by no other; without its fault nothing is found."""

import json

import pytest

from tests.broken import governance, real_work, wire, work
from tests.broken.runtimes import Fault, capture_of
from tests.runtime.judging import judge

FAULTS = sorted(Fault.__subclasses__(), key=lambda fault: fault.__name__)
assert {fault.__module__ for fault in FAULTS} == {one.__name__ for one in (governance, real_work, wire, work)}


def rules(fault, patcher):
    report = judge(capture_of(fault, patcher), fault.expect)
    assert not report.crashes
    return {finding.rule for finding in report.findings}


def test_there_are_enough_of_them():
    assert len(FAULTS) >= 15


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_is_caught_by_its_rule_and_by_no_other(fault, monkeypatch):
    assert rules(fault(), monkeypatch) == {fault.rule}


TOLD_BY = ("scripts", "acts", "expect", "work", "settings")
STORIES = {json.dumps([getattr(one, name) for name in TOLD_BY]): one for one in FAULTS if not one.told}


@pytest.mark.parametrize("fault", STORIES.values(), ids=lambda fault: fault.__name__)
def test_the_same_story_without_the_fault_is_clean(fault, monkeypatch):
    sound = Fault()
    for name in TOLD_BY:
        setattr(sound, name, getattr(fault, name))
    assert rules(sound, monkeypatch) == set()
