"""Stored outputs by reference: their size and digest as told before the step at hand."""

from __future__ import annotations

from validator.records import dataclass
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules.terminal._work import number, told


@dataclass(slots=True)
class Stored:
    """One stored output."""

    line: int
    size: int | float | None = None
    sha256: str | None = None


LONGEST = 16_384
"""Bytes of a line of streamed text that goes the short way (`validator/echo.py`), at most."""


class Outputs:
    """What output events told about each reference; `before` is the step's own reference as it was."""

    hears = ("output.*", "process.output")
    overhears = ("output.*",)
    forgets = ("_stored",)
    heeds_last = False

    def __init__(self, world: World):
        self._lens = world.protocol.lens
        self._stored: dict[str, Stored] = {}
        self.before: Stored | None = None
        self.budget: tuple[int | float, int] | None = None

    def ref(self, step: Step) -> str | None:
        value = self._lens.get(step.line, "output_ref")
        return value if isinstance(value, str) else None

    def alike(self, step: Step) -> bool:
        """False when a budget may bound the text of such an event."""
        return self.budget is None or self.budget[0] >= LONGEST

    def overhear(self, step: Step) -> None:
        """A budget bounds what comes after it in every session."""
        budget = number(told(step, "budget_bytes"))
        if budget:
            self.budget = (budget, step.number)

    def apply(self, step: Step) -> None:
        self.before = None
        if not (step.type or "").startswith("output."):
            return
        self.overhear(step)
        ref = self.ref(step)
        if ref is None:
            return
        old = self._stored.get(ref)
        self.before = old
        size, digest = number(told(step, "size_bytes")), told(step, "sha256")
        size = size if size is not None else (old.size if old else None)
        digest = digest if isinstance(digest, str) else (old.sha256 if old else None)
        if step.type in ("output.truncated", "output.redacted") and told(step, "sha256") is None:
            digest = None
        self._stored[ref] = Stored(step.number, size, digest)
