"""A stage for stories: a Hub with one Edge, a workspace with a few pages, and people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_runtime.capture import Capture
from reference_runtime.lifecycles.agenthub.acts import Action
from reference_runtime.lifecycles.agenthub.folder import MemoryFolder
from reference_runtime.lifecycles.agenthub.hub import AgentHub
from reference_runtime.lifecycles.agenthub.places import Adapter, Edge, Habits, Wish
from reference_runtime.log.base import Store
from reference_runtime.scripts.coverage import Played
from reference_runtime.stamping import VirtualClock

MIRA = {"id": "user_mira", "kind": "user", "displayName": "Mira Chen"}
JON = {"id": "user_jon", "kind": "user", "displayName": "Jon Adeyemi"}
PAGES = {"docs/quickstart.md": "Install it.\nRun it.\n", "docs/faq.md": "Why?\n", "scripts/build.py": "print(1)\n"}
PHASES = ("Created", "Planned", "Accepted", "Preparing", "Running")


class Stage:
    """What a story has at hand; it counts what the story reaches."""

    def __init__(self, open_store: Callable[[], Store], capture: Capture | None = None):
        self._open, self._capture, self.clock = open_store, capture, VirtualClock()
        self.files, self.played = MemoryFolder(PAGES), Played()
        self.adapter = Adapter("cli-adapter")
        self.edge = Edge("edge_studio", "Studio Edge", workspaces={"ws_docs": self.files})
        self.edge.adapters["cli-adapter"] = self.adapter
        self.hub = self.boot()

    def boot(self, habits: Habits | None = None) -> AgentHub:
        """A Hub on the same store and the same files; what came before is gone from memory."""
        hub = AgentHub(self._open(), [self.edge], habits, self.clock, self._capture)
        hub.book.rows = self.played.rows
        hub.book.subscribers.append(lambda event: self.played.events.add(event["type"]))
        self.hub = hub
        return hub

    def restart(self, reason: str = "crash") -> None:
        """The process is gone and comes back on its store."""
        self.hub.book.store.close()
        self.boot().recover(reason)

    def close(self) -> None:
        for run in self.hub.runs():
            self.hub.view(run)
        self.hub.book.store.close()

    def run(self, title: str, phase: str = "Running", *, workspace: str = "ws_docs", **wish: Any) -> str:
        """A run of its own task, taken as far as a phase."""
        task = {"id": f"task_{len(self.hub.runs()) + 1}", "title": title}
        request = {"task": task, "actor": MIRA, "project": {"id": "proj_docs", "name": "Public docs"}}
        request |= {"workspace": {"id": workspace, "name": "docs-site", "directory": "."}}
        request |= {"agentProfile": {"id": "profile_docs", "name": "Docs Agent"}}
        request |= {"sessionId": "session_docs", "agentId": "docs-agent"}
        run = self.hub.create(request, Wish("edge_studio", "cli-adapter", **wish))["runId"]
        steps = (self.hub.plan, self.hub.accept, self.hub.prepare, self.hub.start)
        for step in steps[: PHASES.index(phase)]:
            step(run)
        return run

    def say(self, run: str, *pieces: str) -> None:
        """The runtime says something, piece by piece."""
        number = len(self.hub.events(run))
        for piece in pieces:
            self.hub.report(run, "run.message.delta", {"messageId": f"msg_{number}", "text": piece})
        text = "".join(pieces)
        self.hub.report(run, "run.message.completed", {"messageId": f"msg_{number}", "text": text})

    def ask(self, run: str, tool: str, **arguments: Any) -> str:
        """A tool call that waits for its approval; the approval's id."""
        self.hub.act(run, Action(tool, arguments))
        return self.waiting(run)[-1]

    def waiting(self, run: str) -> list[str]:
        return [entry["approvalId"] for entry in self.hub.view(run)["pendingApprovals"]]

    def allow(self, approval: str) -> None:
        """A reviewer allows an action, and the Edge carries it out."""
        self.hub.decide(approval, "approved", JON, "Reviewed line by line")
        self.hub.apply(approval)
