"""Blocks about everything else: identities, envelope, order, read models, commands, tables, profiles, capabilities."""

from __future__ import annotations

from validator.capture.lines import RECORDS
from validator.protocol.profile import load_profile, shipped
from validator.protocol.protocol import Protocol, load_capabilities
from validator.protocol.schemas import BASE
from validator.protocol.view import View, view
from validator.specgen.fields import field_table
from validator.specgen.markdown import code, table

_GAPS = {
    "tolerated": "legal and silent",
    "noted": "reported, never a failure",
    "repair_marker": "legal when an event marks the gap",
    "forbidden": "a violation",
}


def identities_block(protocol: Protocol) -> str:
    rows = [
        (
            f"`{name}`",
            entry["meaning"],
            code(entry["belongs_to"]) or entry.get("owner", ""),
            entry["relationship"],
            entry["clause"],
        )
        for name, entry in protocol.identities.items()
    ]
    return table(("Identity", "Meaning", "Belongs to one of", "Relationship", "Clause"), rows)


def envelope_block(protocol: Protocol) -> str:
    return field_table(view(protocol.store, protocol.envelope))


def order_block(protocol: Protocol) -> str:
    order = protocol.order
    rows = [
        ("Stream", f"the first present of {code(order['key'])}"),
        ("Step", "strictly increasing" if order["step"] == "increasing" else "exactly one more"),
        ("First", str(order["first"]) if "first" in order else "any"),
        ("A gap is", _GAPS[order["gaps"]]),
        ("Marks a gap", code(order.get("repair", ())) or "nothing"),
        ("A sequence is", order["sequence"]),
        ("Clause", order["clause"]),
    ]
    return table(("Order", "Rule"), rows)


def snapshot_block(protocol: Protocol, name: str) -> str:
    return _document(view(protocol.store, protocol.snapshots[name]))


def record_block(protocol: Protocol, name: str) -> str:
    return _document(view(protocol.store, protocol.records[name]))


def _document(shape: View) -> str:
    return f"{shape.first('description') or ''}\n\n{field_table(shape)}".strip()


def records_page(protocol: Protocol) -> str:
    """Every named definition that events and read models of a protocol share, and every stored record."""
    shared = f"{protocol.id}/definitions/records.schema.json"
    found = {name: f"{protocol.id}/{file}" for name, file in protocol.data.get("records", {}).items()}
    if BASE + shared in protocol.store.documents:
        found |= {name: f"{shared}#/$defs/{name}" for name in protocol.store.subschema(shared)["$defs"]}
    if not found:
        return "None; its events stand alone."
    return "\n\n".join(f"### `{name}`\n\n{_document(view(protocol.store, found[name]))}" for name in sorted(found))


def commands_block(protocol: Protocol, family: str) -> str:
    blocks = []
    for command in protocol.commands.values():
        if command.family != family:
            continue
        request, result = view(protocol.store, command.request), view(protocol.store, command.result)
        kind = "Changes state" if command.mutates else "Reads only"
        writes = f"; writes {code(command.writes)}" if command.writes else ""
        head = f"#### `{command.name}`\n\n{request.first('description')} {kind}{writes}. Clause {command.clause}."
        blocks.append(f"{head}\n\nRequest:\n\n{field_table(request)}\n\nResult:\n\n{field_table(result)}")
    return "\n\n".join(blocks)


def table_block(protocol: Protocol, name: str) -> str:
    """A reference table, once per language it is written in."""
    data = protocol.tables[name]
    languages = ["en", *(["zh"] if any("zh" in row["text"] for row in data["rows"]) else [])]
    return "\n\n".join(_table_in(data, language) for language in languages)


def _table_in(data: dict, language: str) -> str:
    title = data["title"].get(language) or data["title"]["en"]
    columns = data["columns"]
    values = list(dict.fromkeys(key for row in data["rows"] for key in row.get("values", ())))
    clauses = any("clause" in row for row in data["rows"])
    head = ["id", *(column.get(language) or column["en"] for column in columns.values())]
    head += values if language == "en" else []
    head += ["Clause"] if clauses and language == "en" else []
    rows = []
    for row in data["rows"]:
        text = row["text"].get(language, row["text"]["en"])
        cells = [f"`{row['id']}`", *(text.get(column, "") for column in columns)]
        if language == "en":
            cells += [_value(row.get("values", {}).get(key)) for key in values]
            cells += [row.get("clause", "")] if clauses else []
        rows.append(cells)
    return f"**{title}**\n\n{table(head, rows)}"


def _value(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return code(value)
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def profiles_block(protocol: Protocol) -> str:
    rows = []
    for name in shipped(protocol):
        profile = load_profile(protocol, name)
        rows.append(
            (
                f"`{name}`",
                profile.summary,
                str(len(profile.demands)),
                str(len(profile.levels)),
                f"`{profile.digest[7:23]}`",
            )
        )
    return table(("Profile", "Asks for", "Fields demanded", "Clauses raised", "Digest begins"), rows)


def statuses_block(protocol: Protocol) -> str:
    definitions = protocol.store.subschema(f"{protocol.id}/definitions/statuses.schema.json")["$defs"]
    rows = [(f"`{name}`", entry["description"], code(entry["enum"])) for name, entry in definitions.items()]
    return table(("Vocabulary", "Says", "Words"), rows)


def capabilities_block(protocol: Protocol) -> str:
    rows = [
        (f"`{name}`", entry["summary"], ", ".join(entry["requirements"][protocol.id]))
        for name, entry in load_capabilities(protocol.store.root).items()
        if protocol.id in entry["requirements"]
    ]
    return table(("Capability", "Meaning", "Requirements"), rows)


def capture_block(protocol: Protocol) -> str:
    kinds = protocol.store.subschema(RECORDS.split("#")[0])["$defs"]
    return "\n\n".join(f"`{kind}`. {_document(view(protocol.store, RECORDS + kind))}" for kind in kinds)
