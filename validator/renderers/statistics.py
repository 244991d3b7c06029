"""How often each rule was broken, most often first: a map for whoever has many findings to work through."""

from __future__ import annotations

import json

from validator.renderers.headline import headline
from validator.rules._catalog import load_rules
from validator.run import Run


def render(run: Run, form: str = "text") -> str:
    """A table, or JSON when the format is for machines."""
    rows = _rows(run)
    if form in {"json", "ndjson"}:
        return json.dumps(rows, indent=2) + "\n"
    lines = [headline(run)]
    lines += [f"{row['count']:>6}  {row['rule']}  {row['level']:<6}  {row['slug']}" for row in rows]
    return "\n".join(lines) + "\n"


def _rows(run: Run) -> list[dict[str, object]]:
    levels = {found.rule: found.level for found in run.findings}
    totals: dict[str, int] = {}
    for report in run.reports:
        for rule, count in report.counts.items():
            totals[rule] = totals.get(rule, 0) + count
    rules = load_rules()
    ordered = sorted(totals.items(), key=lambda entry: (-entry[1], entry[0]))
    return [
        {"rule": rule, "slug": rules[rule].slug, "level": levels.get(rule, "MUST"), "count": count}
        for rule, count in ordered
    ]
