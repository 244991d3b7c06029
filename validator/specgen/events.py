"""Blocks about events: families, payloads and what each type drives."""

from __future__ import annotations

from validator.protocol.machine import Driver
from validator.protocol.protocol import Protocol
from validator.protocol.view import view
from validator.specgen.fields import field_table
from validator.specgen.markdown import code, table


def family_block(protocol: Protocol, family: str) -> str:
    """A family's events with what they drive, then the payload of each."""
    data = protocol.families[family]
    carries = data["carries"]
    parts = [f"Carries {code(carries['must'])}." if carries["must"] else "No identity is demanded of every event."]
    if carries.get("any"):
        parts.append(f"At least one of {code(carries['any'])}.")
    if carries.get("should"):
        parts.append(f"Where they apply also {code(carries['should'])}.")
    rows = [(f"`{event}`", _summary(protocol, event), drives(protocol, event)) for event in data["events"]]
    blocks = [" ".join(parts), table(("Event", "When", "Drives"), rows)]
    for event in data["events"]:
        payload = view(protocol.store, protocol.events[event]).at(_payload_path(protocol))
        blocks.append(f"Payload of `{event}`:\n\n{field_table(payload)}" if payload else "")
    return "\n\n".join(block for block in blocks if block)


def _payload_path(protocol: Protocol) -> str:
    place = protocol.data["fields"]["payload"]
    return place[0] if isinstance(place, list) else place


def _summary(protocol: Protocol, event: str) -> str:
    aliases = [alias for alias, name in protocol.aliases.items() if name == event]
    text = protocol.store.subschema(protocol.events[event]).get("description", "")
    return f"{text} Also written {code(aliases)}." if aliases else text


def drives(protocol: Protocol, event: str) -> str:
    """The machines an event type moves, or why it moves none."""
    machines = protocol.listeners.get(Driver("event", event), ())
    if machines:
        return code(machine.name for machine in machines)
    return f"nothing: {protocol.informational[event]}"


def carries_block(protocol: Protocol) -> str:
    """Which identities each family carries."""
    rows = []
    for key, family in protocol.families.items():
        carries = family["carries"]
        rows.append((f"`{key}`", code(carries["must"]), code(carries.get("any", ())), code(carries.get("should", ()))))
    return table(("Family", "Always", "At least one of", "Where they apply"), rows)


def catalogue(protocol: Protocol) -> str:
    """Every event type of a protocol on one page."""
    rows = [
        (f"`{event}`", protocol.families[family]["title"], protocol.families[family]["origin"], drives(protocol, event))
        for event, family in protocol.family_of.items()
    ]
    return table(("Event", "Family", "Origin", "Drives"), rows)
