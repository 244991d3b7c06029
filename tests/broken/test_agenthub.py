"""Each broken Hub is caught by the rule it breaks, and by no other; without its fault nothing is found."""

import pytest

from tests.broken.agenthub import HubFault, capture_of
from tests.runtime.judging import judge

FAULTS = sorted(HubFault.__subclasses__(), key=lambda fault: fault.__name__)


def rules(fault):
    report = judge(capture_of(fault))
    assert not report.crashes
    return {finding.rule for finding in report.findings}


def test_there_are_enough_of_them():
    assert len({fault.rule for fault in FAULTS}) >= 15


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_is_caught_by_its_rule_and_by_no_other(fault):
    assert rules(fault()) == {fault.rule}


STORIES = {fault.story: fault for fault in FAULTS}


@pytest.mark.parametrize("fault", STORIES.values(), ids=lambda fault: fault.__name__)
def test_the_same_story_without_the_fault_is_clean(fault):
    sound = HubFault()
    sound.story = lambda stage: fault.story(fault(), stage)
    assert rules(sound) == set()
