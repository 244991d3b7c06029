"""What every lifecycle gets from its book: one commit or none, the tables' word, kept answers, the time of the log."""

import io
import json

import pytest

from reference_runtime.capture import LineCapture
from reference_runtime.contract import Contract
from reference_runtime.errors import CommandRejected, ContractBroken, IllegalMove, PositionConflict
from reference_runtime.lifecycles.book import PATIENCE, Book, Page
from reference_runtime.log.memory import MemoryStore
from reference_runtime.log.sqlite import SqliteStore
from reference_runtime.stamping import read

LEDGER, HUB = "agent-threads/1", "agenthub/1"
BEGUN = "2026-03-02T11:00:00.000Z"
FORK = "01KJQME9H70FXMTGWK2RRM3WDM"
RUNS = ["01KJQME87TXVE90EMW6GXK8DR9", "01KJQMEC000000000000000001", "01KJQMEC000000000000000002"]


def stamp(page: Page, draft: dict) -> dict:
    """An AgentHub event, or a line that is complete as it is."""
    if "record" in draft:
        return draft
    event = {"id": f"evt_{page.number()}", "sequence": page.sequence(draft["runId"]) + 1, "timestamp": page.now()}
    return event | draft


def book(store=None, protocol=HUB, **more) -> Book:
    return Book(store or MemoryStore(), protocol, stamp, **more)


def writing(*drafts: dict, answer: dict | None = None):
    def decision(page):
        yield from drafts
        return answer

    return decision


def cancelled(run: str) -> dict:
    return {
        "type": "run.cancelled",
        "runId": run,
        "payload": {"actor": {"id": "ana", "kind": "user"}, "reason": "user_requested"},
    }


def created(run: str) -> dict:
    said = {"task": {"id": "k", "title": "Mend it."}, "actor": {"id": "ana", "kind": "user"}}
    said |= {"project": {"id": "p", "name": "P"}, "agentProfile": {"id": "a", "name": "A"}}
    return {"type": "run.created", "runId": run, "payload": said}


def ledger_run(run: str, status: str, fork: str | None = FORK) -> dict:
    ended = BEGUN if status == "committed" else None
    record = {"record": "run", "runId": run, "threadId": "t", "streamId": f"run:{run}", "forkFromMessageId": fork}
    return {**record, "status": status, "createdAt": BEGUN, "finishedAt": ended, "messageCount": 0}


def test_what_is_decided_is_kept_shown_and_counted():
    text, seen = io.StringIO(), []
    kept = book(capture=LineCapture(text, Contract(HUB), profile="strict"))
    kept.subscribers.append(seen.append)
    assert kept.take(writing(created("a"), created("b"), cancelled("a"), answer={"runId": "a"})) == {"runId": "a"}
    assert [line["sequence"] for line in kept.read(stream="a")] == [1, 2]
    assert list(kept.read(after=2)) == seen[2:]
    assert kept.page().state("run", "a") == "Cancelled"
    assert {"run#1"} < kept.rows
    header, *lines = map(json.loads, text.getvalue().splitlines())
    assert (header["protocol"], header["version"], header["profile"]) == ("agenthub", "1", "strict")
    assert lines == seen == list(kept.read())


@pytest.mark.parametrize(
    ("last", "error"),
    [
        (cancelled("nobody"), IllegalMove),
        (created("a"), IllegalMove),
        ({"type": "run.created", "runId": "b", "payload": {}}, ContractBroken),
    ],
)
def test_a_line_that_may_not_be_leaves_nothing_of_the_whole_decision(last, error):
    kept = book()
    with pytest.raises(error):
        kept.take(writing(created("a"), last), key="k")
    assert kept.store.position() == 0
    assert kept.page().get("run", "a") is None
    assert kept.store.reply("k") is None
    assert kept.rows == set()


def test_an_answer_is_given_again_under_its_key_and_to_nobody_else():
    kept = book()
    first = kept.take(writing(created("a"), answer={"runId": "a"}), key="k", digest="d")
    assert kept.take(writing(created("other"), answer={"runId": "other"}), key="k", digest="d") == first
    assert kept.store.position() == 1
    with pytest.raises(CommandRejected) as refusal:
        kept.take(writing(created("b")), key="k", digest="another")
    assert refusal.value.code == "key_reused"


def test_a_decision_that_was_overtaken_is_taken_again_on_what_is_there_now():
    store, looks = MemoryStore(), []
    kept = book(store)

    def decision(page):
        looks.append(page.state("run", "a"))
        if len(looks) == 1:
            book(store).take(writing(created("a")))
        if page.state("run", "a") == "none":
            yield created("a")
        return {"was": page.state("run", "a")}

    assert kept.take(decision) == {"was": "Created"}
    assert looks == ["none", "Created"]
    assert store.position() == 1


@pytest.mark.parametrize("refusal", [IllegalMove, CommandRejected])
def test_a_decision_that_was_refused_while_it_was_overtaken_is_taken_again(refusal):
    """What was read before another writer's change and what was read after it do not fit together."""
    store, looks = MemoryStore(), []

    def decision(page):
        name = "b" if looks else "a"  # as it was counted before the other came
        looks.append(name)
        if len(looks) == 1:
            book(store).take(writing(created("a")))
        if refusal is CommandRejected and page.get("run", name):
            raise CommandRejected("taken", "There is one.", category="conflict")
        yield created(name)
        return {"runId": name}

    assert book(store).take(decision) == {"runId": "b"}
    assert looks == ["a", "b"]
    assert [line["runId"] for line in store.read()] == ["a", "b"]


def test_a_refusal_that_comes_after_every_other_writer_stands():
    store = MemoryStore()

    def decision(page):
        book(store).take(writing(created(f"other_{store.position()}")))
        yield cancelled("nobody")

    with pytest.raises(IllegalMove):
        book(store).take(decision)
    assert store.position() == PATIENCE


def test_a_writer_that_is_always_overtaken_says_so():
    store = MemoryStore()

    def decision(page):
        number = store.position()
        book(store).take(writing(created(f"other_{number}")))
        yield created("a")

    with pytest.raises(PositionConflict):
        book(store).take(decision)
    assert store.position() == PATIENCE
    assert "a" not in {line["runId"] for line in store.read()}


def test_a_decision_learns_what_its_drafts_became():
    def decision(page):
        yield created("a")
        return {"eventId": page.events[-1]["id"]}

    assert book().take(decision) == {"eventId": "evt_1"}


def test_time_goes_on_where_the_log_ended(tmp_path):
    first = book(SqliteStore(tmp_path / "s.db"))
    first.clock.advance(3_600_000)
    first.take(writing(created("a")))
    (line,) = first.read()
    first.store.close()
    again = book(SqliteStore(tmp_path / "s.db"))
    assert again.clock.now() > read(line["timestamp"])
    assert list(again.read(stream="a")) == [line]
    again.store.close()


@pytest.mark.parametrize("durable", [False, True])
def test_a_commit_supersedes_its_committed_siblings_and_no_others(durable, tmp_path):
    kept = book(SqliteStore(tmp_path / "s.db") if durable else None, LEDGER)
    one, two, apart = RUNS
    steps = [(one, FORK), (apart, None), (two, FORK)]
    kept.take(writing(*(ledger_run(run, word, fork) for run, fork in steps for word in ("streaming", "committed"))))
    assert [kept.page().state("run", run) for run in (one, two, apart)] == ["superseded", "committed", "committed"]
    kept.store.close()


def test_a_record_line_is_refused_where_its_table_has_no_row():
    kept = book(protocol=LEDGER)
    kept.take(writing(ledger_run(RUNS[0], "committed")))
    with pytest.raises(IllegalMove):
        kept.take(writing(ledger_run(RUNS[0], "streaming")))
    with pytest.raises(ContractBroken):
        kept.take(writing({"record": "run", "runId": "short"}))


def test_nothing_is_asked_of_a_subject_nobody_knows():
    with pytest.raises(CommandRejected) as refusal:
        book().page().need("run", "nobody")
    assert refusal.value.code == "unknown_run"


def test_ids_are_new_for_every_subject():
    def decision(page):
        yield created(page.new_id("run"))
        yield created(page.new_id("run"))

    kept = book()
    kept.take(writing(created("run_1")))
    kept.take(decision)
    assert [line["runId"] for line in kept.read()] == ["run_1", "run_2", "run_3"]
