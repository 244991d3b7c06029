"""A served transcript holds a message that no committed run of the thread said.

Why: what failed or was cancelled is not part of the conversation; shown as if it were, it is answered and believed.
Trips: a transcript that shows the half answer of a failed run.
Near miss: a transcript that shows the answer of a superseded run on the branch all.
Fix: Serve only messages that were stored by a commit, as the stream reduced to them.
"""

import json

from validator.replay.readmodels.agent_threads import Threads
from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen
from validator.rules.agent_threads._facts import KEPT, Records, entries, served

CLAUSES = ("AT-5", "AT-37", "AT-94")


@rule(
    "ATH017",
    "transcript-not-from-streams",
    clauses={"agent-threads": CLAUSES},
    on="record:snapshot",
    needs=(Records, Threads),
)
def check(step, world, context):
    transcript = served(step, "transcript")
    if transcript is None or world.unproved(step) is not None:
        return
    thread, messages = transcript.get("threadId"), entries(transcript.get("messages"))
    said, unsaid = _sayings(world, thread)
    strange = [(at, message) for at, message in enumerate(messages) if _content(message) not in said]
    if len(strange) < len(messages):
        yield seen()
    # Messages of runs before the capture are strange to us as well, so only a stream that we hold proves a fault.
    for at, message in strange:
        run = next((run for run, contents in unsaid.items() if _content(message) in contents), None)
        if run is None and _is_ours(world, thread, message, messages):
            more = {"pointer": f"/snapshot/messages/{at}", "clause": "AT-37", "witness": _witness(world, thread)}
            yield finding(step, "what the streams reduce to", "a message no stream reduces to", key="unsaid", **more)
        elif run is not None and _explained(strange, unsaid):
            state = world.state("run", run)
            clause = "AT-94" if state in {"created", "streaming"} else "AT-5"
            more = {"pointer": f"/snapshot/messages/{at}", "clause": clause, "entity": ("run", run), "state": state}
            actual = f"what a run that is {state} said"
            yield finding(
                step, "messages of committed runs", actual, witness=_witness(world, thread), key="uncommitted", **more
            )


def _content(message):
    return (word(message, "role"), json.dumps(message.get("parts"), sort_keys=True))


def _sayings(world, thread):
    """What the kept runs of a thread said, and what its other runs did."""
    threads, said, unsaid = world.ledger(Threads), set(), {}
    for run, (record, _) in world.ledger(Records).last.items():
        stream = threads.reducer(run)
        if record.get("threadId") != thread or stream is None or not stream.whole:
            continue
        contents = {_content(message) for message in stream.messages()}
        if world.state("run", run) in KEPT:
            said |= contents
        else:
            unsaid[run] = contents
    return said, unsaid


def _explained(strange, unsaid):
    """Every strange message was said by a run that does not count: none comes from before the capture."""
    heard = set().union(*unsaid.values())
    return all(_content(message) in heard for _, message in strange)


def _is_ours(world, thread, message, messages):
    """The message follows one that a run of the capture said, in a run whose messages all follow each other."""
    threads = world.ledger(Threads)
    by_id = {word(entry, "id"): _content(entry) for entry in messages}
    parent = word(message, "parentMessageId")
    before = by_id.get(parent)
    runs = [run for run, (record, _) in world.ledger(Records).last.items() if record.get("threadId") == thread]
    forks = {word(world.ledger(Records).last[run][0], "forkFromMessageId") for run in runs}
    if before is None or parent in forks:
        return False
    streams = [threads.reducer(run) for run in runs if world.state("run", run) in KEPT]
    kept = [[_content(entry) for entry in stream.messages()] for stream in streams if stream and stream.whole]
    return len(kept) == len(streams) == 1 and before in kept[0][:-1]


def _witness(world, thread):
    """The records and streams of a thread: all of them together say what the transcript may hold."""
    lines = []
    for run, (record, line) in world.ledger(Records).last.items():
        if record.get("threadId") == thread:
            lines += [line, *world.ledger(Threads).lines.get(f"run:{run}", ())]
            lines += world.subjects("run")[run].history if run in world.subjects("run") else ()
    return tuple(lines)
