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
from validator.rules.agent_threads._facts import entries, served
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
    told = world.ledger(Runs).conversation(thread)
    yield from _metadata(step, world, thread, zip(messages, contents, strict=True), told)
    strange = [at for at, content in enumerate(contents) if content not in told.often]
    if len(strange) < len(messages):
        yield seen()
    by_id = {word(message, "id"): content for message, content in zip(messages, contents, strict=True)}
    is_whole = transcript.get("branch") == "all" and _is_whole(told, messages)
    # Every strange message was said by a run that does not count: none comes from before the capture.
    is_explained = all(told.unsaid(contents[at]) is not None for at in strange)
    # Messages of runs before the capture are strange to us as well, so only a stream that we hold proves a fault.
    for at in strange:
        message, run = messages[at], told.unsaid(contents[at])
        if any(world.ledger(Shown).differs(word(message, "id"), message, step.number)):
            continue  # it was served otherwise before, and that is the fault (ATH019)
        if run is None and (is_whole or _is_ours(told, by_id, message)):
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


def _metadata(step, world, thread, messages, told):
    """What a stream leaves with a message stays with it; other facts may stand beside."""
    for at, (message, content) in enumerate(messages):
        shown = message.get("metadata")
        is_told = content in told.often and isinstance(shown, dict) and not is_honest(shown)
        pairs = LEFT.items() if is_told else ()
        for which, (name, clause) in enumerate(pairs):
            yield seen(clause)
            if is_honest(shown.get(name)) or (content, which, digest_of(shown.get(name))) in told.left:
                continue
            place = f"/snapshot/messages/{at}/metadata" + (f"/{name}" if name in shown else "")
            more = {"pointer": place, "clause": clause, "witness": witness(world, thread), "key": name}
            yield finding(step, f"{name} as the stream tells it", "something else", **more)


def _is_whole(told, messages):
    """As many messages are shown as the runs of the capture said: none comes from before it."""
    return not told.silent and told.total == len(messages)


def _is_ours(told, by_id, message):
    """The message follows one that only one run of the capture said, and not as its last."""
    parent = word(message, "parentMessageId")
    before = by_id.get(parent)
    if before is None or parent in told.forks or told.silent:
        return False
    return told.often.get(before) == 1 and before not in told.last
