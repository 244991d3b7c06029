"""Which subjects a document has introduced, or the command that made them, where no event did."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from validator.protocol.protocol import Protocol
from validator.replay.faded import Lines
from validator.replay.step import Step
from validator.replay.world import World

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Introduced:
    """Ids of subjects that a snapshot or an answer shows.

    A document, served by itself or within an answer, introduces whatever it names. Of the ids beside it an answer
    introduces those alone that its command creates: a turn's answer names the thread too, and shows nothing of it.
    """

    hears = ("record:snapshot", "record:command", "record:result")
    forgets = ("ids",)

    def __init__(self, world: World):
        self._protocol = world.protocol
        self._asked: dict[str, set[str]] = {}
        """Keys that the request of a command without an answer names."""
        self.ids = Lines()

    def apply(self, step: Step) -> None:
        line = step.line
        if step.kind == "snapshot":
            self._show(line.get("snapshot"))
        elif step.kind == "command":
            self._asked[str(line.get("command_id"))] = set(_body(line, "request"))
        elif step.kind == "result":
            self._answer(line)

    def _answer(self, line: dict[str, Any]) -> None:
        result = _body(line, "result")
        asked = self._asked.pop(str(line.get("command_id")), set())
        creates = _created(self._protocol, str(line.get("command"))) - asked
        shown = {key: value for key, value in result.items() if key in creates or not isinstance(value, str)}
        self._show({key: value for key, value in shown.items() if key != "error"})

    def _show(self, document: Any) -> None:
        for name in _ids(document):
            self.ids.add(name)


@functools.lru_cache(maxsize=1024)
def _created(protocol: Protocol, name: str) -> frozenset[str]:
    """The keys of subjects that events of a command introduce; none for a command that nobody knows."""
    machines = protocol.machines.values()
    writes = protocol.commands[name].writes if name in protocol.commands else ()
    return frozenset(
        path.rpartition(".")[2]
        for machine in machines
        for row in machine.rows
        if "none" in row.sources and row.driver.kind == "event" and row.driver.name in writes
        for keys in machine.subject
        for path in keys
    )


def _body(line: dict[str, Any], name: str) -> dict[str, Any]:
    value = line.get(name)
    return value if isinstance(value, dict) else {}


def _ids(value: Any) -> Iterator[str]:
    """Every id in a document."""
    if isinstance(value, dict):
        for key, entry in value.items():
            if isinstance(entry, str) and key.endswith(("_id", "Id")):
                yield entry
            else:
                yield from _ids(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _ids(entry)
