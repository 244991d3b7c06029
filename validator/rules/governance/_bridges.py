"""Questions that crossed a channel, and what came back."""

from __future__ import annotations

from validator.records import dataclass
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules.governance._questions import GRANTS
from validator.rules.governance._said import payload, said


@dataclass(slots=True)
class Bridge:
    """One crossing."""

    key: str
    channel: str | None
    line: int
    target: str | None
    side: str | None
    scoped: bool
    answer: str | None = None
    answered: int | None = None
    lost: int | None = None
    """The line at which its channel went away while the question was under way."""

    @property
    def granted(self) -> bool:
        return self.answer in GRANTS


class Bridges:
    """Crossings by channel and bridge id, and by what they are about."""

    hears = ("channel.*",)
    forgets = ("all", "about")

    def __init__(self, world: World):
        self.all: dict[tuple[str | None, str], Bridge] = {}
        self.about: dict[str, list[Bridge]] = {}

    def apply(self, step: Step) -> None:
        if step.kind != "event" or not (step.type or "").startswith("channel."):
            return
        channel = step.scope.get("channel_id")
        if step.type == "channel.disconnected":
            for bridge in self.all.values():
                if bridge.channel == channel and bridge.answered is None and bridge.lost is None:
                    bridge.lost = step.number
        key = payload(step.line).get("bridge_id")
        if not isinstance(key, str):
            return
        bridge = self.all.get((channel, key))
        if step.type == "channel.permission_forwarded" and bridge is None:
            target = said(step.line, "target_id")
            side, scoped = said(step.line, "deciding_side"), said(step.line, "channel_scoped") is True
            self.all[channel, key] = made = Bridge(key, channel, step.number, target, side, scoped)
            if target:
                self.about.setdefault(target, []).append(made)
        elif step.type == "channel.permission_returned" and bridge and bridge.answered is None:
            bridge.answer, bridge.answered = said(step.line, "decision"), step.number
