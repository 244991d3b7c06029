"""The branches of a thread: which message follows which, and along which of them a transcript walks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reference_runtime.errors import CommandRejected

Branch = str | dict[str, Any]
"""`active`, `all`, or a choice of children by fork: `{"selections": {...}}`."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A committed message, the run that wrote it, and how that run stands now."""

    message: dict[str, Any]
    run: str
    status: str

    @property
    def id(self) -> str:
        return self.message["id"]

    @property
    def parent(self) -> str | None:
        return self.message["parentMessageId"]


class Branches:
    """The messages of one thread, in the order in which they were inserted."""

    def __init__(self, placed: list[Placed]):
        self._placed = placed
        self._children: dict[str | None, list[Placed]] = {}
        for one in placed:
            self._children.setdefault(one.parent, []).append(one)

    def messages(self, branch: Branch) -> list[dict[str, Any]]:
        """The messages along a branch (AT-95 to AT-97)."""
        if branch == "all":
            return [one.message for one in self._placed]
        return [one.message for one in self._walk(_selections(branch))]

    def nodes(self) -> list[dict[str, Any]]:
        """Every message with its place (AT-103)."""
        return [
            {
                "messageId": one.id,
                "parentMessageId": one.parent,
                "role": one.message["role"],
                "runId": one.run,
                "runStatus": one.status,
            }
            for one in self._placed
        ]

    def fork_points(self) -> list[dict[str, Any]]:
        """The messages that two or more follow; roots follow nothing (AT-104, AT-105)."""
        forks = ((one.id, self._children.get(one.id, [])) for one in self._placed)
        return [
            {"forkMessageId": name, "children": [child.id for child in after], "activeChildId": _active(after).id}
            for name, after in forks
            if len(after) > 1
        ]

    def _walk(self, selections: dict[str, str]) -> Iterator[Placed]:
        """Each root in turn, a message whose parent is not in the thread being one (AT-99); none twice (AT-100)."""
        known, shown = {one.id for one in self._placed}, set()
        for root in (one for one in self._placed if one.parent not in known):
            here: Placed | None = root
            while here is not None and here.id not in shown:
                shown.add(here.id)
                yield here
                here = _next(self._children.get(here.id, []), selections.get(here.id))


def _next(children: list[Placed], chosen: str | None) -> Placed | None:
    if not children:
        return None
    return next((child for child in children if child.id == chosen), None) or _active(children)


def _active(children: list[Placed]) -> Placed:
    """The child inserted last among those whose run is committed, else the child inserted last (AT-95)."""
    kept = [child for child in children if child.status == "committed"]
    return (kept or children)[-1]


def _selections(branch: Branch) -> dict[str, str]:
    """The choices of a branch; whatever is no choice is refused and never read as a default (AT-98)."""
    if branch == "active":
        return {}
    chosen = branch.get("selections") if isinstance(branch, dict) and branch.keys() == {"selections"} else None
    if not isinstance(chosen, dict) or not all(isinstance(entry, str) for pair in chosen.items() for entry in pair):
        raise CommandRejected("invalid_branch", "A branch is active, all, or a message chosen for each fork named.")
    return chosen
