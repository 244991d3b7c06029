"""A served transcript holds a message that no committed run of the thread said.

Why: what failed or was cancelled is not part of the conversation; shown as if it were, it is answered and believed.
Trips: a transcript that shows the half answer of a failed run.
Near miss: a transcript that shows the answer of a superseded run on the branch all.
Fix: Serve only messages that were stored by a commit, as the stream reduced to them.
"""

from collections import Counter

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
    contents = [content_of(message) for message in messages]
    said, unsaid = _sayings(world, thread)
    yield from _metadata(step, world, thread, zip(messages, contents, strict=True), said)
    strange = [at for at, content in enumerate(contents) if content not in said]
    if len(strange) < len(messages):
        yield seen()
    whole = None
    # Every strange message was said by a run that does not count: none comes from before the capture.
    is_explained = all(contents[at] in unsaid for at in strange)
    # Messages of runs before the capture are strange to us as well, so only a stream that we hold proves a fault.
    for at in strange:
        message, run = messages[at], unsaid.get(contents[at])
        if any(world.ledger(Shown).differs(word(message, "id"), message, step.number)):
            continue  # it was served otherwise before, and that is the fault (ATH019)
        whole = whole or _Whole(world, transcript, messages, contents)
        if run is None and (whole.is_ours(message) or whole.is_all):
            more = {"pointer": f"/snapshot/messages/{at}", "clause": "AT-37", "witness": witness(world, thread)}
            yield finding(step, "what the streams reduce to", "a message no stream reduces to", key="unsaid", **more)
        elif run is not None and is_explained:
            state = world.state("run", run)
            clause = "AT-94" if state in {"created", "streaming"} else "AT-5"
            more = {"pointer": f"/snapshot/messages/{at}", "clause": clause, "entity": ("run", run), "state": state}
            actual = f"what a run that is {state} said"
            yield finding(
                step, "messages of committed runs", actual, witness=witness(world, thread), key="uncommitted", **more
            )


def _sayings(world, thread):
    """What the kept runs of a thread said and left with it, and which of its other runs said what first."""
    threads, said, unsaid = world.ledger(Runs), {}, {}
    for run in threads.of_thread(thread):
        stream = threads.reducer(run)
        if stream is None or not stream.whole:
            continue
        is_kept = world.state("run", run) in KEPT
        for content, *left in stream.said():
            if is_kept:
                for told, digest in zip(said.setdefault(content, [set() for _ in LEFT]), left, strict=True):
                    told.add(digest)
            else:
                unsaid.setdefault(content, run)
    return said, unsaid


def _metadata(step, world, thread, messages, said):
    """What a stream leaves with a message stays with it; other facts may stand beside."""
    for at, (message, content) in enumerate(messages):
        told, shown = said.get(content), message.get("metadata")
        pairs = LEFT.items() if told and isinstance(shown, dict) and not is_honest(shown) else ()
        for which, (name, clause) in enumerate(pairs):
            yield seen(clause)
            if is_honest(shown.get(name)) or digest_of(shown.get(name)) in told[which]:
                continue
            place = f"/snapshot/messages/{at}/metadata" + (f"/{name}" if name in shown else "")
            more = {"pointer": place, "clause": clause, "witness": witness(world, thread), "key": name}
            yield finding(step, f"{name} as the stream tells it", "something else", **more)


class _Whole:
    """What the kept runs of a thread said as a whole, beside a transcript of it; worked out when something is asked."""

    def __init__(self, world, transcript, messages, contents):
        threads, thread = world.ledger(Runs), transcript.get("threadId")
        runs = threads.of_thread(thread)
        streams = [threads.reducer(run) for run in runs if world.state("run", run) in KEPT]
        is_held = all(stream and stream.whole for stream in streams)
        kept = [[content for content, *_ in stream.said()] for stream in streams] if is_held else []
        self._said = Counter(content for said in kept for content in said)
        self._last = {said[-1] for said in kept if said}
        self._forks = {threads.last[run][0].word("forkFromMessageId") for run in runs}
        self._by_id = {word(message, "id"): content for message, content in zip(messages, contents, strict=True)}
        self.is_all = transcript.get("branch") == "all" and is_held and self._said.total() == len(messages)
        """Every message is shown, and there are as many as the runs of the capture said: none comes from before it."""

    def is_ours(self, message):
        """The message follows one that only one run of the capture said, and not as its last."""
        parent = word(message, "parentMessageId")
        before = self._by_id.get(parent)
        if before is None or parent in self._forks:
            return False
        return self._said[before] == 1 and before not in self._last
