"""The OpenAPI 3.1 description of what is served, made from the schemas that commands and read models are held to."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from reference_runtime import contract
from reference_runtime.projections import PER_THREAD, THREAD_MODELS
from reference_runtime.transports.http.components import Components

_ERROR = "common/1/refs.schema.json#/$defs/error"
_ID = {"type": "string", "minLength": 1, "maxLength": 512}
_STEP = {**_ID, "pattern": r"^[^\u0000-\u001f\u007f\\/]+$"}
"""An id as one step of a path; others are reached by the commands that take them in their body."""
_REFUSALS = {
    "400": "It does not fit: the body, the query, a header or the path.",
    "401": "The token is missing or wrong.",
    "403": "The peer is not on this machine.",
    "404": "There is no such subject, command or read model.",
    "405": "The path does not answer to this method.",
    "408": "The body did not arrive in time.",
    "409": "The runtime rejects it as things stand.",
    "413": "The body is too large.",
    "415": "The body is not said to be JSON.",
    "503": "It cannot be done now; try again.",
}
_READS = ("400", "401", "403", "404", "405", "408", "413", "503")
ALWAYS = ("400", "401", "403", "405", "408", "413")
"""Refusals of the guard and the router, which every operation can answer with."""


def document(paths: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    """A whole document around the paths of a protocol."""
    scheme = {"bearer": {"type": "http", "scheme": "bearer", "description": "The token of this server."}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "reference-runtime", "version": version("runtime-validate")},
        "security": [{"bearer": []}],
        "paths": {**paths, "/openapi.json": {"get": _description()}},
        "components": {**components, "securitySchemes": scheme},
    }


def _description() -> dict[str, Any]:
    own = {"description": "This document.", "content": {"application/json": {"schema": {"type": "object"}}}}
    return {"operationId": "openapi", "summary": "This description.", "responses": {"200": own, **refusals(*ALWAYS)}}


def refusals(*statuses: str) -> dict[str, Any]:
    """References to the shared answers that turn a request down."""
    return {status: {"$ref": f"#/components/responses/{status}"} for status in statuses}


def core() -> tuple[dict[str, Any], dict[str, Any]]:
    """Paths and components of the core protocol."""
    protocol = contract.protocol()
    made = Components(protocol.store)
    paths = {f"/commands/{name}": {"post": _command(made, name)} for name in protocol.commands}
    for model, reference in protocol.snapshots.items():
        paths[f"/sessions/{{session_id}}/snapshots/{model}"] = {"get": _snapshot(made.ref(reference), model)}
    paths["/sessions/{session_id}/events"] = {"get": _events(made)}
    paths["/content"] = {"get": _content()}
    return paths, shared(made)


def shared(made: Components) -> dict[str, Any]:
    """The components that the answers above refer to, with every schema that was collected."""
    fields = {"outcome": {"enum": ["rejected", "unavailable"]}, "error": made.ref(_ERROR)}
    schema = {"type": "object", "required": ["outcome", "error"], "properties": fields}
    made.schemas["refusal"] = schema
    body = {"application/json": {"schema": {"$ref": "#/components/schemas/refusal"}}}
    return {
        "schemas": made.schemas,
        "responses": {status: {"description": why, "content": body} for status, why in _REFUSALS.items()},
    }


def _command(made: Components, name: str) -> dict[str, Any]:
    command = contract.protocol().commands[name]
    result = made.ref(command.result)

    def answer(why: str, *outcomes: str) -> dict[str, Any]:
        schema = {"allOf": [result, {"properties": {"outcome": {"enum": list(outcomes)}}}]}
        return {"description": why, "content": {"application/json": {"schema": schema}}}

    return {
        "operationId": name,
        "summary": contract.protocol().store.subschema(command.request)["description"],
        "description": f"Clause {command.clause}. It {'changes state' if command.mutates else 'only reads'}.",
        "requestBody": {"required": True, "content": {"application/json": {"schema": made.ref(command.request)}}},
        "responses": {
            "200": answer("It is done, or was done already.", "accepted", "no_op"),
            "202": answer("It waits for its turn.", "queued"),
            **refusals(*_REFUSALS),
        },
    }


def _snapshot(schema: dict[str, str], model: str) -> dict[str, Any]:
    thread = [_parameter("thread_id", _ID, required=model in THREAD_MODELS)] if model in PER_THREAD else []
    return {
        "operationId": model,
        "summary": f"The read model {model}, as it is now.",
        "parameters": [_session(), *thread],
        "responses": {
            "200": {"description": "The read model.", "content": {"application/json": {"schema": schema}}},
            **refusals(*_READS),
        },
    }


def _events(made: Components) -> dict[str, Any]:
    number = {"type": "integer", "minimum": 0, "maximum": 10**18 - 1}
    seen = {"type": "string", "pattern": "^[0-9]{1,18}$"}
    stream = {
        "description": "Snapshots, then events, then why the stream ended.",
        "content": {"text/event-stream": {"schema": _messages(made)}},
    }
    return {
        "operationId": "events",
        "summary": "Read models first, then every event behind a cursor, for as long as the peer listens.",
        "description": "A message is an event with its sequence as id, or a `snapshot`, or the `end`.",
        "parameters": [
            _session(),
            _parameter("after", number, "Last sequence the peer has; the present one when left out."),
            _parameter("channel_id", _ID, "Makes the peer a channel, with acknowledgements by ack_events."),
            _parameter("follow", {"type": "boolean"}, "Whether to wait for events that are still to come."),
            {"name": "Last-Event-ID", "in": "header", "schema": seen, "description": "As `after`, and wins over it."},
        ],
        "responses": {"200": stream, **refusals(*_READS, "409")},
    }


def _messages(made: Components) -> dict[str, Any]:
    """One message of a stream, by its name."""
    snapshot = {"type": "object", "properties": {"model": {"type": "string"}, "snapshot": {"type": "object"}}}
    end = {"type": "object", "properties": {"reason": {"type": "string"}, "last_sequence": {"type": "integer"}}}
    event = made.ref(contract.protocol().envelope)

    def data(schema: dict[str, Any]) -> dict[str, Any]:
        return {"type": "string", "contentMediaType": "application/json", "contentSchema": schema}

    numbered = {"id": {"type": "string", "pattern": "^[0-9]+$"}, "data": data(event), "event": {"const": "message"}}
    named = [
        {"properties": {"event": {"const": name}, "data": data(schema)}, "required": ["event", "data"]}
        for name, schema in (("snapshot", snapshot), ("end", end))
    ]
    return {"type": "object", "oneOf": [{"properties": numbered, "required": ["id", "data"]}, *named]}


def _content() -> dict[str, Any]:
    kept = {"type": "object", "required": ["ref", "content"], "properties": {"ref": {"type": "string"}, "content": {}}}
    reference = {"type": "string", "minLength": 1, "maxLength": 2048}
    return {
        "operationId": "content",
        "summary": "What is kept behind a reference.",
        "parameters": [_parameter("ref", reference, "A reference from an event, an answer or a read model.", True)],
        "responses": {
            "200": {"description": "The content.", "content": {"application/json": {"schema": kept}}},
            **refusals(*_READS),
        },
    }


def _session() -> dict[str, Any]:
    return {"name": "session_id", "in": "path", "required": True, "schema": _STEP, "description": "The session."}


def _parameter(name: str, schema: dict[str, Any], description: str = "", required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": required, "schema": schema, "description": description}
