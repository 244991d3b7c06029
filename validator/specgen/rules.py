"""The page of a rule: what is wrong, why it matters, which clauses say so, and the streams that prove the rule.

`runtime-validate explain` shows the same text, with the list of clauses cut short.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from validator import resources
from validator.protocol.clauses import Clause, Clauses, load_clauses
from validator.protocol.definition import read_definition
from validator.protocol.protocol import Protocol
from validator.rules import Rule
from validator.rules._catalog import load_rules
from validator.specgen.markdown import table

PARTS = ("Why", "Trips", "Near miss", "Fix")
_WIDTH = 118


def rule_text(
    rule: Rule,
    protocols: list[Protocol],
    spec: Path | None = None,
    fixtures: Path | None = None,
    most: int | None = None,
) -> str:
    """Everything about a rule, as Markdown; of each protocol's clauses the first ones, when a number is given."""
    clauses = load_clauses(spec.resolve() if spec else resources.folder("spec"))
    known = [protocol for protocol in protocols if protocol.name in rule.clauses]
    parts = [f"# {rule.id} {rule.slug}", _filled(rule.summary)]
    parts += [f"## {part}\n\n{_filled(rule.doc[part])}" for part in PARTS]
    parts += [f"## Clauses of `{protocol.id}`\n\n{_clauses(rule, protocol, clauses, most)}" for protocol in known]
    parts += _streams(rule, known, fixtures or resources.fixtures())
    return "\n\n".join(parts) + "\n"


def _filled(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _clauses(rule: Rule, protocol: Protocol, clauses: Clauses, most: int | None) -> str:
    ids = rule.clauses[protocol.name]
    lines = [_item(clauses[name]) for name in ids[:most] if name in clauses]
    if most is not None and len(ids) > most:
        lines.append(f"* and {len(ids) - most} more")
    return "\n".join(lines)


def _item(clause: Clause) -> str:
    return f"* `{clause.id}` ({clause.keyword}), {clause.file}: {clause.sentence}"


def _streams(rule: Rule, protocols: list[Protocol], fixtures: Path) -> Iterator[str]:
    rows = []
    for protocol in protocols:
        path = fixtures / protocol.name / protocol.version / "rules" / rule.id / "expect.yaml"
        streams = read_definition(path, "expect", protocol.store)["streams"] if path.exists() else {}
        rows += [(f"`{protocol.id}`", f"`{name}`", *_stream(rule, entry)) for name, entry in streams.items()]
    if rows:
        yield "## Streams\n\n" + table(("Protocol", "Stream", "What it shows", "Findings"), rows)


def _stream(rule: Rule, entry: dict[str, Any]) -> tuple[str, str]:
    found = [f"{item.get('rule', rule.id)} at line {item['line']}" for item in entry.get("findings", ())]
    return entry["description"], ", ".join(found) or "none"


def rule_pages(protocols: list[Protocol], spec: Path, fixtures: Path | None = None) -> Iterator[tuple[Path, str]]:
    """The index, and one page per rule."""
    folder = spec / "generated"
    note = "Written by `runtime-validate spec build` from the rules; edits here are lost."
    rows = [
        (f"[{rule.id}](rules/{rule.id}.md)", f"`{rule.slug}`", rule.summary, ", ".join(rule.clauses))
        for rule in load_rules().values()
    ]
    index = table(("Rule", "Name", "What is wrong", "Protocols"), rows)
    yield folder / "rules.md", f"# Rules\n\n{note}\n\n{index}\n"
    for rule in load_rules().values():
        yield folder / "rules" / f"{rule.id}.md", rule_text(rule, protocols, spec, fixtures)
