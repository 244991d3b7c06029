"""What one client sees of a session, joined over all its connections, and written down as a capture of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

HEADER = {"record": "header", "capture": "1", "protocol": "agent-runtime", "version": "0.3", "completeness": "prefix"}


@dataclass(slots=True)
class Message:
    """One message of a stream."""

    data: Any
    name: str = "message"
    id: str | None = None


def messages(lines: Iterable[str]) -> Iterator[Message]:
    """Reads a stream as the standard says; comments and retry times are no messages."""
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
        elif "data" in fields:
            yield Message(json.loads(fields["data"]), fields.get("event", "message"), fields.get("id"))
            fields = {}
        else:
            fields = {}


@dataclass(slots=True)
class View:
    """Takes in messages; knows what it has, and asks for the rest."""

    session: str = "s"
    channel: str | None = None
    lines: list[dict[str, Any]] = field(default_factory=lambda: [HEADER])
    events: list[dict[str, Any]] = field(default_factory=list)
    ended: str | None = None
    """Why the last stream ended; None when it was cut off."""
    connections: int = 0
    acknowledged: int = 0
    """The last sequence that it confirmed as a channel, as far as it was told."""
    unmarked: int | None = None
    """The last sequence before a hole of which it was not yet told; who hangs up there asks from there again."""

    @property
    def last(self) -> int:
        """The last sequence it has."""
        return self.events[-1]["sequence"] if self.events else 0

    def path(self, follow: bool = True) -> str:
        channel = f"&channel_id={self.channel}" if self.channel else ""
        return f"/sessions/{self.session}/events?after=0&follow={str(follow).lower()}{channel}"

    def connect(self) -> dict[str, str]:
        """The headers to connect with; a return is noted."""
        self.connections, self.ended = self.connections + 1, None
        if self.connections == 1:
            return {}
        where = {"channel_id": self.channel} if self.channel else {"stream": self.session}
        confirmed = self.acknowledged if self.channel else self.last
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.lines.append({"record": "reconnect", **where, "last_acknowledged_sequence": confirmed, "timestamp": now})
        return {"last-event-id": str(self.last if self.unmarked is None else self.unmarked)}

    def take(self, message: Message) -> None:
        if message.name == "snapshot":
            document = message.data["snapshot"]
            claimed = {"stream": self.session, "sequence": document["as_of_sequence"]}
            self.lines.append({"record": "snapshot", "model": message.data["model"], **claimed, "snapshot": document})
        elif message.name == "end":
            self.ended = message.data["reason"]
        else:
            assert message.id == str(message.data["sequence"])
            if message.data["type"] == "snapshot.repaired":
                self.unmarked = None
            elif self.unmarked is None and message.data["sequence"] > self.last + 1:
                self.unmarked = self.last
            self.lines.append(message.data)
            self.events.append(message.data)
            if self.channel and message.data.get("channel_id") == self.channel:
                told = message.data["payload"].get("last_acknowledged_sequence", 0)
                self.acknowledged = max(self.acknowledged, told)

    def read(self, client: Any, *, follow: bool = False) -> None:
        """One whole connection."""
        with client.stream("GET", self.path(follow), headers=self.connect()) as answer:
            assert answer.status_code == 200
            for message in messages(answer.iter_lines()):
                self.take(message)

    def text(self) -> str:
        return "".join(json.dumps(line) + "\n" for line in self.lines)
