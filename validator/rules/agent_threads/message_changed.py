"""A message that was served once is different or gone when it is served again.

Why: messages are kept for good; one that changes makes every earlier answer to it unexplainable.
Trips: two trees of a thread, the second without a message of the first.
Near miss: two trees of a thread, the second with more messages.
Fix: Never rewrite or delete a stored message; superseding changes the status of its run only.
"""

from itertools import islice

from validator.capture.encode import sorted_bytes
from validator.protocol.honest import is_honest
from validator.replay.readmodels.words import word
from validator.replay.seen import SeenEvents, hashed, short
from validator.rules import finding, rule, seen
from validator.rules.agent_threads._facts import entries, served

KEPT = ("parentMessageId", "role", "parts")


class Forms(SeenEvents):
    """Names to digests and lines, 32 bytes at most each."""

    _BODY = "I"


class Shown:
    """The first form of every message, by digests, and what the trees of each thread have shown."""

    hears = ("record:snapshot",)

    def __init__(self, world):
        self._forms = Forms()
        self._named = Forms()
        self.trees = {}
        """Thread to how many messages its trees have named, and lines that together name them all."""
        self.gone, self.before = 0, None
        """How many of them the tree at hand lacks, and the lines that named them, if there was a tree before."""

    def first(self, name, field):
        """The digest of the first form of a field and its line, or None."""
        return self._forms.get(short(f"{name}\n{field}"))

    def differs(self, name, entry, line):
        """The fields of a message that were served otherwise before a line, with where that was."""
        for field in KEPT if isinstance(name, str) else ():
            found = self.first(name, field) if field in entry else None
            if found is not None and found[1] != line and form(entry[field]) != found[0]:
                yield field, found[1]

    def apply(self, step):
        self.gone, self.before = 0, None
        if step.kind != "snapshot":
            return
        for name, entry, _ in messages(step):
            for field in KEPT:
                if field in entry:
                    self._forms.meet(short(f"{name}\n{field}"), form(entry[field]), step.number)
        tree = served(step, "thread_tree")
        if tree is not None and isinstance(tree.get("nodes"), list):
            nodes = entries(tree["nodes"])
            names = {word(node, "messageId") for node in nodes} - {None}
            unnamed = sum(is_honest(node) or is_honest(node.get("messageId")) for node in nodes)
            self._tree(word(tree, "threadId"), names, unnamed, step.number)

    def _tree(self, thread, names, unnamed, line):
        """A node whose id is honestly unknown may be any of those that were named before."""
        count, lines = self.trees.get(thread, (0, []))
        known = [self._named.meet(short(f"{thread}\n{name}"), 0, line) for name in names]
        met = sum(found is not None for found in known)
        if thread in self.trees:
            self.gone, self.before = max(0, count - met - unnamed), islice(lines, len(lines))
        if met == count:
            lines = [line]
        elif met < len(names):
            lines.append(line)
        self.trees[thread] = count + len(names) - met, lines


def messages(step):
    """Every message of a snapshot with its id and its place."""
    tree, transcript = served(step, "thread_tree"), served(step, "transcript")
    for place, key, found in (("nodes", "messageId", tree), ("messages", "id", transcript)):
        for at, entry in enumerate(entries((found or {}).get(place))):
            if isinstance(entry.get(key), str):
                yield entry[key], entry, f"/snapshot/{place}/{at}"


def form(value):
    """A digest of a value, free of the order of its keys."""
    return hashed(sorted_bytes(value)) >> 32


@rule(
    "ATH019",
    "message-changed",
    clauses={"agent-threads": ("AT-17", "AT-71")},
    on="record:snapshot",
    needs=(Shown,),
)
def check(step, world, context):
    ledger = world.ledger(Shown)
    for name, entry, place in messages(step):
        for field in KEPT:
            first, line = ledger.first(name, field) or (0, step.number)
            if line == step.number or field not in entry:
                continue
            yield seen("AT-17")
            if form(entry[field]) != first:
                more = {"pointer": f"{place}/{field}", "entity": ("message", name), "witness": (line,), "key": field}
                yield finding(step, f"the {field} it was served with", f"another {field}", clause="AT-17", **more)
    if ledger.before:
        yield seen("AT-71")
    if ledger.gone:
        more = {"pointer": "/snapshot/nodes", "clause": "AT-71", "witness": ledger.before, "key": "gone"}
        yield finding(step, "every message of the earlier tree", f"{ledger.gone} are gone", **more)
