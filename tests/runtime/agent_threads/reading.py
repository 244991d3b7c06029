"""The judge's own reading of agent-threads, beside what a ledger served."""

from __future__ import annotations

import json
from typing import Any

from tests.conformance.test_readmodels import differences
from validator.protocol.honest import is_honest
from validator.protocol.protocol import load_protocol
from validator.replay.readmodels.agent_threads import Threads
from validator.replay.world import World

MODELS = ("run_view", "transcript", "thread_tree")


def comparisons(text: str) -> tuple[int, list[Any]]:
    """How many served models were compared with what the judge derives at that place, and where they differ."""
    world, compared, found = World(load_protocol("agent-threads"), [Threads]), 0, []
    for number, line in enumerate(map(json.loads, text.splitlines()), 1):
        world.apply(line, number)
        if line.get("record") == "snapshot" and line["model"] in MODELS:
            served = line["snapshot"]
            derived = _derived(world.ledger(Threads), line["model"], served)
            compared += not any(map(is_honest, derived.values()))
            found += [(number, line["model"], *entry) for entry in differences(_told(derived, served), served)]
    return compared, found


def disagreements(text: str) -> list[Any]:
    return comparisons(text)[1]


def _derived(threads: Threads, model: str, served: dict[str, Any]) -> dict[str, Any]:
    if model == "run_view":
        return threads.run_view(served["runId"])
    if model == "thread_tree":
        return threads.tree(served["threadId"])
    return threads.transcript(served["threadId"], served["branch"])


def _told(derived: Any, served: Any) -> Any:
    """What the judge derives, with the ledger's word wherever the judge honestly cannot tell."""
    if is_honest(derived):
        return served
    if isinstance(derived, dict) and isinstance(served, dict):
        return {name: _told(value, served.get(name)) for name, value in derived.items()}
    if isinstance(derived, list) and isinstance(served, list) and len(derived) == len(served):
        return [_told(*pair) for pair in zip(derived, served, strict=True)]
    return derived
