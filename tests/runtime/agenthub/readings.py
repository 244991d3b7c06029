"""Two readings of an AgentHub capture: what its snapshots say, and what the judge's own fold derives at that place."""

from __future__ import annotations

import json
from typing import Any

from tests.conformance.test_readmodels import differences
from tests.conformance.test_readmodels_agenthub import PROTOCOL, worded
from validator.replay.readmodels.agenthub import RunViews
from validator.replay.world import World


def disagreements(text: str) -> list[Any]:
    """Where a run view in a capture differs from the judge's own."""
    world, found = World(PROTOCOL), []
    views = RunViews(world)
    for number, line in enumerate(text.splitlines(), 1):
        document = json.loads(line)
        views.apply(world.apply(document, number))
        if document.get("record") == "snapshot":
            shown = document["snapshot"]
            derived = worded(views.build(shown["runId"]))
            found += [(number, *entry) for entry in differences(derived, worded(shown))]
    return found
