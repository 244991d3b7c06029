"""A Hub in a process of its own: it works through a load of commands and says each answer as soon as it has it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reference_runtime.lifecycles.agenthub.acts import Action
from reference_runtime.lifecycles.agenthub.folder import Folder
from reference_runtime.lifecycles.agenthub.hub import AgentHub
from reference_runtime.lifecycles.agenthub.places import Adapter, Edge, Wish
from reference_runtime.lifecycles.agenthub.stage import JON, MIRA
from reference_runtime.log.sqlite import SqliteStore

LAST = "the last approval"


class Directory:
    """The files of a real folder."""

    def __init__(self, root: Path):
        self.root = root

    def read(self, path: str, limit: int) -> tuple[bytes, int]:
        data = (self.root / path).read_bytes()
        return data[:limit], len(data)

    def write(self, path: str, data: bytes) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_suffix(".part")
        draft.write_bytes(data)
        os.replace(draft, target)


def open_hub(folder: Path) -> AgentHub:
    files: Folder = Directory(folder / "workspace")
    edge = Edge("edge", "Edge", workspaces={"ws": files}, adapters={"cli": Adapter("cli")})
    return AgentHub(SqliteStore(folder / "store.db"), [edge])


def load(first: int, rounds: int) -> Iterator[tuple[str, str, list[Any]]]:
    """Commands with their keys: each round is a run that writes a page under an approval and goes on to a push."""
    for number in range(first, first + rounds):
        run = f"run_{number}"
        request = {"task": {"id": f"task_{number}", "title": "Add a page"}, "actor": MIRA}
        request |= {"workspace": {"id": "ws", "name": "docs"}, "agentProfile": {"id": "p", "name": "P"}}
        commands: list[tuple[str, list[Any]]] = [
            ("create", [request, Wish("edge", "cli")]),
            *((step, [run]) for step in ("plan", "accept", "prepare", "start")),
            ("propose", [run, {f"docs/page_{number}.md": f"Page {number}.\n"}, "Add a page"]),
            ("decide", [LAST, "approved", JON]),
            ("apply", [LAST]),
            ("act", [run, Action("git_push", {"destination": "origin"})]),
            ("decide", [LAST, "approved", JON]),
            ("apply", [LAST]),
            ("complete", [run, "The page is there."]),
        ]
        yield from ((f"{number}-{place}", command, words) for place, (command, words) in enumerate(commands))


def main() -> None:
    folder, first, rounds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    hub = open_hub(folder)
    if hub.book.store.position():
        hub.recover("kill")
    for key, command, words in load(first, rounds):
        last = hub.book.page().find("approval")[-1].id if LAST in words else None
        answer = getattr(hub, command)(*meant(words, last), key=key)
        print(json.dumps({"key": key, "answer": answer, "last": last}), flush=True)


def meant(words: list[Any], last: str | None) -> list[Any]:
    """The words of a command with the approval that it is about."""
    return [last if word == LAST else word for word in words]


if __name__ == "__main__":
    main()
