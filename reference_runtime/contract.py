"""The contract as the runtime uses it: a protocol, its schemas, and the fields its records declare."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from reference_runtime.errors import ContractBroken
from validator.protocol.protocol import Protocol, load_protocol


class Contract:
    """One protocol; read when it is first asked."""

    def __init__(self, protocol: str):
        self.id = protocol
        self.name, _, self.version = protocol.partition("/")
        self._declared: dict[str, tuple[str, ...]] = {}
        self._told = functools.lru_cache(maxsize=4096)(self._told_of)

    @functools.cached_property
    def protocol(self) -> Protocol:
        return load_protocol(self.id)

    def declared(self, record: str) -> tuple[str, ...]:
        """The fields that a record of the core declares, such as `task` or `turn`."""
        if record not in self._declared:
            place = f"{self.id}/definitions/records.schema.json#/$defs/{record}"
            self._declared[record] = tuple(self.protocol.store.subschema(place)["properties"])
        return self._declared[record]

    def copied(self, record: str, source: dict[str, Any]) -> dict[str, Any]:
        """The declared fields that a source tells, and no others (RM-58)."""
        told = self._told(record, tuple(source))
        return {name: value for name in told if (value := source[name]) is not None}

    def _told_of(self, record: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """The declared fields among some names, in the order of the contract; sources are alike, so asked once each."""
        return tuple(name for name in self.declared(record) if name in names)

    @functools.cached_property
    def _accepts(self) -> Callable[[str, Any], bool]:
        return self.protocol.store.accepts_alike

    @functools.cached_property
    def _shapes(self) -> dict[str, tuple[str, str]]:
        """The schemas of every command's request and result."""
        return {name: (command.request, command.result) for name, command in self.protocol.commands.items()}

    def request_faults(self, command: str, request: Any) -> list[str]:
        """Why a request does not fit its command, one line each; values are never repeated."""
        reference = self._shapes[command][0]
        return [] if self.protocol.store.accepts(reference, request) else self._faults(reference, request)

    def check_event(self, event: dict[str, Any]) -> None:
        """Refuses an event of ours that does not fit its schema."""
        word = self.protocol.type_of(event)
        reference = self.protocol.schema_for(word)
        if not self._accepts(reference, event):
            self._refuse(reference, event, word)

    def check_result(self, command: str, result: dict[str, Any]) -> None:
        """Refuses an answer of ours that does not fit its schema."""
        reference = self._shapes[command][1]
        if not self._accepts(reference, result):
            self._refuse(reference, result, f"the answer to {command}")

    def check_snapshot(self, model: str, document: dict[str, Any]) -> None:
        """Refuses a read model of ours that does not fit its schema."""
        self._check(self.protocol.snapshots[model], document, model)

    def check_record(self, name: str, record: dict[str, Any]) -> None:
        """Refuses a stored record of ours that does not fit its schema."""
        self._check(self.protocol.records[name], record, name)

    def check_line(self, line: dict[str, Any]) -> None:
        """Refuses a line of a log: an event, a record line, or a snapshot line that holds a record."""
        kind = line.get("record")
        if kind is None:
            self.check_event(line)
        elif kind == "snapshot":
            self.check_record(line["model"], line["snapshot"])
        else:
            self.check_record(kind, line)

    def _check(self, reference: str, document: Any, what: str | None) -> None:
        if not self.protocol.store.accepts(reference, document):
            self._refuse(reference, document, what)

    def _refuse(self, reference: str, document: Any, what: str | None) -> None:
        if faults := self._faults(reference, document):
            raise ContractBroken(f"{what}: " + "; ".join(faults))

    def _faults(self, reference: str, document: Any) -> list[str]:
        errors = self.protocol.store.errors(reference, document)
        return [f"{error.pointer or '/'} {error.message}" for error in errors]


CORE = Contract("agent-runtime/0.3")
copied = CORE.copied


def protocol() -> Protocol:
    """The protocol of the core."""
    return CORE.protocol
