"""Audit events reach a real collector: all of them, in order, unchanged, whatever it does in between."""

import io
import socket

import pytest

from reference_runtime.capture import LineCapture
from reference_runtime.lifecycles.runagents import stage
from reference_runtime.lifecycles.runagents.collector import HecCollector, RefusedError, UnconfirmedError
from reference_runtime.lifecycles.runagents.export import ndjson
from reference_runtime.lifecycles.runagents.forward import Backoff, Forwarder
from reference_runtime.lifecycles.runagents.history import CONTRACT
from reference_runtime.lifecycles.runagents.service import RunAgents
from reference_runtime.log.memory import MemoryStore
from reference_runtime.log.sqlite import SqliteStore
from reference_runtime.stamping import read
from tests.runtime.judging import findings
from tests.runtime.runagents.splunk import TOKEN, Splunk

FAULTS = ["busy", "hang up", "broken", "index, then hang up", "not queued", "index, then say nonsense", "too many"]


def scene(store=None):
    """A platform with three runs: plain, approved, rejected."""
    store = store or MemoryStore()
    played = stage.Scene("forward", lambda: store, LineCapture(io.StringIO(), CONTRACT))
    played.begin("shop-agent", initial_message="Where is order 1042?")
    played.begin("refund-agent")
    played.approve()
    played.begin("refund-agent")
    played.reject()
    return played.platform


def told(platform):
    return [line for line in platform.book.read() if "record" not in line]


def forwarder(platform, splunk, **more):
    waits = []
    collector = HecCollector(splunk.url, TOKEN, timeout_seconds=5)
    return Forwarder(platform, "siem", collector, sleep=waits.append, **{"size": 4, **more}), waits


def test_a_well_collector_gets_the_log_once_and_in_order():
    platform = scene()
    with Splunk() as splunk:
        sender, waits = forwarder(platform, splunk)
        assert sender.run() == len(told(platform)) > 20
        assert sender.run() == 0
    assert [line["event"] for line in splunk.indexed] == told(platform)
    assert {request[:2] for request in splunk.requests} == {("/services/collector/event", f"Splunk {TOKEN}")}
    assert max(size for _, _, size in splunk.requests) == 4
    assert waits == []


def test_no_fault_loses_an_event_or_changes_one():
    platform = scene()
    with Splunk(*FAULTS) as splunk:
        sender, waits = forwarder(platform, splunk)
        sender.run()
    assert splunk.events() == told(platform)
    repeated = len(splunk.indexed) - len(told(platform))
    assert repeated == 8, "two batches were indexed and not confirmed, so they came again"
    assert len(waits) == len(FAULTS)


def test_waits_double_up_to_a_limit_and_begin_anew_after_a_confirmation():
    platform = scene()
    backoff = Backoff(first_seconds=1, limit_seconds=5, tries=10)
    with Splunk(*["busy"] * 5, "well", "busy") as splunk:
        sender, waits = forwarder(platform, splunk, backoff=backoff)
        sender.run()
    assert waits == [1, 2, 4, 5, 5, 1]


def test_a_collector_may_ask_for_a_longer_wait_but_not_for_ever():
    platform = scene()
    with Splunk("busy for long", "busy for long") as splunk:
        sender, waits = forwarder(platform, splunk, backoff=Backoff(first_seconds=1, limit_seconds=5))
        sender.run()
    assert waits == [5, 5]


def test_a_collector_that_stays_away_is_given_up_and_nothing_is_lost(tmp_path):
    platform = scene(SqliteStore(tmp_path / "store.db"))
    with Splunk("well", *["busy"] * 3) as splunk:
        sender, _ = forwarder(platform, splunk, backoff=Backoff(tries=3))
        with pytest.raises(UnconfirmedError):
            sender.run()
        assert len(splunk.indexed) == 4
        position = sender.position
        platform.book.store.close()
        again = RunAgents(SqliteStore(tmp_path / "store.db"), platform.settings)
        sender, _ = forwarder(again, splunk)
        assert sender.position == position
        sender.run()
    assert [line["event"] for line in splunk.indexed] == told(again), "what was confirmed is not sent again"
    again.book.store.close()


@pytest.mark.parametrize(("mood", "status"), [("wrong token", 403), ("bad data", 400)])
def test_a_refusal_is_not_tried_again_and_keeps_the_place(mood, status):
    platform = scene()
    with Splunk(mood) as splunk:
        sender, waits = forwarder(platform, splunk)
        with pytest.raises(RefusedError) as refusal:
            sender.run()
        assert (refusal.value.status, sender.position, waits) == (status, 0, [])
        sender.run()
    assert splunk.events() == told(platform)


def test_nobody_at_the_address_is_a_fault_like_any_other():
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    waits, collector = [], HecCollector(f"http://127.0.0.1:{port}", TOKEN)
    sender = Forwarder(scene(), "siem", collector, backoff=Backoff(tries=2), sleep=waits.append)
    with pytest.raises(UnconfirmedError) as fault:
        sender.run()
    assert len(waits) == 1
    assert TOKEN not in f"{fault.value}{collector!r}"


def test_a_collector_that_never_answers_is_not_waited_for_for_ever():
    platform = scene()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        sender = Forwarder(platform, "siem", HecCollector(url, TOKEN, 0.05), backoff=Backoff(tries=2), sleep=[].append)
        with pytest.raises(UnconfirmedError):
            sender.run()
    assert sender.position == 0


def test_what_comes_later_goes_later_and_two_destinations_go_their_own_way():
    platform = scene()
    with Splunk() as one, Splunk() as other:
        first, _ = forwarder(platform, one)
        first.run()
        platform.create_run({"agent_id": "nobody", "user_id": "user_ines"})
        assert first.run() == 1
        second = Forwarder(platform, "archive", HecCollector(other.url, TOKEN))
        second.run()
    assert one.events() == other.events() == told(platform)


def test_what_a_collector_indexed_is_a_capture_that_the_judge_finds_faultless():
    platform = scene()
    with Splunk(*FAULTS) as splunk:
        forwarder(platform, splunk)[0].run()
    assert findings(ndjson(splunk.indexed), "complete") == []
    for line in splunk.indexed:
        CONTRACT.check_record("splunk_hec", line)
        assert (line["source"], line["sourcetype"]) == ("runagents", "runagents:run_event")
        assert line["time"] == read(line["event"]["timestamp"]).timestamp()
