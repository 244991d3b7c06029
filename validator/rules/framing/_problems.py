"""What the framing rules share: each looks for one named problem in how a line is written."""

from __future__ import annotations

from validator.replay.step import Step
from validator.rules import Finding, Seen, finding, seen
from validator.rules._firsts import Firsts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROTOCOLS = ("agent-runtime", "agent-threads", "agenthub", "runagents")
_LOOKED = (seen(),)


def cites(clause: str, core: str = "") -> dict[str, tuple[str, ...]]:
    """The clause of the capture chapter for every protocol, and the core's own beside it."""
    own = {"agent-runtime": (clause, core)} if core else {}
    return dict.fromkeys(PROTOCOLS, (clause,)) | own


class Told(Firsts):
    """What was reported once and is not reported again in the same capture."""

    hears = ()

    def __init__(self, _world: Any):
        super().__init__()

    def apply(self, step: Step) -> None:
        """Learns nothing from steps: only what was reported counts."""


def clean(step: Step, world: Any, context: Any) -> bool | None:
    """The key of every line that has no problem."""
    return None if context.line.problems else True


def look(step: Step, context: Any, name: str, expected: str, actual: str) -> tuple[Finding | Seen]:
    """One finding when the line has the problem, one look when it has not."""
    if name in [problem.name for problem in context.line.problems]:
        return (finding(step, expected, actual, key=name),)
    return _LOOKED
