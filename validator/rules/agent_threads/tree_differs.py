"""A served thread tree contradicts the records of its runs, or itself.

Why: the tree is where a user picks a branch; a wrong node or fork offers an answer that is none.
Trips: a tree that lists a message of a failed run.  Near miss: a tree that keeps the messages of a superseded run.
Fix: Build the tree from the stored messages and the present status of their runs.
"""

from validator.replay.readmodels.agent_threads import Runs
from validator.replay.readmodels.words import word
from validator.rules import Findings, finding, rule, seen
from validator.rules.agent_threads._facts import KEPT, entries, served

CLAUSES = ("AT-65", "AT-103", "AT-104", "AT-105", "AT-106")


@rule("ATH018", "tree-differs", clauses={"agent-threads": CLAUSES}, on="record:snapshot", needs=(Runs,))
def check(step, world, context):
    tree = served(step, "thread_tree")
    if tree is None or not isinstance(tree.get("nodes"), list):
        return
    nodes = entries(tree["nodes"])
    if world.unproved(step) is None:
        yield from _runs(step, world, tree, nodes)
    if isinstance(tree.get("forkPoints"), list) and all(isinstance(node.get("messageId"), str) for node in nodes):
        yield from _forks(step, tree, nodes)


def _runs(step, world, tree, nodes):
    counts = {}
    for at, node in enumerate(nodes):
        run = word(node, "runId")
        subject = world.subjects("run").get(run or "")
        if subject is None:
            continue
        counts[run] = counts.get(run, 0) + 1
        more = {"entity": ("run", run), "state": subject.state, "witness": tuple(subject.history)}
        if subject.state not in KEPT:
            more |= {"pointer": f"/snapshot/nodes/{at}", "clause": "AT-65", "key": subject.state}
            yield finding(step, "messages of committed runs", f"a message of a run that is {subject.state}", **more)
        elif isinstance(node.get("runStatus"), str) and node["runStatus"] != subject.state:
            more |= {"pointer": f"/snapshot/nodes/{at}/runStatus", "clause": "AT-103", "key": "status"}
            yield finding(step, subject.state, node["runStatus"], **more)
    told = world.ledger(Runs).conversation(tree.get("threadId"))
    if told.kept:
        yield seen("AT-103", "AT-65", times=told.kept)
    yield Findings(told.miscounted(counts), "AT-103", _miscounted(step, world, tree.get("threadId"), counts))


def _miscounted(step, world, thread, counts):
    """The runs that are part of a thread and have other messages in a tree of it than their records count."""
    runs = world.ledger(Runs)
    for run in runs.of_thread(thread):
        record, line = runs.last[run]
        if world.state("run", run) in KEPT and counts.get(run, 0) != record.get("messageCount"):
            more = {"pointer": "/snapshot/nodes", "clause": "AT-103", "entity": ("run", run), "witness": (line,)}
            expected = f"{record.get('messageCount')} nodes of the run"
            yield finding(step, expected, f"{counts.get(run, 0)}", key="count", **more)


def _forks(step, tree, nodes):
    children, status = {}, {node["messageId"]: node.get("runStatus") for node in nodes}
    for node in nodes:
        children.setdefault(word(node, "parentMessageId"), []).append(node["messageId"])
    parting = {parent: names for parent, names in children.items() if isinstance(parent, str) and len(names) > 1}
    listed = {word(point, "forkMessageId"): (at, point) for at, point in enumerate(entries(tree["forkPoints"]))}
    yield seen("AT-104", "AT-105")
    for name in dict.fromkeys((*listed, *parting)):
        if name in parting and name in status and name not in listed:
            more = {"pointer": "/snapshot/forkPoints", "clause": "AT-104", "key": "not listed"}
            yield finding(step, "every message that two follow", "one is not listed", **more)
        elif name not in parting:
            clause = "AT-105" if name is None else "AT-104"
            more = {"pointer": f"/snapshot/forkPoints/{listed[name][0]}", "clause": clause, "key": "listed"}
            yield finding(step, "only messages that two follow", "another one is listed", **more)
        elif name in listed:
            yield from _active(step, *listed[name], parting[name], status)


def _active(step, at, point, names, status):
    yield seen("AT-106")
    shown = point.get("children")
    if isinstance(shown, list) and set(names) != {name for name in shown if isinstance(name, str)}:
        more = {"pointer": f"/snapshot/forkPoints/{at}/children", "clause": "AT-104", "key": "children"}
        yield finding(step, "every message that follows it, and no other", "others", **more)
    kept = [name for name in names if status[name] == "committed"]
    if point.get("activeChildId") != (kept or names)[-1]:
        more = {"pointer": f"/snapshot/forkPoints/{at}/activeChildId", "clause": "AT-106", "key": "active"}
        yield finding(step, "the last child whose run is committed", "another child", **more)
