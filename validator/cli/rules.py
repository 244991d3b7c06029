"""`runtime-validate rules`."""

from __future__ import annotations

import click

from validator.rules._catalog import load_rules


@click.command(name="rules")
@click.argument("family", required=False)
def command(family: str | None) -> None:
    """List the rules, all or of one family.

    Example: runtime-validate rules GOV
    """
    for rule in load_rules().values():
        if not family or rule.id.startswith(family.upper()):
            click.echo(f"{rule.id}  {rule.slug:<32} {', '.join(rule.clauses)}")
            click.echo(f"        {rule.summary}")
