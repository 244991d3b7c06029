"""An artifact was updated to the version it already had.

Why: a reader who compares versions sees no change and keeps showing the old one.
Trips: artifact.changed created v1, then updated v1.  Near miss: the update names v2.
Fix: Name the version that the artifact service gave to the new state.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import told


class Versions:
    """The version each artifact was last seen in, and the one before the step at hand."""

    hears = ("artifact.changed",)
    forgets = ("_last",)

    def __init__(self, world):
        self._last = {}
        self.before = None

    def apply(self, step):
        artifact = step.scope.get("artifact_id")
        self.before = None
        if step.type == "artifact.changed" and artifact is not None:
            self.before = self._last.get(artifact)
            version = told(step, "version_id")
            if isinstance(version, str):
                self._last[artifact] = (version, step.number)


@rule("REF011", "same-version-again", clauses={"agent-runtime": "ART-4"}, on="artifact.changed", needs=(Versions,))
def check(step, world, context):
    before, version = world.ledger(Versions).before, told(step, "version_id")
    if told(step, "change") != "updated" or before is None or not isinstance(version, str):
        return
    yield seen()
    if version == before[0]:
        yield finding(
            step,
            "another version than the one before",
            "the same version",
            pointer="/payload/version_id",
            entity=("artifact", step.scope["artifact_id"]),
            witness=(before[1],),
        )
