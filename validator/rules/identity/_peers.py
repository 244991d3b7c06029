"""The tasks of peers: what each is mapped to, and what was last heard of it."""

from __future__ import annotations

from validator.protocol.honest import known
from validator.records import dataclass, field
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules.terminal._work import told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(slots=True)
class PeerTask:
    """One mapping, with the newest record of it."""

    key: str
    channel: str | None
    record: dict[str, Any] = field(default_factory=dict)
    line: int = 0
    settled: dict[str, tuple[str, int]] = field(default_factory=dict)
    """The first value of each field and the line that told it."""

    @property
    def task(self) -> str | None:
        """The local task that wraps it."""
        return self.settled.get("task_id", (None, 0))[0]

    def word(self, *names: str) -> str | None:
        """The first of some fields of the newest record that says something."""
        values = (known(self.record.get(name)) for name in names)
        return next((value for value in values if isinstance(value, str)), None)


class PeerTasks:
    """Every peer task by its id, and the one that the line at hand speaks about."""

    hears = ("channel.peer_task.*",)
    forgets = ("all",)

    def __init__(self, world: World):
        self.all: dict[str, PeerTask] = {}
        self.current: PeerTask | None = None

    def apply(self, step: Step) -> None:
        self.current = None
        if not (step.type or "").startswith("channel.peer_task."):
            return
        record = told(step, "peer_task")
        key = known(record.get("peer_task_id")) if isinstance(record, dict) else None
        if not isinstance(key, str):
            return
        peer = self.all.setdefault(key, PeerTask(key, step.scope.get("channel_id")))
        peer.record, peer.line = record, step.number
        for name, value in record.items():
            if isinstance(value, str):
                peer.settled.setdefault(name, (value, step.number))
        self.current = peer

    def wrapped(self, task: str) -> list[PeerTask]:
        """The peer tasks behind a local task."""
        return [peer for peer in self.all.values() if peer.task == task]
