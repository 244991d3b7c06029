"""An event does not name the version it was written to, or names one of another protocol.

Why: a reader picks the schema by the version; an event without one, among others that have it, is read by guess.
Trips: events with schema_version 0.3, then one without.  Near miss: every event has it, or none has.
Fix: Write schema_version 0.3 into every event, from one place.
"""

from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import finding, rule, seen


class Versions:
    """Where a version was named first, and which types were told to lack it."""

    since = ("schema_version",)
    heeds_last = False

    def __init__(self, world: World):
        self._world = world
        self.line: int | None = None
        self._told: set[str] = set()

    def alike(self, step: Step) -> bool:
        """False while a version may still be named, in whatever session: from then on every event has to name it."""
        return self.line is not None

    def apply(self, step: Step) -> None:
        if self.line is None and step.kind == "event" and isinstance(step.line.get("schema_version"), str):
            self.line = step.number

    def first(self, kind: str) -> bool:
        """True the first time that a type of event lacks a version."""
        fresh = kind not in self._told
        self._told.add(kind)
        return fresh

    def tell(self) -> str:
        """Whether all events name a version, none does, or some."""
        if self.line is None:
            return "none"
        return "all" if self.line == self._world.began and not self._told else "some"

    def hear(self, told: list[str], first: bool) -> bool:
        """False when some events name a version and others do not: which of them lack it, the first of all decides."""
        return told[0] != "some" and len(set(told)) == 1


@rule(
    "SCH002", "version-not-named", clauses={"agent-runtime": "ENV-9"}, on="*", needs=(Versions,), since=Versions.since
)
def check(step, world, context):
    versions, version = world.ledger(Versions), step.line.get("schema_version")
    wanted = world.protocol.version
    if isinstance(version, str):
        yield seen()
        if version != wanted and not version.startswith(f"{wanted}."):
            yield finding(step, f"{wanted}, or a more exact one", "another", pointer="/schema_version", key="other")
    # A producer that never names a version is one that this clause leaves alone.
    elif versions.line is not None and versions.first(str(step.type)):
        yield finding(step, "schema_version, as on other events", "none", witness=(versions.line,), key="missing")
