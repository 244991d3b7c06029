"""A message hangs under another message than its run and its place say.

Why: parents are the conversation; a message under the wrong one answers a question nobody asked it.
Trips: a run that forks from m1, and a tree in which its first message has no parent.
Near miss: a run without a fork whose first message has no parent.
Fix: Hang the first message of a run under its fork, and each further one under the one before it.
"""

from itertools import pairwise

from validator.replay.readmodels.agent_threads import Runs, content_of
from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen
from validator.rules.agent_threads._branches import witness
from validator.rules.agent_threads._facts import entries, served

CLAUSES = ("AT-45", "AT-70", "AT-72")


@rule("ATH024", "message-hangs-wrong", clauses={"agent-threads": CLAUSES}, on="record:snapshot", needs=(Runs,))
def check(step, world, context):
    if step.type == "transcript" and world.unproved(step) is None:
        yield from _in_transcript(step, world)
        return
    tree = served(step, "thread_tree")
    before = {}
    for at, node in enumerate(entries((tree or {}).get("nodes"))):
        run, parent = word(node, "runId"), node.get("parentMessageId")
        previous, before[run] = before.get(run), node.get("messageId")
        record, line = world.ledger(Runs).last.get(run, (None, 0))
        if record is None or not isinstance(parent, str | None) or not isinstance(previous, str | None):
            continue
        fork = record.get("forkFromMessageId")
        wanted = previous or fork
        clause = "AT-45" if previous else "AT-70" if fork else "AT-72"
        yield seen(clause)
        if parent != wanted:
            more = {"pointer": f"/snapshot/nodes/{at}/parentMessageId", "clause": clause, "witness": (line,)}
            entity = {"entity": ("message", str(node.get("messageId"))), "key": clause}
            yield finding(step, "the message before it, or the fork of its run", "another parent", **more, **entity)


def _in_transcript(step, world):
    """Two messages that one run said one after the other, and that stand so, hang together."""
    transcript = served(step, "transcript") or {}
    thread, messages = transcript.get("threadId"), entries(transcript.get("messages"))
    told = world.ledger(Runs).conversation(thread)
    for at, (before, message) in enumerate(pairwise(messages), 1):
        parent, wanted = message.get("parentMessageId"), word(before, "id")
        if wanted is None or not isinstance(parent, str | None) or not _follow(told, before, message):
            continue
        yield seen("AT-45")
        if parent != wanted:
            more = {"pointer": f"/snapshot/messages/{at}/parentMessageId", "clause": "AT-45", "key": "AT-45"}
            entity = {"entity": ("message", str(message.get("id"))), "witness": witness(world, thread)}
            yield finding(step, "the message before it, or the fork of its run", "another parent", **more, **entity)


def _follow(told, before, message):
    """One run said the two one after the other, and nobody in the thread said either of them again."""
    pair = content_of(before), content_of(message)
    return pair in told.pairs and all(told.often[content] == 1 for content in pair)
