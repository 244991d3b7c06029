"""A served transcript holds a message that no committed run of the thread said.

Why: what failed or was cancelled is not part of the conversation; shown as if it were, it is answered and believed.
Trips: a transcript that shows the half answer of a failed run.
Near miss: a transcript that shows the answer of a superseded run on the branch all.
Fix: Serve only messages that were stored by a commit, as the stream reduced to them.
"""

from validator.protocol.honest import is_honest
from validator.replay.readmodels.agent_threads import LEFT as NAMES
from validator.replay.readmodels.agent_threads import Runs, content_of, digest_of
from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen
from validator.rules.agent_threads._branches import witness
from validator.rules.agent_threads._facts import KEPT, entries, served
from validator.rules.agent_threads.message_changed import Shown

LEFT = dict(zip(NAMES, ("AT-41", "AT-42"), strict=True))
"""What a stream leaves in the metadata of a message, with its clause."""
CLAUSES = ("AT-5", "AT-37", "AT-94", *LEFT.values())


@rule(
    "ATH017",
    "transcript-not-from-streams",
    clauses={"agent-threads": CLAUSES},
    on="record:snapshot",
    needs=(Runs, Shown),
)
def check(step, world, context):
    transcript = served(step, "transcript")
    if transcript is None or world.unproved(step) is not None:
        return
    thread, messages = transcript.get("threadId"), entries(transcript.get("messages"))
    said, unsaid = _sayings(world, thread)
    yield from _metadata(step, world, thread, messages, said)
    strange = [(at, message) for at, message in enumerate(messages) if content_of(message) not in said]
    if len(strange) < len(messages):
        yield seen()
    # Messages of runs before the capture are strange to us as well, so only a stream that we hold proves a fault.
    for at, message in strange:
        if any(world.ledger(Shown).differs(word(message, "id"), message, step.number)):
            continue  # it was served otherwise before, and that is the fault (ATH019)
        run = next((run for run, contents in unsaid.items() if content_of(message) in contents), None)
        if run is None and (_is_ours(world, thread, message, messages) or _is_all(world, transcript, messages)):
            more = {"pointer": f"/snapshot/messages/{at}", "clause": "AT-37", "witness": witness(world, thread)}
            yield finding(step, "what the streams reduce to", "a message no stream reduces to", key="unsaid", **more)
        elif run is not None and _explained(strange, unsaid):
            state = world.state("run", run)
            clause = "AT-94" if state in {"created", "streaming"} else "AT-5"
            more = {"pointer": f"/snapshot/messages/{at}", "clause": clause, "entity": ("run", run), "state": state}
            actual = f"what a run that is {state} said"
            yield finding(
                step, "messages of committed runs", actual, witness=witness(world, thread), key="uncommitted", **more
            )


def _sayings(world, thread):
    """What the kept runs of a thread said, and what its other runs did."""
    threads, said, unsaid = world.ledger(Runs), {}, {}
    for run, (record, _) in world.ledger(Runs).last.items():
        stream = threads.reducer(run)
        if record.get("threadId") != thread or stream is None or not stream.whole:
            continue
        if world.state("run", run) in KEPT:
            for content, *left in stream.said():
                said.setdefault(content, []).append(left)
        else:
            unsaid[run] = {content for content, *_ in stream.said()}
    return said, unsaid


def _metadata(step, world, thread, messages, said):
    """What a stream leaves with a message stays with it; other facts may stand beside."""
    for at, message in enumerate(messages):
        told, shown = said.get(content_of(message)), message.get("metadata")
        pairs = LEFT.items() if told and isinstance(shown, dict) and not is_honest(shown) else ()
        for which, (name, clause) in enumerate(pairs):
            yield seen(clause)
            if is_honest(shown.get(name)) or any(left[which] == digest_of(shown.get(name)) for left in told):
                continue
            place = f"/snapshot/messages/{at}/metadata" + (f"/{name}" if name in shown else "")
            more = {"pointer": place, "clause": clause, "witness": witness(world, thread), "key": name}
            yield finding(step, f"{name} as the stream tells it", "something else", **more)


def _explained(strange, unsaid):
    """Every strange message was said by a run that does not count: none comes from before the capture."""
    heard = set().union(*unsaid.values())
    return all(content_of(message) in heard for _, message in strange)


def _kept(world, thread):
    """What each kept run of a thread said, in order; None when the capture does not hold all of it."""
    records, threads = world.ledger(Runs).last, world.ledger(Runs)
    runs = [run for run, (record, _) in records.items() if record.get("threadId") == thread]
    streams = [threads.reducer(run) for run in runs if world.state("run", run) in KEPT]
    if not all(stream and stream.whole for stream in streams):
        return None
    return [[content for content, *_ in stream.said()] for stream in streams]


def _is_all(world, transcript, messages):
    """Every message is shown, and there are as many as the runs of the capture said: none comes from before it."""
    kept = _kept(world, transcript.get("threadId"))
    return transcript.get("branch") == "all" and kept is not None and sum(map(len, kept)) == len(messages)


def _is_ours(world, thread, message, messages):
    """The message follows one that only one run of the capture said, and not as its last."""
    by_id = {word(entry, "id"): content_of(entry) for entry in messages}
    parent = word(message, "parentMessageId")
    before = by_id.get(parent)
    runs = [run for run, (record, _) in world.ledger(Runs).last.items() if record.get("threadId") == thread]
    forks = {world.ledger(Runs).last[run][0].word("forkFromMessageId") for run in runs}
    if before is None or parent in forks:
        return False
    saying = [contents for contents in _kept(world, thread) or () if before in contents]
    return len(saying) == 1 and saying[0].count(before) == 1 and before != saying[0][-1]
