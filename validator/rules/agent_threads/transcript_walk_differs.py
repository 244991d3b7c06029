"""A served transcript does not follow its branch.

Why: the transcript is what the model and the user read; a walk that skips, repeats or swaps changes the conversation.
Trips: the active transcript follows a superseded answer although a committed one stands beside it.
Near miss: a transcript with a selection follows the superseded answer that was chosen.
Fix: Follow at each fork the chosen child, else the last inserted child whose run is committed.
"""

from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen
from validator.rules.agent_threads._facts import KEPT, Records, entries, served

CLAUSES = ("AT-95", "AT-96", "AT-97", "AT-100")


class Trees:
    """The newest tree of each thread, with its line; a run record makes it old."""

    def __init__(self, world):
        self.of = {}

    def apply(self, step):
        tree = served(step, "thread_tree")
        if tree is not None and isinstance(tree.get("nodes"), list):
            self.of[word(tree, "threadId")] = (entries(tree["nodes"]), step.number)
        elif step.kind == "run":
            self.of.pop(word(step.line, "threadId"), None)


@rule(
    "ATH020",
    "transcript-walk-differs",
    clauses={"agent-threads": CLAUSES},
    on="record:snapshot",
    needs=(Trees, Records),
)
def check(step, world, context):
    transcript = served(step, "transcript")
    if transcript is None or not isinstance(transcript.get("messages"), list):
        return
    names = [entry.get("id") for entry in entries(transcript["messages"])]
    place = {"pointer": "/snapshot/messages"}
    if all(isinstance(name, str) for name in names):
        yield seen("AT-100")
        if len(set(names)) != len(names):
            yield finding(step, "each message at most once", "one stands twice", clause="AT-100", key="twice", **place)
            return
    nodes, line = world.ledger(Trees).of.get(word(transcript, "threadId"), (None, 0))
    if transcript.get("branch") == "all" or nodes is None:
        yield from _enough(step, world, transcript, names)
    if nodes is not None:
        yield from _walk(step, transcript, names, nodes, line)


def _enough(step, world, transcript, names):
    """The counts of the records are a lower bound: runs before the capture may have said more. Any walk begins
    somewhere, and that of all branches leaves nothing out."""
    kept = [
        (record.get("messageCount"), line)
        for run, (record, line) in world.ledger(Records).last.items()
        if record.get("threadId") == transcript.get("threadId") and world.state("run", run) in KEPT
    ]
    total = sum(count for count, _ in kept if isinstance(count, int))
    clause = _clause(transcript)
    least = min(total, 1)  # that a walk begins does not show that it goes on as it has to
    if clause == "AT-96":
        least = total
        yield seen(clause)
    if len(names) < least:
        more = {"pointer": "/snapshot/messages", "clause": clause, "witness": tuple(line for _, line in kept)}
        yield finding(step, f"{least} messages or more", f"{len(names)}", key="fewer", **more)


def _clause(transcript):
    """The clause about the walk that a transcript makes."""
    branch = transcript.get("branch")
    return {"all": "AT-96", "active": "AT-95"}.get(branch if isinstance(branch, str) else "", "AT-97")


def _walk(step, transcript, names, nodes, line):
    branch = transcript.get("branch")
    chosen = branch.get("selections") if isinstance(branch, dict) else {}
    chosen = chosen if isinstance(chosen, dict) else {}
    clause = _clause(transcript)
    yield seen(clause)
    expected = [node.get("messageId") for node in nodes] if branch == "all" else _follow(nodes, chosen)
    if names != expected and all(isinstance(name, str) for name in names):
        more = {"pointer": "/snapshot/messages", "clause": clause, "witness": (line,), "key": clause}
        yield finding(step, "the walk its branch asks for", "another walk", **more)


def _follow(nodes, chosen):
    """The walk through a tree; each root in turn."""
    known = {word(node, "messageId") for node in nodes}
    shown = []
    for root in (node for node in nodes if word(node, "parentMessageId") not in known):
        node = root
        while node is not None and node.get("messageId") not in shown:
            shown.append(node.get("messageId"))
            children = [child for child in nodes if child.get("parentMessageId") == node.get("messageId")]
            kept = [child for child in children if child.get("runStatus") == "committed"]
            picked = [child for child in children if child.get("messageId") == chosen.get(word(node, "messageId"))]
            node = (picked or kept or children or [None])[-1]
    return shown
