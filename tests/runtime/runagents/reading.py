"""The other reading: what the judge's own fold makes of a capture of RunAgents."""

import json

from tests.conformance.test_readmodels import differences
from tests.conformance.test_readmodels_runagents import by_word
from validator.protocol.protocol import load_protocol
from validator.replay.readmodels.runagents import ActionViews, RunViews
from validator.replay.world import World


def disagreements(text):
    """Where a view in a capture differs from what the judge's own reading derives at that place."""
    world, found = World(load_protocol("runagents"), (RunViews, ActionViews)), []
    # A line ends with a line feed and nothing else; text may hold other characters that look like ends.
    for number, line in enumerate(map(json.loads, text.rstrip("\n").split("\n")), 1):
        world.apply(line, number)
        ledger = {"run_view": RunViews, "action_view": ActionViews}.get(line.get("model"))
        if ledger:
            shown = line["snapshot"]
            derived = world.ledger(ledger).build(shown["run_id" if ledger is RunViews else "action_id"])
            found += [(number, *entry) for entry in differences(by_word(derived), by_word(shown))]
    return found
