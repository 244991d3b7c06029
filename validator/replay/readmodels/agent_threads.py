"""The read models of agent-threads: messages reduced from streams, transcripts, thread trees and runs.

Two planes meet here. Streams are reduced to messages; run records say which of them count. The ids of messages are
known to the ledger alone, so they are learnt from the transcripts and trees it served and are unknown otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from validator.replay.readmodels.words import number, word
from validator.replay.step import Step

KEPT = ("committed", "superseded")
"""Statuses of runs whose messages are part of their thread."""


def unknown(reason: str) -> dict[str, str]:
    """The honest value for what the capture does not tell."""
    return {"honest": "unknown", "reason": reason}


_LEDGER = unknown("The ledger assigns it, and no message was captured.")


class Reducer:
    """Turns the events of one stream into messages, as the table of kinds says."""

    def __init__(self, kinds: dict[str, dict[str, Any]]):
        self._kinds = kinds
        self._text: str | None = None
        self._open: dict[str, Any] | None = None
        self._done: list[dict[str, Any]] = []
        self.pending: dict[str, str] = {}
        self.last = 0
        self.whole = True
        """Every event since the first was seen."""

    def apply(self, event: dict[str, Any]) -> None:
        """Takes one stored event in."""
        sequence, inner = number(event, "seq"), event.get("event")
        self.whole = self.whole and sequence == self.last + 1
        self.last = max(self.last, sequence or 0)
        kind = word(inner, "kind")
        if kind not in self._kinds or not isinstance(inner, dict):
            return
        values, payload = self._kinds[kind], inner.get("payload")
        if not isinstance(payload, dict):
            return
        if values["metadata"] and self._open:
            self._open["metadata"][values["metadata"]] = payload
        if values["flushes"]:
            self._flush()
        if values["closes"]:
            self._close()
        if values["opens"] and self._open is None:
            self._open = _message("assistant")
        if kind == "text-delta":
            self._text = (self._text or "") + str(payload.get("delta", ""))
        elif values["part"]:
            self._add(kind, values, payload)

    def messages(self) -> list[dict[str, Any]]:
        """The messages so far, the open one included when it has parts."""
        if self._open is None:
            return list(self._done)
        parts = [*self._open["parts"], *([{"type": "text", "text": self._text}] if self._text else [])]
        return [*self._done, *([{**self._open, "parts": parts}] if parts else [])]

    def _add(self, kind: str, values: dict[str, Any], payload: dict[str, Any]) -> None:
        part = self._part(kind, values["part"], payload)
        if values["message"]:
            message = _message(values["message"])
            message["parts"].append(part)
            self._done.append(message)
        else:
            # Every kind whose part goes into the open message opens one where there is none.
            self._open["parts"].append(part)

    def _part(self, kind: str, part: str, payload: dict[str, Any]) -> dict[str, Any]:
        if part == "tool-call":
            self.pending[str(payload.get("toolCallId"))] = str(payload.get("toolName"))
            return {"type": part, **{name: payload.get(name) for name in ("toolCallId", "toolName", "input")}}
        if part == "tool-result":
            call = str(payload.get("toolCallId"))
            name = payload.get("toolName") or self.pending.get(call, "unknown")
            self.pending.pop(call, None)
            failed = payload.get("isError", False)
            return {
                "type": part,
                "toolCallId": call,
                "toolName": name,
                "output": payload.get("output"),
                "isError": failed,
            }
        if part == "file":
            return {"type": part, **{name: payload[name] for name in ("mimeType", "url", "name") if name in payload}}
        return {"type": part, "text": payload.get("content" if kind == "user-message" else "text")}

    def _flush(self) -> None:
        if self._text and self._open is not None:
            self._open["parts"].append({"type": "text", "text": self._text})
        self._text = None

    def _close(self) -> None:
        self._flush()
        if self._open is not None and self._open["parts"]:
            self._done.append(self._open)
        self._open = None


def _message(role: str) -> dict[str, Any]:
    return {"role": role, "parts": [], "metadata": {"schemaVersion": 1}}


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
class _Run:
    """What the records of one run said."""

    record: dict[str, Any]
    committed_at: str | None = None
    """finishedAt of the record that showed the run committed."""
    superseded_by: str | None = None
    idle: bool = False
    """It was seen created and never at work since, so its stream is empty."""


@dataclass(slots=True)
class _Served:
    """What the ledger served about messages."""

    by_run: dict[str, list[str]] = field(default_factory=dict)
    order: dict[str, int] = field(default_factory=dict)
    messages: dict[str, dict[str, Any]] = field(default_factory=dict)


class Threads:
    """Builds `run_view`, `transcript` and `thread_tree` for the runs and threads of a capture."""

    def __init__(self, world: Any):
        self._world = world
        self._kinds = {row["id"]: row["values"] for row in world.protocol.tables["kinds"]["rows"]}
        self._runs: dict[str, _Run] = {}
        self._kept: dict[str, None] = {}
        self._served = _Served()
        self.streams: dict[str, Reducer] = {}
        self.lines: dict[str, list[int]] = {}
        """The lines of each stream's events."""

    def apply(self, step: Step) -> None:
        """Learns from one step."""
        if step.kind == "event":
            self._event(step)
        elif step.kind == "run":
            self._record(step)
        elif step.kind == "snapshot" and isinstance(step.line.get("snapshot"), dict):
            self._snapshot(step.type, step.line["snapshot"])

    def runs(self) -> list[str]:
        """Every run that a record or an event speaks about."""
        seen = {stream.removeprefix("run:"): None for stream in self.streams if stream.startswith("run:")}
        return list({**dict.fromkeys(self._runs), **seen})

    def threads(self) -> list[str]:
        """Every thread that a record names."""
        return list(dict.fromkeys(run.record["threadId"] for run in self._runs.values()))

    def reducer(self, run: str) -> Reducer | None:
        """The reduced stream of a run, or None when no event of it was seen."""
        return self.streams.get(f"run:{run}")

    def record(self, run: str) -> dict[str, Any] | None:
        """The last record of a run."""
        return self._runs[run].record if run in self._runs else None

    def run_view(self, key: str) -> dict[str, Any]:
        """A run as both planes show it."""
        run, reducer = self._runs.get(key), self.reducer(key)
        absent = unknown("No record of the run was captured.")
        view: dict[str, Any] = {"runId": key, "streamId": f"run:{key}"}
        if run is None:
            names = ("threadId", "forkFromMessageId", "createdAt", "finishedAt", "messageCount", "supersededBy")
            view |= {"status": "unknown", **dict.fromkeys(names, absent)}
        else:
            subject = self._world.subjects("run").get(key)
            view |= {name: run.record.get(name) for name in ("threadId", "forkFromMessageId", "createdAt")}
            view["status"] = "stale" if subject and subject.doubted else subject.state if subject else "unknown"
            view |= self._end(key, run, view["status"])
        silent = None if run and run.idle else unknown("The capture holds no events of the stream.")
        view["lastSeq"] = reducer.last if reducer else silent or 0
        view["pendingToolCallIds"] = list(reducer.pending) if reducer else silent or []
        return view

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
            record = self._runs[key].record
            if record["threadId"] != thread or self._world.state("run", key) not in KEPT:
                continue
            reducer = self.reducer(key)
            messages = reducer.messages() if reducer and reducer.whole else []
            if len(messages) < (number(record, "messageCount") or 0):
                return None
            parent = None
            for index, message in enumerate(messages):
                node = Node(key, index, message, parent=parent, fork=word(record, "forkFromMessageId"))
                found.append(node)
                parent = node
        self._name(found)
        found.sort(key=lambda node: self._served.order.get(node.id or "", len(self._served.order)))
        _join(found)
        return found

    def active_child(self, children: list[Node]) -> Node:
        """The last inserted child of a committed run, or the last inserted one."""
        kept = [node for node in children if self._world.state("run", node.run) == "committed"]
        return (kept or children)[-1]

    def _event(self, step: Step) -> None:
        stream = step.line.get("streamId")
        if isinstance(stream, str):
            self.streams.setdefault(stream, Reducer(self._kinds)).apply(step.line)
            self.lines.setdefault(stream, []).append(step.number)

    def _record(self, step: Step) -> None:
        record = step.line
        key, status = word(record, "runId"), word(record, "status")
        if key is None or word(record, "threadId") is None:
            return
        run = self._runs.setdefault(key, _Run(record, idle=status == "created"))
        run.record, run.idle = record, run.idle and status not in {"streaming", *KEPT}
        if status in KEPT:
            self._kept.setdefault(key)
        if status == "committed":
            run.committed_at = run.committed_at or record.get("finishedAt")
        for move in step.moves:
            other = self._runs.get(move.subject) if move.machine == "run" and move.subject != key else None
            if other is not None and move.target == "superseded" != move.source:
                other.superseded_by = key

    def _snapshot(self, model: str | None, snapshot: dict[str, Any]) -> None:
        if model == "thread_tree":
            by_run: dict[str, list[str]] = {}
            for node in _entries(snapshot.get("nodes")):
                if isinstance(node.get("messageId"), str) and isinstance(node.get("runId"), str):
                    by_run.setdefault(node["runId"], []).append(node["messageId"])
                    self._served.order.setdefault(node["messageId"], len(self._served.order))
            self._served.by_run |= by_run
        elif model == "transcript":
            for message in _entries(snapshot.get("messages")):
                if isinstance(message.get("id"), str):
                    self._served.messages.setdefault(message["id"], message)
        elif model == "message" and isinstance(snapshot.get("id"), str):
            self._served.messages.setdefault(snapshot["id"], snapshot)

    def _end(self, key: str, run: _Run, status: str) -> dict[str, Any]:
        finished, successor = run.record.get("finishedAt"), None
        if status == "superseded":
            successor = run.superseded_by or self._successor(key, run)
            if run.record.get("status") != "superseded" and successor in self._runs:
                finished = self._runs[successor].committed_at
            successor = successor or unknown("The run that superseded it was not seen.")
        return {"finishedAt": finished, "messageCount": run.record.get("messageCount"), "supersededBy": successor}

    def _successor(self, key: str, run: _Run) -> str | None:
        """The sibling whose commit has the time at which a run was superseded, else the only one that could."""
        place = (run.record["threadId"], run.record.get("forkFromMessageId"))
        siblings = {
            other: entry
            for other, entry in self._runs.items()
            if other != key and (entry.record["threadId"], entry.record.get("forkFromMessageId")) == place
        }
        at = run.record.get("finishedAt")
        same = [other for other, entry in siblings.items() if entry.committed_at == at]
        open_ended = [
            other for other, entry in siblings.items() if entry.record["status"] in KEPT and entry.committed_at is None
        ]
        found = same or open_ended
        return found[0] if len(found) == 1 else None

    def _name(self, nodes: list[Node]) -> None:
        """Gives nodes the ids the ledger served: by place in a tree, else by content and parent in a transcript."""
        for node in nodes:
            ids = self._served.by_run.get(node.run, [])
            node.id = ids[node.index] if node.index < len(ids) else None
        taken = {node.id for node in nodes}
        for key, message in self._served.messages.items():
            if key in taken:
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
