"""Three forms of one export: the same events in each, and each a capture by itself."""

import io
import json

import pytest

from reference_runtime.capture import LineCapture
from reference_runtime.lifecycles.runagents import stage
from reference_runtime.lifecycles.runagents.history import CONTRACT
from reference_runtime.log.memory import MemoryStore
from tests.runtime.judging import findings


@pytest.fixture(scope="module", params=["api", "operations"])
def exported(request):
    """A platform with a run that was approved, and the run."""
    store = MemoryStore()
    played = stage.Scene("export", lambda: store, LineCapture(io.StringIO(), CONTRACT), vocabulary=request.param)
    run_id = played.begin("refund-agent", initial_message="Refund order 1042")
    played.approve(reason="It was lost.")
    return played.platform, run_id


def lines(platform, run_id, schema="runagents"):
    return [json.loads(line) for line in platform.export_lines(run_id, schema).splitlines()]


def test_all_forms_hold_the_same_events_in_the_order_of_seq(exported):
    platform, run_id = exported
    whole = platform.export(run_id)["events"]
    assert whole == platform.events(run_id)
    assert [event["seq"] for event in whole] == list(range(1, len(whole) + 1))
    assert [line for line in lines(*exported) if "record" not in line] == whole
    assert [line["event"] for line in lines(*exported, "splunk_hec")] == whole


def test_the_run_record_is_the_last_line(exported):
    *events, record = lines(*exported)
    assert (record["record"], record["status"]) == ("run", "COMPLETED")
    for line in (*events, record):
        CONTRACT.check_record("audit_export_line", line)


def test_an_auditor_finds_who_what_and_on_whose_authority(exported):
    platform, run_id = exported
    document = platform.export(run_id)
    assert (document["run"]["user_id"], document["run"]["agent_id"]) == ("user_ines", "refund-agent")
    (action,), (request,) = document["actions"], document["approval_requests"]
    assert (action["tool_id"], action["status"], action["approver_id"]) == ("stripe", "EXECUTED", "user_marta")
    assert (request["scope"], request["reason"]) == ("once", "It was lost.")
    assert len(document["timeline"]) == len(document["events"])


@pytest.mark.parametrize("form", ["json", "ndjson", "splunk_hec"])
def test_each_form_is_a_capture_without_fault(exported, form):
    platform, run_id = exported
    text = json.dumps(platform.export(run_id)) if form == "json" else platform.export_lines(run_id, form)
    assert findings(text, "complete") == []


def test_no_form_holds_the_payload_or_what_it_hashes(exported):
    platform, run_id = exported
    forms = [json.dumps(platform.export(run_id)), *(platform.export_lines(run_id, one) for one in ("", "splunk_hec"))]
    for text in forms:
        assert '"amount"' not in text
        assert "sha256:" in text
