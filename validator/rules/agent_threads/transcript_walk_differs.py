"""A served transcript does not follow its branch.

Why: the transcript is what the model and the user read; a walk that skips, repeats or swaps changes the conversation.
Trips: the active transcript follows a superseded answer although a committed one stands beside it, or shows both.
Near miss: a transcript with a selection follows the superseded answer that was chosen.
Fix: Follow at each fork the chosen child, else the last inserted child whose run is committed.
"""

from array import array
from itertools import chain, zip_longest

from validator.replay.readmodels.agent_threads import Runs
from validator.replay.readmodels.words import word
from validator.replay.seen import short
from validator.rules import finding, rule, seen
from validator.rules.agent_threads._branches import forks, witness
from validator.rules.agent_threads._facts import KEPT, entries, served
from validator.rules.agent_threads.message_changed import Shown

CLAUSES = ("AT-95", "AT-96", "AT-97", "AT-100")


class Tree:
    """The nodes of a tree in few bytes: digests of their ids and parents, and which runs are committed."""

    __slots__ = ("_committed", "_parents", "_ways", "ids")

    def __init__(self, nodes):
        self.ids = array("Q", [short(node["messageId"]) for node in nodes])
        self._parents = array("Q", [short(word(node, "parentMessageId") or "") for node in nodes])
        self._committed = bytes(node.get("runStatus") == "committed" for node in nodes)
        self._ways = None
        """Where walks begin and how they go on, once somebody has asked."""

    def follow(self, chosen):
        """The walk along a branch, each root in turn, by digests; `chosen` are children to prefer."""
        roots, last, named = self._ways = self._ways or self._arranged()
        shown = set()
        for root in roots:
            at = root
            while at is not None and self.ids[at] not in shown:
                name = self.ids[at]
                shown.add(name)
                yield name
                picked = named.get((name, chosen.get(name)))
                at = last.get(name) if picked is None else picked

    def _arranged(self):
        """The roots, the last child of each node that is committed, else the last one, and children by their ids."""
        known, last, named = set(self.ids), {}, {}
        for at, parent in enumerate(self._parents):
            named[parent, self.ids[at]] = at
            if self._committed[at] or parent not in last or not self._committed[last[parent]]:
                last[parent] = at
        return [at for at, parent in enumerate(self._parents) if parent not in known], last, named


class Trees:
    """The newest tree of each thread, with its line; a run record makes it old."""

    hears = ("record:run", "record:snapshot")

    def __init__(self, world):
        self.of = {}

    def apply(self, step):
        tree = served(step, "thread_tree")
        if tree is not None and isinstance(tree.get("nodes"), list):
            nodes = entries(tree["nodes"])
            told = all(isinstance(node.get("messageId"), str) for node in nodes)
            self.of[word(tree, "threadId")] = (Tree(nodes), step.number) if told else (None, 0)
        elif step.kind == "run":
            self.of.pop(word(step.line, "threadId"), None)


@rule(
    "ATH020",
    "transcript-walk-differs",
    clauses={"agent-threads": CLAUSES},
    on="record:snapshot",
    needs=(Trees, Runs, Shown),
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
    tree, line = world.ledger(Trees).of.get(word(transcript, "threadId"), (None, 0))
    if transcript.get("branch") == "all" or tree is None:
        yield from _enough(step, world, transcript, names)
    if tree is None and transcript.get("branch") != "all" and world.unproved(step) is None:
        yield from _by_itself(step, world, transcript)
    if tree is not None:
        yield from _walk(step, transcript, names, tree, line)


def _enough(step, world, transcript, names):
    """The counts of the records are a lower bound: runs before the capture may have said more. Any walk begins
    somewhere, and that of all branches leaves nothing out."""
    thread = transcript.get("threadId")
    total = world.ledger(Runs).conversation(thread).counted
    clause = _clause(transcript)
    least = min(total, 1)  # that a walk begins does not show that it goes on as it has to
    if clause == "AT-96":
        least = total
        yield seen(clause)
    if len(names) < least:
        more = {"pointer": "/snapshot/messages", "clause": clause, "witness": _records(world, thread)}
        yield finding(step, f"{least} messages or more", f"{len(names)}", key="fewer", **more)


def _records(world, thread):
    """The lines of the last records of the runs that are part of a thread."""
    runs = world.ledger(Runs)
    return (runs.last[run][1] for run in runs.of_thread(thread) if world.state("run", run) in KEPT)


def _clause(transcript):
    """The clause about the walk that a transcript makes."""
    branch = transcript.get("branch")
    return {"all": "AT-96", "active": "AT-95"}.get(branch if isinstance(branch, str) else "", "AT-97")


def _chosen(transcript):
    """The child that a transcript was asked to follow at each fork."""
    branch = transcript.get("branch")
    chosen = branch.get("selections") if isinstance(branch, dict) else {}
    pairs = chosen.items() if isinstance(chosen, dict) else ()
    return {fork: child for fork, child in pairs if isinstance(child, str)}


def _by_itself(step, world, transcript):
    """Without a tree, the records and streams of the thread tell which answer counts at a fork."""
    thread, messages = transcript.get("threadId"), entries(transcript["messages"])
    clause = _clause(transcript)
    for at, actual, lines in forks(world, thread, messages, _chosen(transcript)):
        yield seen(clause)
        if actual is not None:
            place = f"/snapshot/messages/{at}" if at < len(messages) else "/snapshot/messages"
            more = {"pointer": place, "clause": clause, "witness": chain(witness(world, thread), lines), "key": actual}
            yield finding(step, "the walk its branch asks for", actual, **more)
            return


def _walk(step, transcript, names, tree, line):
    branch, clause = transcript.get("branch"), _clause(transcript)
    chosen = {short(fork): short(child) for fork, child in _chosen(transcript).items()}
    yield seen(clause)
    if not all(isinstance(name, str) for name in names):
        return
    walk = tree.ids if branch == "all" else tree.follow(chosen)
    if any(name is None or short(name) != step for name, step in zip_longest(names, walk)):
        more = {"pointer": "/snapshot/messages", "clause": clause, "witness": (line,), "key": clause}
        yield finding(step, "the walk its branch asks for", "another walk", **more)
