"""A run branches from a message that its thread does not hold.

Why: the branch becomes a root of its own, and the answer loses its question.
Trips: a run that forks from m9, and a tree of its thread without m9.  Near miss: the tree holds m9.
Fix: Fork from the id of a committed message of the same thread.
"""

from validator.replay.readmodels.words import word
from validator.rules import END, Finding, rule, seen
from validator.rules.agent_threads._facts import Records, entries, served


class Messages:
    """The messages that the trees and whole transcripts of each thread showed, and the first line that did."""

    def __init__(self, world):
        self.of = {}

    def apply(self, step):
        tree, transcript = served(step, "thread_tree"), served(step, "transcript")
        found = None
        if tree is not None and isinstance(tree.get("nodes"), list):
            found = word(tree, "threadId"), [node.get("messageId") for node in entries(tree["nodes"])]
        elif (
            transcript is not None
            and transcript.get("branch") == "all"
            and isinstance(transcript.get("messages"), list)
        ):
            found = word(transcript, "threadId"), [entry.get("id") for entry in entries(transcript["messages"])]
        if found and all(isinstance(name, str) for name in found[1]):
            names, _ = self.of.setdefault(found[0], (set(), step.number))
            names.update(found[1])


@rule("ATH013", "fork-from-nowhere", clauses={"agent-threads": "AT-15"}, on=END, needs=(Messages, Records))
def check(step, world, context):
    shown = world.ledger(Messages).of
    for run, (record, line) in world.ledger(Records).first.items():
        fork, thread = record.get("forkFromMessageId"), record.get("threadId")
        if not isinstance(fork, str) or thread not in shown:
            continue
        yield seen()
        if fork not in shown[thread][0]:
            more = {"pointer": "/forkFromMessageId", "entity": ("run", run), "witness": (shown[thread][1],)}
            yield Finding(line, "a message of the thread", "no such message", key="fork", **more)
