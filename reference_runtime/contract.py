"""The contract as the runtime uses it: the protocol, its schemas, and the fields its records declare."""

from __future__ import annotations

import functools
from typing import Any

from reference_runtime.errors import ContractBroken
from validator.protocol.protocol import Protocol, load_protocol

NAME, VERSION = "agent-runtime", "0.3"
RECORDS = f"{NAME}/{VERSION}/definitions/records.schema.json"


@functools.cache
def protocol() -> Protocol:
    """The protocol this runtime speaks; read once."""
    return load_protocol(f"{NAME}/{VERSION}")


@functools.cache
def declared(record: str) -> tuple[str, ...]:
    """The fields that a record of the contract declares, such as `task` or `turn`."""
    return tuple(protocol().store.subschema(f"{RECORDS}#/$defs/{record}")["properties"])


def copied(record: str, source: dict[str, Any]) -> dict[str, Any]:
    """The declared fields that a source tells, and no others (RM-58)."""
    return {name: source[name] for name in declared(record) if source.get(name) is not None}


def request_faults(command: str, request: Any) -> list[str]:
    """Why a request does not fit its command, one line each; values are never repeated."""
    errors = protocol().store.errors(protocol().commands[command].request, request)
    return [f"{error.pointer or '/'} {error.message}" for error in errors]


def check_event(event: dict[str, Any]) -> None:
    """Refuses an event of ours that does not fit its schema."""
    _check(protocol().schema_for(event["type"]), event, event["type"])


def check_result(command: str, result: dict[str, Any]) -> None:
    """Refuses an answer of ours that does not fit its schema."""
    _check(protocol().commands[command].result, result, f"the answer to {command}")


def check_snapshot(model: str, document: dict[str, Any]) -> None:
    """Refuses a read model of ours that does not fit its schema."""
    _check(protocol().snapshots[model], document, model)


def _check(reference: str, document: dict[str, Any], what: str) -> None:
    if protocol().store.validator(reference).is_valid(document):
        return
    errors = protocol().store.errors(reference, document)
    raise ContractBroken(f"{what}: " + "; ".join(f"{error.pointer or '/'} {error.message}" for error in errors))
