"""Stories of agent-threads: full lifecycles, each into a capture of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from reference_runtime.capture import Capture
from reference_runtime.errors import CommandRejected
from reference_runtime.lifecycles.agent_threads.host import Host, call, event, result, step
from reference_runtime.lifecycles.agent_threads.ledger import Ledger
from reference_runtime.lifecycles.agent_threads.observer import Observer
from reference_runtime.log.base import Store
from reference_runtime.scripts.coverage import Played
from reference_runtime.stamping import VirtualClock

Open = Callable[[], Store]
Play = Callable[[Open, Capture], Played]
_MINUTES = 60_000


def stories() -> Iterator[tuple[str, str, Play]]:
    """Name, title and play of every story."""
    for play in (tools, regenerated, concurrent, branches, endings, recovery, observed):
        name, _, title = (play.__doc__ or "").strip().partition(": ")
        yield name, title, play


def tools(open_store: Open, capture: Capture) -> Played:
    """01-tools: A run reasons, calls tools, hands over a file, recovers from an error and commits."""
    ledger = Ledger(open_store(), VirtualClock(), capture)
    host = Host(ledger, "thread-harvest")
    run = host.ask("Which orchard gave most?")
    first = [
        event("reasoning", text="The weights are in the store."),
        "Let me ",
        "look.",
        call("c1", "weigh", year=2025),
    ]
    ledger.append(run, step(0, *first, call("c2", "forecast"), reason="tool-calls"))
    ledger.append(run, [result("c1", {"north": 12, "south": 31}), result("c2", "no forecast yet", isError=True)])
    chart = event("file", mimeType="image/png", url="https://files.example/harvest.png", name="harvest.png")
    slow = event("error", message="The provider was slow; the step was tried again.", code="PROVIDER_TIMEOUT")
    ledger.append(run, step(1, event("acme-citation", rows=2), "The south, ", "by far.", chart, slow))
    host.commits(run)
    host.shows()
    host.exchange("Thank you.", "You are welcome.", ledger.transcript("thread-harvest")["messages"][-1]["id"])
    host.shows()
    return _played(ledger)


def regenerated(open_store: Open, capture: Capture) -> Played:
    """02-regenerated: An answer is asked for again and again, and every older one stays readable."""
    ledger = Ledger(open_store(), VirtualClock(), capture)
    host = Host(ledger, "thread-slogan")
    question, old = host.exchange("Write a slogan.", "Built to last.")
    host.regenerate(question, "Small parts, long life.")
    host.shows()
    host.regenerate(question, "Made once, used daily.")
    last = host.regenerate(question, "Ask it twice.")
    host.shows()
    ledger.transcript("thread-slogan", {"selections": {question: old}})
    ledger.transcript("thread-slogan", {"selections": {question: question}})
    assert ledger.finalize(last, "committed") == {"committed": True, "supersededRunIds": []}
    return _played(ledger)


def concurrent(open_store: Open, capture: Capture) -> Played:
    """03-concurrent: Runs at one fork stream side by side; the last to commit stays, whichever began first."""
    ledger = Ledger(open_store(), VirtualClock(), capture)
    host = Host(ledger, "thread-duet")
    question, _ = host.exchange("Name a boat.", "Gull.")
    waiting = ledger.begin("thread-duet", question)["runId"]
    early, late, broken, stopped = (host.answer(question) for _ in range(4))
    for run, word in ((late, "Tern"), (early, "Skua"), (late, "."), (broken, "Pet"), (early, "!")):
        opening = [event("step-started", stepIndex=0)] if not ledger.head(run) else []
        ledger.append(run, [*opening, event("text-delta", delta=word)])
    ledger.finalize(broken, "failed")
    ledger.finalize(stopped, "cancelled")
    for run in (late, early):
        ledger.append(run, [event("step-finished", stepIndex=0, finishReason="stop")])
        host.commits(run)
        host.shows()
    ledger.activate(waiting)
    host.says(waiting, "Petrel.")
    assert host.commits(waiting) == [early]
    host.shows()
    return _played(ledger)


def branches(open_store: Open, capture: Capture) -> Played:
    """04-branches: Forks at different messages, a second beginning, and an answer to an answer that was superseded."""
    ledger = Ledger(open_store(), VirtualClock(), capture)
    host = Host(ledger, "thread-garden")
    question, answer = host.exchange("What grows in shade?", "Ferns.")
    more, _ = host.exchange("And what else?", "Moss.", answer)
    host.regenerate(more, "Ivy.")
    host.regenerate(question, "Hostas.")
    host.exchange("Why hostas?", "They like it.", ledger.transcript("thread-garden")["messages"][-1]["id"])
    host.regenerate(question, "Woodruff.")
    host.exchange("Start again: what grows in sun?", "Thyme.")
    other = Host(ledger, "thread-shed")
    other.exchange("Where is the rake?", "Behind the door.")
    host.shows()
    other.shows()
    return _played(ledger)


def endings(open_store: Open, capture: Capture) -> Played:
    """05-endings: Runs that fail, are cancelled in the middle of a call, cannot be prepared, or have nothing to say."""
    ledger = Ledger(open_store(), VirtualClock(), capture)
    host = Host(ledger, "thread-print")
    failed = host.ask("Print it.")
    ledger.append(failed, [event("step-started", stepIndex=0), event("text-delta", delta="The printer ")])
    ledger.append(failed, [event("error", message="The provider closed the connection.", code="PROVIDER_GONE")])
    ledger.finalize(failed, "failed")
    cancelled = host.ask("Print it now.")
    ledger.append(cancelled, [event("step-started", stepIndex=0), call("c1", "print", pages=3)])
    ledger.finalize(cancelled, "cancelled")
    assert not ledger.finalize(cancelled, "committed")["committed"]
    _refused(ledger.append, failed, [event("text-delta", delta="is on fire.")])
    _refused(ledger.start, "thread-print", None, _no_worker)
    silent = host.answer(None)
    host.commits(silent)
    host.shows()
    return _played(ledger)


def recovery(open_store: Open, capture: Capture) -> Played:
    """06-recovery: The process dies; a sweep closes what nobody works on, and tells what it could not close."""
    clock = VirtualClock()
    ledger = Ledger(open_store(), clock, capture)
    host = Host(ledger, "thread-night")
    question, _ = host.exchange("Run the checks.", "They run.")
    runs = [ledger.begin("thread-night", question)["runId"], host.answer(question), host.answer(question)]
    ledger.append(runs[1], [event("step-started", stepIndex=0), call("c1", "check", suite="nightly")])
    capture.restart("crash", "rt_threads", ledger.book.page().now())
    before, ledger = ledger, Ledger(open_store(), clock, capture)
    clock.advance(6 * _MINUTES)
    young = ledger.start("thread-night", question)["runId"]
    ledger.book.subscribers.append(lambda line: _overtake(before, line, runs[2]))
    swept = ledger.recover_stale()
    assert [one["runId"] for one in swept["failed"]] == [runs[2]]
    ledger.recover(young, "cancel")
    ledger.recover(ledger.begin("thread-night", question)["runId"], "cancel")
    Host(ledger, "thread-night").shows()
    return _played(before) | _played(ledger)


def observed(open_store: Open, capture: Capture) -> Played:
    """07-observed: Somebody reads the ledger now and then, loses the connection, and gets some events again."""
    ledger = Ledger(open_store(), VirtualClock())
    host, eye = Host(ledger, "thread-tides"), Observer(ledger, capture)
    question, _ = host.exchange("When is high tide?", "At two.")
    for answer in ("At ten past two.", "In the afternoon."):
        host.regenerate(question, answer)
    for status in ("failed", "cancelled"):
        ledger.finalize(host.answer(question), status)
    waiting, run = ledger.begin("thread-tides", question)["runId"], host.answer(question)
    ledger.append(run, step(0, call("c1", "look_up", port="north"), reason="tool-calls"))
    eye.follow(run)
    eye.unread(run)
    eye.look("thread-tides")
    ledger.append(run, [result("c1", "14:10"), *step(1, "At ", "14:10.")])
    eye.look("thread-tides")
    eye.reconnect(run, 1)
    eye.look("thread-tides")
    host.commits(run)
    ledger.recover(waiting, "cancel")
    eye.look("thread-tides")
    eye.look("thread-tides")
    eye.read("thread-tides")
    return _played(ledger) | Played(rows=eye.rows)


def _played(ledger: Ledger) -> Played:
    kinds = {line["event"]["kind"] for line in ledger.book.read() if "record" not in line}
    return Played(rows=ledger.book.rows, events=kinds)


def _refused(act: Callable[..., object], *asked: object) -> None:
    try:
        act(*asked)
    except (CommandRejected, LookupError):
        return
    raise AssertionError("the ledger took what it has to refuse")


def _no_worker(run: str) -> None:
    raise LookupError("There is no worker for the run.")


def _overtake(other: Ledger, line: dict, run: str) -> None:
    """The process that was given up for dead ends its run while the sweep is under way."""
    if line.get("status") == "failed" and other.run(run)["status"] == "streaming":
        other.finalize(run, "failed")
