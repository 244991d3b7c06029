"""One self-contained schema per protocol, for tools that know nothing of this project.

The bundle is a compound schema document: every file is embedded under `$defs` with its own `$id`, so the relative
references inside keep working without any file. Its root picks the one schema of a line by `if` and `then` on the
event's type, so that an error in another tool also speaks about this event and not about a hundred alternatives.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin

from validator.errors import UsageError
from validator.protocol.casing import camel, camel_schema
from validator.protocol.protocol import Protocol
from validator.protocol.schemas import BASE, DIALECT, references

CAPTURE = "capture/1/records.schema.json"


def bundle(protocol: Protocol, casing: str = "canonical") -> dict[str, Any]:
    """The compound schema for every line of a capture in this protocol."""
    if casing not in {"canonical", *protocol.bindings}:
        known = ", ".join(["canonical", *protocol.bindings])
        raise UsageError(f"{protocol.id} has no casing {casing!r}", hint=f"known: {known}")
    rename = casing != "canonical"
    roots = [protocol.envelope, *protocol.references().values(), CAPTURE]
    embedded = {uri: protocol.store.documents[uri] for uri in _closure(protocol, roots)}
    folder = BASE + f"{protocol.id}/"
    return {
        "$schema": DIALECT,
        "$id": f"{folder}bundle{'.' + casing if rename else ''}.schema.json",
        "title": f"{protocol.title} {protocol.version}: every line of a capture",
        "description": protocol.summary,
        "if": {"type": "object", "required": ["record"]},
        "then": _records(protocol),
        "else": _events(protocol, rename),
        "$defs": {
            uri.removeprefix(BASE): camel_schema(document) if rename and _renamed(uri, folder) else document
            for uri, document in embedded.items()
        },
    }


def _renamed(uri: str, folder: str) -> bool:
    # The lines of a capture are ours and have one casing; what they carry is the protocol's.
    return uri.startswith((folder, BASE + "common/"))


def _closure(protocol: Protocol, roots: list[str]) -> list[str]:
    """Every file that the roots need, sorted."""
    waiting = [urljoin(BASE, root).split("#")[0] for root in roots]
    seen: set[str] = set()
    while waiting:
        uri = waiting.pop()
        if uri in seen:
            continue
        seen.add(uri)
        waiting += [urljoin(uri, reference).split("#")[0] for _, reference in references(protocol.store.documents[uri])]
    return sorted(seen)


def _pick(place: list[str], values: list[str], reference: str) -> dict[str, Any]:
    """`then` this schema, if the value at a place is one of these words."""
    condition: dict[str, Any] = {"enum": values} if len(values) > 1 else {"const": values[0]}
    for step in reversed(place):
        condition = {"type": "object", "properties": {step: condition}, "required": [step]}
    return {"if": condition, "then": {"$ref": BASE + reference}}


def _events(protocol: Protocol, rename: bool) -> dict[str, Any]:
    place = protocol.data["fields"]["type"].split(".")
    place = [camel(step) for step in place] if rename else place
    words: dict[str, list[str]] = {event: [event] for event in protocol.events}
    for alias, event in protocol.aliases.items():
        words[event].append(alias)
    choices = [_pick(place, words[event], reference) for event, reference in protocol.events.items()]
    return {"$ref": BASE + protocol.envelope, "allOf": choices}


def _records(protocol: Protocol) -> dict[str, Any]:
    kinds = protocol.store.documents[BASE + CAPTURE]["$defs"]
    choices = [_pick(["record"], [kind], f"{CAPTURE}#/$defs/{kind}") for kind in kinds]
    for name, command in protocol.commands.items():
        for record, part, reference in (("command", "request", command.request), ("result", "result", command.result)):
            choices.append(_carried({"record": record, "command": name}, part, reference))
    for name, reference in {**protocol.records, **protocol.snapshots}.items():
        choices.append(_carried({"record": "snapshot", "model": name}, "snapshot", reference))
    if "run" in protocol.records:
        choices.append(_pick(["record"], ["run"], protocol.records["run"]))
    return {"type": "object", "properties": {"record": {"enum": list(kinds)}}, "allOf": choices}


def _carried(words: dict[str, str], part: str, reference: str) -> dict[str, Any]:
    """A record line with these words carries a document of the protocol in one of its parts."""
    properties = {key: {"const": word} for key, word in words.items()}
    condition = {"type": "object", "properties": properties, "required": list(words)}
    return {"if": condition, "then": {"type": "object", "properties": {part: {"$ref": BASE + reference}}}}
