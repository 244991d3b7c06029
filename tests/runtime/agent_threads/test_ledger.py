"""What the ledger does and refuses: each refusal names its reason and leaves nothing behind."""

import io
import json
from datetime import timedelta

import pytest

from reference_runtime.capture import LineCapture, NoCapture
from reference_runtime.errors import CommandRejected, IllegalMove
from reference_runtime.lifecycles.agent_threads import views
from reference_runtime.lifecycles.agent_threads.host import Host, call, event, result, step
from reference_runtime.lifecycles.agent_threads.ledger import Ledger
from reference_runtime.lifecycles.agent_threads.observer import Observer
from reference_runtime.log.memory import MemoryStore
from reference_runtime.log.sqlite import SqliteStore
from reference_runtime.stamping import VirtualClock
from tests.runtime.judging import findings

TEXT = event("text-delta", delta="x")
OPEN = event("step-started", stepIndex=0)


@pytest.fixture(params=["memory", "sqlite"])
def ledger(request, tmp_path):
    store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "store.db")
    yield Ledger(store)
    store.close()


@pytest.fixture
def host(ledger):
    return Host(ledger, "t")


def refused(code, ledger, act, *asked, **more):
    """The code with which an act is refused; and nothing changed."""
    before = (ledger.book.store.position(), ledger.book.store.ordinal(), ledger.runs("t"))
    with pytest.raises(CommandRejected) as error:
        act(*asked, **more)
    assert error.value.code == code
    assert (ledger.book.store.position(), ledger.book.store.ordinal(), ledger.runs("t")) == before


def test_a_run_is_created_streams_and_commits(ledger, host):
    run = ledger.begin("t")
    assert (run["status"], run["streamId"], run["finishedAt"]) == ("created", f"run:{run['runId']}", None)
    assert ledger.activate(run["runId"])["status"] == "streaming"
    assert ledger.append(run["runId"], step(0, "a", "b")) == {"lastSeq": 4}
    assert ledger.finalize(run["runId"], "committed") == {"committed": True, "supersededRunIds": []}
    (message,) = ledger.transcript("t")["messages"]
    assert (message["parts"], message["parentMessageId"]) == ([{"type": "text", "text": "ab"}], None)
    assert ledger.run(run["runId"])["messageCount"] == 1


def test_only_a_created_run_is_activated(ledger, host):
    run = host.answer(None)
    refused("wrong_state", ledger, ledger.activate, run)
    ledger.finalize(run, "failed")
    refused("wrong_state", ledger, ledger.activate, run)
    refused("unknown_run", ledger, ledger.activate, "nobody")


def test_a_run_that_was_not_activated_is_neither_written_nor_finalized(ledger):
    run = ledger.begin("t")["runId"]
    refused("wrong_state", ledger, ledger.append, run, [TEXT])
    for status in ("committed", "failed", "cancelled"):
        refused("wrong_state", ledger, ledger.finalize, run, status)


@pytest.mark.parametrize("status", ["committed", "failed", "cancelled"])
def test_a_stream_is_closed_with_its_run_and_stays_readable(ledger, host, status):
    run = host.answer(None)
    ledger.append(run, step(0, "x"))
    ledger.finalize(run, status)
    refused("wrong_state", ledger, ledger.append, run, [TEXT])
    refused("wrong_state", ledger, ledger.append, run, [event("acme-note")])
    assert [line["seq"] for line in ledger.events(run)] == [1, 2, 3]


@pytest.mark.parametrize("status", ["committed", "failed", "cancelled"])
def test_the_same_end_again_holds_and_another_does_not(ledger, host, status):
    run = host.answer(None)
    ledger.finalize(run, status)
    before = ledger.book.store.position(), ledger.run(run), ledger.tree("t")
    for asked in ("committed", "failed", "cancelled"):
        assert ledger.finalize(run, asked) == {"committed": asked == status, "supersededRunIds": []}
    assert (ledger.book.store.position(), ledger.run(run), ledger.tree("t")) == before


def test_a_superseded_run_cannot_be_committed_again(ledger, host):
    question, _ = host.exchange("q", "a")
    old = host.regenerate(question, "b")
    new = host.answer(question)
    assert ledger.finalize(new, "committed") == {"committed": True, "supersededRunIds": [old]}
    assert ledger.finalize(old, "committed") == {"committed": False, "supersededRunIds": []}
    assert ledger.finalize(new, "committed") == {"committed": True, "supersededRunIds": []}
    assert ledger.view(old)["supersededBy"] == new
    assert ledger.run(old)["finishedAt"] == ledger.run(new)["finishedAt"]


def test_a_run_ends_as_one_of_three(ledger, host):
    run = host.answer(None)
    for status in ("superseded", "streaming", "done"):
        refused("invalid_status", ledger, ledger.finalize, run, status)
    refused("unknown_run", ledger, ledger.finalize, "nobody", "failed")


def test_a_fork_is_a_message_of_the_same_thread(ledger, host):
    question, _ = host.exchange("q", "a")
    refused("unknown_fork", ledger, ledger.begin, "t", "01KR3D1BP69CH7EXYMVMFWC73F")
    refused("unknown_fork", ledger, ledger.begin, "another", question)
    refused("invalid_run", ledger, ledger.begin, "")
    assert ledger.begin("t", "")["forkFromMessageId"] is None


LOOSE = [
    ("calls_pending", [call("c", "look")]),
    ("step_open", [OPEN, TEXT]),
]


@pytest.mark.parametrize(("code", "events"), LOOSE)
def test_a_stream_with_loose_ends_does_not_commit_and_may_fail(ledger, host, code, events):
    run = host.answer(None)
    ledger.append(run, events)
    refused(code, ledger, ledger.finalize, run, "committed")
    assert ledger.finalize(run, "failed")["committed"]
    assert ledger.tree("t")["nodes"] == []


REFUSED = [
    ("result_without_call", [result("c", 1)]),
    ("result_without_call", [call("c", "look"), result("c", 1), result("c", 1)]),
    ("call_id_reused", [call("c", "look"), result("c", 1), call("c", "look")]),
    ("step_open", [OPEN, event("step-started", stepIndex=1)]),
    ("another_step", [OPEN, event("step-finished", stepIndex=1, finishReason="stop")]),
    ("another_step", [event("step-finished", stepIndex=0, finishReason="stop")]),
    ("step_without_index", [event("step-started")]),
    ("error_without_sentence", [event("error", code="E")]),
    ("error_without_sentence", [event("error", message="No.\n  at run (a.js:3:7)")]),
    ("file_carries_bytes", [event("file", mimeType="image/png", url="Data:image/png;base64,AA==")]),
    ("supersession_announced", [event("run-superseded")]),
    ("invalid_event", [event("text-delta", text="x")]),
    ("invalid_event", [{"payload": {}}]),
    ("invalid_event", [{"kind": "reasoning"}]),
]


@pytest.mark.parametrize(("code", "events"), REFUSED)
def test_what_a_reader_would_stumble_over_is_refused_with_all_that_came_with_it(ledger, host, code, events):
    run = host.answer(None)
    refused(code, ledger, ledger.append, run, [TEXT, *events])
    assert list(ledger.events(run)) == []
    assert ledger.append(run, [TEXT]) == {"lastSeq": 1}


def test_paths_of_machines_never_reach_a_stream(ledger, host):
    run = host.answer(None)
    ledger.append(run, [call("c", "read", path="/home/alice/notes.txt")])
    (stored,) = ledger.events(run)
    assert stored["event"]["payload"]["input"] == {"path": "[notes.txt]"}


def test_an_append_shares_one_time_and_an_empty_one_changes_nothing(ledger, host):
    run = host.answer(None)
    ledger.append(run, step(0, "a", "b"))
    assert len({line["timestamp"] for line in ledger.events(run)}) == 1
    before = ledger.book.store.position()
    assert ledger.append(run, []) == {"lastSeq": 4}
    assert ledger.book.store.position() == before


def test_a_stream_is_read_from_any_place_and_nobodys_stream_is_empty(ledger, host):
    run = host.answer(None)
    ledger.append(run, step(0, "a", "b"))
    assert [line["seq"] for line in ledger.events(run, after=2)] == [3, 4]
    assert [line["seq"] for line in ledger.events(run, limit=1)] == [1]
    assert list(ledger.events(run, limit=0)) == []
    assert (ledger.head(run), ledger.head("nobody"), list(ledger.events("nobody"))) == (4, 0, [])


def test_a_key_counts_once_and_for_one_request(ledger, host):
    run = ledger.begin("t", key="k")
    assert ledger.begin("t", key="k") == run
    assert [one["runId"] for one in ledger.runs("t")] == [run["runId"]]
    refused("key_reused", ledger, ledger.begin, "another", key="k")
    ledger.activate(run["runId"])
    assert ledger.append(run["runId"], [TEXT], key="k") == ledger.append(run["runId"], [TEXT], key="k")
    refused("key_reused", ledger, ledger.append, run["runId"], [TEXT, TEXT], key="k")
    assert ledger.head(run["runId"]) == 1


def test_recovery_closes_active_runs_only(ledger, host):
    created, streaming = ledger.begin("t")["runId"], host.answer(None)
    told = {"runId": created, "previousStatus": "created", "newStatus": "cancelled"}
    assert ledger.recover(created, "cancel") == told
    assert ledger.recover(streaming, "fail")["previousStatus"] == "streaming"
    for run in (created, streaming):
        refused("wrong_state", ledger, ledger.recover, run, "fail")
    refused("unknown_run", ledger, ledger.recover, "nobody", "fail")
    refused("invalid_action", ledger, ledger.recover, host.answer(None), "commit")


def test_a_run_is_stale_by_its_age_whatever_it_has_done_since(ledger, host):
    old = host.answer(None)
    ledger.book.clock.advance(5 * 60_000)
    young = host.answer(None)
    ledger.append(old, [TEXT])
    assert ledger.stale() == [old]
    assert ledger.stale(timedelta(0)) == [old, young]
    assert [one["runId"] for one in ledger.recover_stale("cancel")["succeeded"]] == [old]
    assert ledger.recover_stale() == {"succeeded": [], "failed": []}


def test_a_run_that_cannot_be_prepared_is_closed_as_failed(ledger):
    def prepare(run):
        raise OSError("no worker")

    with pytest.raises(OSError, match="no worker"):
        ledger.start("t", None, prepare)
    assert [run["status"] for run in ledger.runs("t")] == ["failed"]


def test_the_reason_why_a_run_could_not_be_prepared_is_told_even_if_somebody_closed_it(ledger):
    def prepare(run):
        ledger.recover(run, "cancel")
        raise OSError("no worker")

    with pytest.raises(OSError, match="no worker"):
        ledger.start("t", None, prepare)
    assert [run["status"] for run in ledger.runs("t")] == ["cancelled"]


def test_a_message_whose_run_has_no_status_is_never_guessed_at(ledger, host):
    host.exchange("q", "a")
    page = ledger.book.page()
    page.find("message", thread_id="t")[0].scope["run_id"] = "nobody"
    page.edit("message", page.find("message", thread_id="t")[0].id)
    ledger.book.store.commit(page.change())
    refused("run_without_status", ledger, ledger.tree, "t")
    refused("run_without_status", ledger, ledger.transcript, "t")


def test_a_branch_that_is_no_choice_is_refused(ledger, host):
    question, _ = host.exchange("q", "a")
    refused("invalid_branch", ledger, ledger.transcript, "t", {"selections": {question: 1}})


def test_superseding_touches_neither_descendants_nor_other_forks(ledger, host):
    question, answer = host.exchange("q", "a")
    first = host.regenerate(question, "b")
    leaf = ledger.transcript("t")["messages"][-1]["id"]
    child = host.regenerate(leaf, "under b")
    other = host.regenerate(answer, "under a")
    host.regenerate(question, "c")
    states = {run["runId"]: run["status"] for run in ledger.runs("t")}
    assert (states[first], states[child], states[other]) == ("superseded", "committed", "committed")
    assert [message["parts"][0]["text"] for message in ledger.transcript("t")["messages"]] == ["q", "c"]
    chosen = ledger.transcript("t", {"selections": {question: leaf}})["messages"]
    assert [message["parts"][0]["text"] for message in chosen] == ["q", "b", "under b"]


def test_a_decision_that_was_overtaken_is_taken_again(tmp_path):
    """Two processes commit at one fork at the same time; the one that loses the race supersedes the other."""
    path = tmp_path / "store.db"
    one, two = (Ledger(SqliteStore(path), VirtualClock()) for _ in range(2))
    question, _ = Host(one, "t").exchange("q", "a")
    runs = [ledger.start("t", question)["runId"] for ledger in (one, two)]
    commit, raced = one.book.store.commit, []

    def overtaken(change):
        if not raced:
            raced.append(two.finalize(runs[1], "committed"))
        commit(change)

    one.book.store.commit = overtaken
    assert one.finalize(runs[0], "committed") == {"committed": True, "supersededRunIds": [runs[1]]}
    assert raced == [{"committed": True, "supersededRunIds": []}]
    assert len({node["messageId"] for node in one.tree("t")["nodes"]}) == len(one.tree("t")["nodes"])
    one.book.store.close()
    two.book.store.close()


def test_a_view_never_mixes_what_was_there_before_and_after_a_commit(tmp_path, monkeypatch):
    """Another process commits between the reading of the messages and the reading of their runs."""
    one, two = (Ledger(SqliteStore(tmp_path / "store.db"), VirtualClock()) for _ in range(2))
    question, _ = Host(one, "t").exchange("q", "a")
    Host(one, "t").regenerate(question, "b")
    honest, raced = views._status, []

    def overtaken(page, message):
        if not raced:
            raced.append(Host(two, "t").regenerate(question, "c"))
        return honest(page, message)

    monkeypatch.setattr(views, "_status", overtaken)
    statuses = [node["runStatus"] for node in one.tree("t")["nodes"]]
    assert statuses == ["committed", "committed", "superseded", "committed"]
    one.book.store.close()
    two.book.store.close()


def test_no_time_goes_back_where_two_processes_have_different_clocks(tmp_path):
    store = SqliteStore(tmp_path / "store.db")
    fast, slow = Ledger(store, VirtualClock()), Ledger(store, VirtualClock())
    fast.book.clock.advance(60_000)
    question, _ = Host(fast, "t").exchange("q", "a")
    first, second = Host(fast, "t").answer(question), Host(slow, "t").answer(question)
    for ledger in (fast, slow):
        ledger.append(first, [TEXT])
    times = [line["timestamp"] for line in slow.events(first)]
    assert times == sorted(times)
    fast.finalize(first, "committed")
    ended = fast.run(first)["finishedAt"]
    slow.finalize(second, "committed")
    assert slow.run(first)["finishedAt"] == slow.run(second)["finishedAt"] >= ended
    store.close()


def test_an_observer_misses_no_record_of_a_run_that_it_knows(ledger, host):
    """Between two looks a run commits and is superseded."""
    question, _ = host.exchange("q", "a")
    run, text = host.answer(question), io.StringIO()
    eye = Observer(ledger, LineCapture(text, ledger.book.contract))
    eye.look("t")
    host.commits(run)
    host.regenerate(question, "b")
    eye.look("t")
    eye.look("t")
    told = [line for line in map(json.loads, text.getvalue().splitlines()) if line.get("runId") == run]
    assert [line["status"] for line in told] == ["streaming", "committed", "superseded", "superseded"]
    assert findings(text.getvalue(), "complete") == []


def test_an_observer_refuses_a_history_that_no_ledger_may_show(ledger, host):
    run, eye = host.answer(None), Observer(ledger, NoCapture())
    ledger.finalize(run, "failed")
    eye.look("t")
    page = ledger.book.page()
    page.events.append({"record": "run", **ledger.run(run), "status": "committed"})
    ledger.book.store.commit(page.change())
    with pytest.raises(IllegalMove, match=r"illegal while the run is failed \(AT-56\)"):
        eye.look("t")


def test_time_goes_on_where_the_store_ended(tmp_path):
    first = Ledger(SqliteStore(tmp_path / "store.db"), VirtualClock())
    first.book.clock.advance(60_000)
    run = first.begin("t")
    first.book.store.close()
    again = Ledger(SqliteStore(tmp_path / "store.db"), VirtualClock())
    assert again.begin("t")["createdAt"] > run["createdAt"]
    again.book.store.close()
