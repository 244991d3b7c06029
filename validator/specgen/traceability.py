"""Every clause, and the one way in which it is judged."""

from __future__ import annotations

from pathlib import Path

from validator.protocol.protocol import Protocol
from validator.requirements import Requirement, load_requirements
from validator.specgen.markdown import table

_WAYS = {"rules": "rules", "schema": "schema", "kit": "a kit", "excluded": "nothing", "open": "no rule yet"}
_NOTE = "A kit drives a runtime; what only a kit can judge, and what nothing judges, has its reason."


def traceability(protocol: Protocol, spec: Path | None = None) -> str:
    """A protocol's clauses in the order of their ids, with totals on top."""
    requirements = list(load_requirements(protocol, spec.resolve() if spec else None).values())
    counts = {way: sum(entry.way == way for entry in requirements) for way in _WAYS}
    told = ", ".join(f"{count} by {_WAYS[way]}" for way, count in counts.items() if count)
    rows = [
        (f"`{entry.id}`", entry.clause.keyword, _WAYS[entry.way], _by(entry), entry.clause.file)
        for entry in requirements
    ]
    head = f"{len(requirements)} clauses, those of the capture format included; judged: {told}. {_NOTE}"
    return f"{head}\n\n{table(('Clause', 'Keyword', 'Judged by', 'Which, or why not', 'Chapter'), rows)}"


def _by(entry: Requirement) -> str:
    if entry.way == "rules":
        return ", ".join(f"[{rule}](rules/{rule}.md)" for rule in entry.by)
    return ", ".join(f"`{kind}`" for kind in entry.by) or entry.reason
