"""Streams of each protocol in which there is very much of one thing, by what there is much of."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.bench.crowds import agent_threads, agenthub, core, runagents
from tests.bench.crowds.written import Event

CROWDS: dict[str, dict[str, Callable[[int], Iterator[Event]]]] = {
    "agent-runtime/0.3": core.CROWDS,
    "agent-threads/1": agent_threads.CROWDS,
    "agenthub/1": agenthub.CROWDS,
    "runagents/1": runagents.CROWDS,
}
"""By protocol and by what there is much of."""
