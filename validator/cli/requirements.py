"""`runtime-validate requirements`."""

from __future__ import annotations

import click

from validator.protocol.protocol import load_protocol
from validator.requirements import load_requirements


@click.command(name="requirements")
@click.argument("protocol")
@click.option("--way", type=click.Choice(["rules", "schema", "kit", "excluded", "open"]), help="Only those judged so.")
def command(protocol: str, way: str | None) -> None:
    """List every requirement of a protocol and how it is judged.

    Example: runtime-validate requirements agent-runtime --way kit
    """
    requirements = load_requirements(load_protocol(protocol)).values()
    counts: dict[str, int] = {}
    for requirement in requirements:
        counts[requirement.way] = counts.get(requirement.way, 0) + 1
        if way in {None, requirement.way}:
            text = ", ".join(requirement.by) or requirement.reason
            click.echo(f"{requirement.id:<10} {requirement.clause.level:<7} {requirement.way:<9} {text}")
    shown = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    click.echo(f"{len(requirements)} requirements: {shown}")
