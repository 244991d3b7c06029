"""Transcripts and thread trees: messages reduced from streams, which the run records let count.

The ids of messages are known to the ledger alone, so they are learnt from the transcripts and trees it served and are
unknown otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.records import dataclass, field
from validator.replay.readmodels.agent_threads.reducer import Reducer
from validator.replay.readmodels.agent_threads.runs import KEPT, Runs, unknown
from validator.replay.step import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LEDGER = unknown("The ledger assigns it, and no message was captured.")


@dataclass(slots=True)
class Node:
    """A message of a thread: who wrote it, what it says, and its id as far as the ledger told."""

    run: str
    index: int
    message: dict[str, Any]
    id: str | None = None
    parent: Node | None = None
    fork: str | None = None
    created_at: str | None = None


@dataclass(slots=True)
class _Served:
    """What the ledger served about messages."""

    by_run: dict[str, list[str]] = field(default_factory=dict)
    order: dict[str, int] = field(default_factory=dict)
    messages: dict[str, dict[str, Any]] = field(default_factory=dict)
    threads: dict[str, set[str]] = field(default_factory=dict)
    """The threads in whose transcripts each message stood."""


class Threads(Runs):
    """Builds `transcript` and `thread_tree` as well, for which every message is kept."""

    hears = (*Runs.hears, "record:snapshot")

    def __init__(self, world: Any):
        super().__init__(world)
        self._served = _Served()

    def apply(self, step: Step) -> None:
        """Learns from one step."""
        super().apply(step)
        if step.kind == "snapshot" and isinstance(step.line.get("snapshot"), dict):
            self._snapshot(step.type, step.line["snapshot"])

    def _sweep(self, number: int) -> None:
        """Keeps the messages of every stream: they are what is asked for."""

    def transcript(self, thread: str, branch: Any = "active") -> dict[str, Any]:
        """The messages of a thread along a branch."""
        nodes = self.nodes(thread)
        shown: Any = None
        if nodes is None:
            shown = unknown("Neither events nor messages were captured, only run records.")
        elif branch == "all":
            shown = [_shown(node) for node in nodes]
        elif any(node.id is None for node in nodes):
            shown = unknown("Without the ids of messages it cannot be told which branch is active.")
        else:
            chosen = branch.get("selections", {}) if isinstance(branch, dict) else {}
            shown = [_shown(node) for node in self._walk(nodes, chosen)]
        return {"threadId": thread, "branch": branch, "messages": shown}

    def tree(self, thread: str) -> dict[str, Any]:
        """Every kept message of a thread, and the messages where branches part."""
        nodes = self.nodes(thread)
        if nodes is None:
            silent = unknown("Only run records were captured.")
            return {"threadId": thread, "nodes": silent, "forkPoints": silent}
        forks: Any = unknown("Without the ids of messages branches cannot be told apart.")
        if all(node.id for node in nodes):
            forks = [self._fork(parent, children) for parent, children in _children(nodes) if len(children) > 1]
        return {"threadId": thread, "nodes": [self._place(node) for node in nodes], "forkPoints": forks}

    def nodes(self, thread: str) -> list[Node] | None:
        """The kept messages of a thread in insertion order; None when the capture does not hold them."""
        found: list[Node] = []
        for key in self._kept:
            record = self.last[key][0]
            if record["threadId"] != thread or self._world.state("run", key) not in KEPT:
                continue
            reducer = self.reducer(key)
            messages = reducer.messages() if isinstance(reducer, Reducer) and reducer.whole else []
            if len(messages) < (record.number("messageCount") or 0):
                return None
            parent = None
            for index, message in enumerate(messages):
                node = Node(key, index, message, parent=parent, fork=record.word("forkFromMessageId"))
                found.append(node)
                parent = node
        self._name(thread, found)
        found.sort(key=lambda node: self._served.order.get(node.id or "", len(self._served.order)))
        _join(found)
        return found

    def active_child(self, children: list[Node]) -> Node:
        """The last inserted child of a committed run, or the last inserted one."""
        kept = [node for node in children if self._world.state("run", node.run) == "committed"]
        return (kept or children)[-1]

    def _snapshot(self, model: str | None, snapshot: dict[str, Any]) -> None:
        if model == "thread_tree":
            by_run: dict[str, list[str]] = {}
            for node in _entries(snapshot.get("nodes")):
                if isinstance(node.get("messageId"), str) and isinstance(node.get("runId"), str):
                    by_run.setdefault(node["runId"], []).append(node["messageId"])
                    self._served.order.setdefault(node["messageId"], len(self._served.order))
            self._served.by_run |= by_run
        elif model == "transcript":
            thread = snapshot.get("threadId")
            for message in _entries(snapshot.get("messages")):
                if isinstance(message.get("id"), str):
                    self._served.messages.setdefault(message["id"], message)
                    if isinstance(thread, str):
                        self._served.threads.setdefault(message["id"], set()).add(thread)
        elif model == "message" and isinstance(snapshot.get("id"), str):
            self._served.messages.setdefault(snapshot["id"], snapshot)

    def _name(self, thread: str, nodes: list[Node]) -> None:
        """Gives nodes the ids the ledger served: by place in a tree, else by content and parent in a transcript."""
        for node in nodes:
            ids = self._served.by_run.get(node.run, [])
            node.id = ids[node.index] if node.index < len(ids) else None
        taken = {node.id for node in nodes}
        for key, message in self._served.messages.items():
            # What another thread says in the same words is told there under an id of its own.
            if key in taken or thread not in self._served.threads.get(key, {thread}):
                continue
            for node in nodes:
                if node.id is None and _fits(node, message):
                    node.id = key
                    break
        for node in nodes:
            node.created_at = self._served.messages.get(node.id or "", {}).get("createdAt")

    def _walk(self, nodes: list[Node], chosen: dict[str, str]) -> Iterator[Node]:
        children = {parent.id: entries for parent, entries in _children(nodes)}
        seen: set[str | None] = set()
        for root in (node for node in nodes if node.parent is None):
            node: Node | None = root
            while node is not None and node.id not in seen:
                seen.add(node.id)
                yield node
                node = self._next(node, children.get(node.id, []), chosen)

    def _next(self, node: Node, children: list[Node], chosen: dict[str, str]) -> Node | None:
        if not children:
            return None
        wanted = chosen.get(node.id or "")
        return next((child for child in children if child.id == wanted), None) or self.active_child(children)

    def _fork(self, parent: Node, children: list[Node]) -> dict[str, Any]:
        names = [child.id for child in children]
        return {"forkMessageId": parent.id, "children": names, "activeChildId": self.active_child(children).id}

    def _place(self, node: Node) -> dict[str, Any]:
        return {
            "messageId": node.id or _LEDGER,
            "parentMessageId": _parent(node),
            "role": node.message["role"],
            "runId": node.run,
            "runStatus": self._world.state("run", node.run),
        }


def _entries(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _fits(node: Node, message: dict[str, Any]) -> bool:
    if (node.message["role"], node.message["parts"]) != (message.get("role"), message.get("parts")):
        return False
    if node.parent is None:
        return node.fork == message.get("parentMessageId")
    return node.parent.id in {None, message.get("parentMessageId")}


def _join(nodes: list[Node]) -> None:
    """Hangs the first message of each run under the message it forks from, where that is in the thread."""
    named = {node.id: node for node in nodes if node.id}
    for node in nodes:
        if node.index == 0:
            node.parent = named.get(node.fork) if node.fork else None


def _children(nodes: list[Node]) -> list[tuple[Node, list[Node]]]:
    found = [(parent, [node for node in nodes if node.parent is parent]) for parent in nodes]
    return [(parent, children) for parent, children in found if children]


def _parent(node: Node) -> Any:
    if node.index == 0:
        return node.fork
    return (node.parent.id if node.parent else None) or _LEDGER


def _shown(node: Node) -> dict[str, Any]:
    return {
        "id": node.id or _LEDGER,
        "parentMessageId": _parent(node),
        "role": node.message["role"],
        "parts": node.message["parts"],
        "createdAt": node.created_at or _LEDGER,
        "metadata": node.message["metadata"],
    }
