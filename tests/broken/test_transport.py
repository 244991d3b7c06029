"""Each broken server is caught by the rule it breaks, and by no other; a sound one is not."""

import pytest

from tests.broken.transport import AnswerFault, WireFault, capture_of, view_of
from tests.runtime.http.serving import Running, runtime
from tests.runtime.judging import judge

WIRE = sorted(WireFault.__subclasses__(), key=lambda fault: fault.__name__)
ANSWERS = sorted(AnswerFault.__subclasses__(), key=lambda fault: fault.__name__)


@pytest.fixture(scope="module")
def server():
    with Running(lambda: runtime(None)) as running:
        yield running


def rules(text, expect="prefix"):
    report = judge(text, expect)
    assert not report.crashes
    return {finding.rule for finding in report.findings}


@pytest.mark.parametrize("fault", WIRE, ids=lambda fault: fault.__name__)
def test_a_fault_on_the_wire_is_caught_by_its_rule_and_by_no_other(fault, server, monkeypatch):
    assert rules(view_of(fault(), monkeypatch, server, fault.__name__).text(), fault.expect) == {fault.rule}


STORIES = {(one.channel, one.forgets, one.live, one.expect): one for one in WIRE}


@pytest.mark.parametrize("fault", STORIES.values(), ids=lambda fault: fault.__name__)
def test_a_sound_server_tells_the_same_story_cleanly(fault, server, monkeypatch):
    sound = WireFault()
    sound.channel, sound.forgets, sound.live = fault.channel, fault.forgets, fault.live
    assert rules(view_of(sound, monkeypatch, server, f"sound_{fault.__name__}").text(), fault.expect) == set()


@pytest.mark.parametrize("fault", [*ANSWERS, AnswerFault], ids=lambda fault: fault.__name__)
def test_a_fault_in_an_answer_is_caught_by_its_rule_and_by_no_other(fault, tmp_path, monkeypatch):
    with Running(lambda: runtime(tmp_path)) as server:
        capture_of(fault(), monkeypatch, server, "s")
    assert rules((tmp_path / "capture.ndjson").read_text()) == ({fault.rule} if fault.rule else set())
