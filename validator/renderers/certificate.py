"""A statement of certification as JSON (`schemas/certificate/1`), Markdown or text."""

from __future__ import annotations

import json
from typing import Any

from validator import __version__
from validator.certify import Sample, Statement, lacking
from validator.renderers.json import finding_as_data
from validator.renderers.printable import printable
from validator.renderers.statement import page

FORMATS = ("text", "json", "markdown")


def render(form: str, statement: Statement) -> str:
    """A statement in one of the formats."""
    return {"text": _text, "json": _json, "markdown": _markdown}[form](statement)


def headline(statement: Statement) -> str:
    """Whether the set is certified, and the first reason why not."""
    against = f"{statement.protocol.id}, profile {statement.profile.name}"
    reasons = statement.reasons()
    if not reasons:
        return f"certified: {len(statement.samples)} captures conform to {against}"
    more = f" (and {len(reasons) - 1} more reason{'s' * (len(reasons) > 2)})" if len(reasons) > 1 else ""
    return f"not certified ({against}): {reasons[0]}{more}"


def as_data(statement: Statement) -> dict[str, Any]:
    """A statement as plain data."""
    coverage = statement.coverage
    return {
        "certificate": "1",
        "tool": {"name": "runtime-validate", "version": __version__},
        "protocol": statement.protocol.id,
        "profile": {
            "name": statement.profile.name,
            "summary": statement.profile.summary,
            "digest": statement.profile.digest,
        },
        "rules_digest": statement.rules_digest,
        "contract_digest": statement.contract_digest,
        "certified": not statement.reasons(),
        "partial": statement.partial,
        "reasons": list(statement.reasons()),
        "captures": [_sample(sample) for sample in statement.samples],
        "totals": {"requirements": len(statement.outcomes), **statement.totals()},
        "requirements": [
            {
                "id": entry.requirement,
                "level": entry.level,
                "outcome": entry.outcome,
                "looks": entry.looks,
                "findings": entry.findings,
                "required": entry.requirement in statement.profile.clauses,
            }
            for entry in statement.outcomes
        ],
        "never_observed": [
            {
                "id": entry.requirement,
                "level": entry.level,
                "text": entry.text,
                "required": entry.required,
                "stories": list(entry.stories),
            }
            for entry in statement.missing
        ],
        "coverage": {
            "event_types": _covered(coverage.events, coverage.all_events),
            "table_rows": _covered(coverage.rows, coverage.all_rows),
        },
        "findings": [finding_as_data(found) for found in statement.findings],
    }


def _sample(sample: Sample) -> dict[str, Any]:
    report = sample.report
    return {
        "file": report.file,
        "digest": sample.digest,
        "verdict": sample.verdict,
        "lines": report.lines,
        "events": report.events,
        "incomplete": list(lacking(report)),
    }


def _covered(seen: frozenset[str], everything: frozenset[str]) -> dict[str, Any]:
    return {"seen": len(seen), "all": len(everything), "missing": sorted(everything - seen, key=_place)}


def _place(name: str) -> tuple[str, int]:
    """Rows of a table in their order: the tenth stands behind the ninth."""
    word, _, number = name.partition("#")
    return word, int(number or 0)


def _json(statement: Statement) -> str:
    return json.dumps(as_data(statement), indent=2, ensure_ascii=False) + "\n"


def _text(statement: Statement) -> str:
    data = as_data(statement)
    totals = ", ".join(
        f"{count} {name.replace('_', ' ')}"
        for name, count in data["totals"].items()
        if count and name != "requirements"
    )
    lines = [headline(statement), *(f"  {reason}" for reason in data["reasons"]), ""]
    lines.append(f"of {data['totals']['requirements']} requirements: {totals}")
    lines += [
        f"{name.replace('_', ' ')}: {entry['seen']} of {entry['all']} occur" for name, entry in data["coverage"].items()
    ]
    lines += [f"profile {data['profile']['digest']}", f"rules   {data['rules_digest']}"]
    required = [entry for entry in data["never_observed"] if entry["required"]]
    for entry in required:
        lines.append(f"to show {entry['id']}: {'; or '.join(entry['stories'])}")
    if rest := len(data["never_observed"]) - len(required):
        lines.append(
            f"nothing is said about {rest} requirements that were never observed and that the profile does not ask "
            "for; --out markdown=FILE lists them, with what would show them"
        )
    return "\n".join(printable(line) for line in lines) + "\n"


def _markdown(statement: Statement) -> str:
    return page(as_data(statement), headline(statement))
