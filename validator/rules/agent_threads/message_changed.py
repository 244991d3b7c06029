"""A message that was served once is different or gone when it is served again.

Why: messages are kept for good; one that changes makes every earlier answer to it unexplainable.
Trips: two trees of a thread, the second without a message of the first.
Near miss: two trees of a thread, the second with more messages.
Fix: Never rewrite or delete a stored message; superseding changes the status of its run only.
"""

import json

from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen
from validator.rules.agent_threads._facts import entries, served

KEPT = ("parentMessageId", "role", "parts")


class Shown:
    """The first form of every message, and the messages of each thread's first tree."""

    def __init__(self, world):
        self.messages = {}
        self.trees = {}

    def differs(self, name, entry, line):
        """The fields of a message that were served otherwise before a line, with where that was."""
        for field, (first, at) in self.messages.get(name, {}).items():
            if at != line and field in entry and form(entry[field]) != first:
                yield field, at

    def apply(self, step):
        for name, entry, _ in messages(step):
            for field in KEPT:
                if field in entry:
                    self.messages.setdefault(name, {}).setdefault(field, (form(entry[field]), step.number))
        tree = served(step, "thread_tree")
        if tree is not None:
            names = {word(node, "messageId"): step.number for node in entries(tree.get("nodes"))}
            thread = word(tree, "threadId")
            self.trees[thread] = {**names, **self.trees.get(thread, {})}


def messages(step):
    """Every message of a snapshot with its id and its place."""
    tree, transcript = served(step, "thread_tree"), served(step, "transcript")
    for place, key, found in (("nodes", "messageId", tree), ("messages", "id", transcript)):
        for at, entry in enumerate(entries((found or {}).get(place))):
            if isinstance(entry.get(key), str):
                yield entry[key], entry, f"/snapshot/{place}/{at}"


def form(value):
    """A value free of the order of its keys."""
    return json.dumps(value, sort_keys=True)


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
        for field, (first, line) in ledger.messages.get(name, {}).items():
            if line == step.number or field not in entry:
                continue
            yield seen("AT-17")
            if form(entry[field]) != first:
                more = {"pointer": f"{place}/{field}", "entity": ("message", name), "witness": (line,), "key": field}
                yield finding(step, f"the {field} it was served with", f"another {field}", clause="AT-17", **more)
    tree = served(step, "thread_tree")
    if tree is not None and isinstance(tree.get("nodes"), list):
        yield from _gone(step, tree, ledger)


def _gone(step, tree, ledger):
    names = {word(node, "messageId") for node in entries(tree["nodes"])}
    before = {name: line for name, line in ledger.trees.get(word(tree, "threadId"), {}).items() if line != step.number}
    if before:
        yield seen("AT-71")
    lost = [line for name, line in before.items() if name not in names]
    if lost:
        more = {"pointer": "/snapshot/nodes", "clause": "AT-71", "witness": (lost[0],), "key": "gone"}
        yield finding(step, "every message of the earlier tree", f"{len(lost)} are gone", **more)
