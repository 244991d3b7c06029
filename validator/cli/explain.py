"""`runtime-validate explain ID`."""

from __future__ import annotations

import click

from validator import resources
from validator.errors import UsageError
from validator.protocol.clauses import load_clauses
from validator.protocol.protocol import available, load_protocol
from validator.requirements import load_requirements
from validator.rules._catalog import load_rules
from validator.specgen.rules import rule_text

_MOST_CLAUSES = 12


@click.command(name="explain")
@click.argument("name", metavar="ID")
def command(name: str) -> None:
    """Explain a rule or a clause.

    Example: runtime-validate explain TRM001
    """
    wanted = name.upper()
    rules, clauses = load_rules(), load_clauses(resources.folder("spec"))
    if wanted in rules:
        protocols = [load_protocol(entry) for entry in available()]
        click.echo(rule_text(rules[wanted], protocols, most=_MOST_CLAUSES), nl=False)
    elif wanted in clauses:
        _clause(wanted)
    else:
        near = [known for known in [*rules, *clauses] if known[:3] == wanted[:3]][:6]
        raise UsageError(f"there is no rule or clause {name!r}", hint=f"near it: {', '.join(near)}" if near else None)


def _clause(name: str) -> None:
    for entry in available():
        requirement = load_requirements(load_protocol(entry)).get(name)
        if requirement is None:
            continue
        clause = requirement.clause
        click.echo(f"{clause.id} ({clause.level}), {clause.file}, line {clause.line}\n\n{clause.sentence}\n")
        how = {"rules": "judged by ", "schema": "judged by the schemas of ", "kit": "only a kit can judge it: "}
        text = ", ".join(requirement.by) or requirement.reason
        click.echo(how.get(requirement.way, "not judged: ") + (text or "no rule judges it yet"))
        return
