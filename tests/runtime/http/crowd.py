"""Many clients of one server, on one loop, that come and go at random while turns are worked on."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import itertools
import random
import socket
from collections.abc import AsyncIterator
from typing import Any

import httpx

from tests.runtime.http.serving import PARTS, TOKEN
from tests.runtime.http.view import Message, View, messages

RESTS = (0, 1, 1, 3)
"""For how many turns a client may stay away."""


class Crowd:
    """Plays a number of turns before an audience."""

    def __init__(self, address: str, clients: int, channels: int, seed: int):
        self.address, self.chance = address, random.Random(seed)
        self.views = [View(channel=f"c{number}" if number < channels else None) for number in range(clients)]
        self._turns, self._next = 0, asyncio.Condition()

    async def play(self, turns: int) -> None:
        headers = {"authorization": f"Bearer {TOKEN}"}
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(base_url=self.address, headers=headers, timeout=60, limits=limits) as client:
            watching = [asyncio.create_task(self._watch(client, view)) for view in self.views]
            for number in range(turns):
                await self._turn(client, f"act_{number}")
            for task in watching:  # in the middle of whatever they do
                task.cancel()
            await asyncio.gather(*watching, return_exceptions=True)
            # The coming and going of channels is told: they take their last look before the others do.
            for view in sorted(self.views, key=lambda view: view.channel is None):
                await self._connection(client, view, follow=False)

    async def _turn(self, client: httpx.AsyncClient, name: str) -> None:
        """Submits a turn and waits for its end, as somebody who watches."""
        async with client.stream("GET", "/sessions/s/events") as answer:
            request = {"session_id": "s", "thread_id": "t", "turn_id": name, "input_parts": PARTS}
            assert (await client.post("/commands/submit_turn", json=request)).json()["outcome"] == "accepted"
            async for message in told(answer):
                if message.data.get("type") == "turn.completed" and message.data["turn_id"] == name:
                    break
        async with self._next:
            self._turns += 1
            self._next.notify_all()

    async def _watch(self, client: httpx.AsyncClient, view: View) -> None:
        while True:
            await self._connection(client, view, patience=self.chance.randrange(1, 50))
            rested = self._turns + self.chance.choice(RESTS)
            async with self._next:
                await self._next.wait_for(lambda until=rested: self._turns >= until)

    async def _connection(self, client: httpx.AsyncClient, view: View, patience: int = -1, follow: bool = True) -> None:
        """Reads so many messages and hangs up, or reads to the end; a channel may confirm what it has."""
        async with client.stream("GET", view.path(follow), headers=view.connect()) as answer:
            assert answer.status_code == 200, await answer.aread()
            async for message in told(answer):
                view.take(message)
                patience -= 1
                if patience == 0:
                    break
            if view.channel and self.chance.random() < 0.7:
                await self._acknowledge(client, view)

    async def _acknowledge(self, client: httpx.AsyncClient, view: View) -> None:
        answer = await client.post("/commands/ack_events", json={"channel_id": view.channel, "sequence": view.last})
        view.acknowledged = answer.json()["last_acknowledged_sequence"]


async def told(answer: httpx.Response) -> AsyncIterator[Message]:
    lines: list[str] = []
    async for line in answer.aiter_lines():
        lines.append(line)
        if not line:
            for message in messages(lines):
                yield message
            lines.clear()


def hear(connection: socket.socket, view: View, until: int) -> None:
    """Reads, late but at last, what a peer never read."""
    with contextlib.closing(http.client.HTTPResponse(connection)) as answer:
        answer.begin()
        for message in messages(line.decode().rstrip("\n") for line in answer):
            view.take(message)
            if view.last >= until:
                return


def holes(view: View) -> list[range]:
    """Stretches of the log that a view lacks."""
    pairs = itertools.pairwise(sorted({0, *(event["sequence"] for event in view.events)}))
    return [range(before + 1, after) for before, after in pairs if after != before + 1]


def marked(view: View, hole: range) -> bool:
    """True when an event of the view says that these are missing."""
    repairs = [event["payload"] for event in view.events if event["type"] == "snapshot.repaired"]
    return any(one.get("gap_from", 1e9) <= hole[0] and hole[-1] <= one.get("gap_to", 0) for one in repairs)


def same(view: View, log: list[dict[str, Any]]) -> bool:
    """True when everything in a view is in the log, word for word."""
    return all(log[event["sequence"] - 1] == event for event in view.events)
