"""A run branches from a message that its thread does not hold.

Why: the branch becomes a root of its own, and the answer loses its question.
Trips: a run that forks from m9, and a tree of its thread without m9.  Near miss: the tree holds m9.
Fix: Fork from the id of a committed message of the same thread.
"""

from validator.replay.faded import Lines
from validator.replay.readmodels.words import word
from validator.rules import END, Finding, rule, seen
from validator.rules.agent_threads._facts import entries, served


class Forks:
    """The messages that the trees and whole transcripts of each thread showed, and the forks that are none of them."""

    hears = ("record:run", "record:snapshot")
    forgets = ("_runs", "_shown")

    def __init__(self, world):
        self._shown = Lines()
        self._runs = Lines()
        self.threads = {}
        """Thread to the first line that showed its messages."""
        self.open = {}
        """Thread and message to the runs that branch there, each with its first line; not shown so far."""
        self.found = 0
        """How many runs branch from messages that were shown."""

    def apply(self, step):
        if step.kind == "run":
            self._record(step)
        elif step.kind == "snapshot":
            self._snapshot(step)

    def _record(self, step):
        run, thread, fork = (step.line.get(name) for name in ("runId", "threadId", "forkFromMessageId"))
        if not isinstance(run, str) or not isinstance(thread, str) or run in self._runs:
            return
        self._runs.add(run)
        if not isinstance(fork, str):
            return
        if f"{thread}\n{fork}" in self._shown:
            self.found += 1
        else:
            self.open.setdefault((thread, fork), []).append((run, step.number))

    def _snapshot(self, step):
        thread, names = _names(step)
        if names is None or not all(isinstance(name, str) for name in names):
            return
        self.threads.setdefault(thread, step.number)
        for name in names:
            self._shown.add(f"{thread}\n{name}")
            self.found += len(self.open.pop((thread, name), ()))


def _names(step):
    """The thread whose messages a line shows all of, and their ids; no ids where it does not."""
    tree, transcript = served(step, "thread_tree"), served(step, "transcript")
    if tree is not None and isinstance(tree.get("nodes"), list):
        return word(tree, "threadId"), [node.get("messageId") for node in entries(tree["nodes"])]
    whole = transcript is not None and transcript.get("branch") == "all"
    if whole and isinstance(transcript.get("messages"), list):
        return word(transcript, "threadId"), [entry.get("id") for entry in entries(transcript["messages"])]
    return None, None


@rule("ATH013", "fork-from-nowhere", clauses={"agent-threads": "AT-15"}, on=END, needs=(Forks,))
def check(step, world, context):
    forks = world.ledger(Forks)
    yield from [seen()] * forks.found
    for (thread, _), runs in forks.open.items():
        for run, line in runs if thread in forks.threads else ():
            yield seen()
            more = {"pointer": "/forkFromMessageId", "entity": ("run", run), "witness": (forks.threads[thread],)}
            yield Finding(line, "a message of the thread", "no such message", key="fork", **more)
