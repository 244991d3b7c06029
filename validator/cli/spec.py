"""`runtime-validate spec build | check`."""

from __future__ import annotations

import sys

import click

from validator.datafile import shown
from validator.specgen import blocks


@click.group(name="spec", short_help="Write or check the generated tables.")
def command() -> None:
    """Write the tables of the specification from the contract, or tell when they are stale.

    Example: runtime-validate spec check
    """


@command.command()
def build() -> None:
    """Write every generated block and page anew.

    Example: runtime-validate spec build
    """
    written = blocks.build()
    for path in written:
        click.echo(f"{'wrote' if path.exists() else 'removed'} {shown(path)}")
    click.echo(f"{len(written)} pages written or removed")


@command.command()
def check() -> None:
    """Print a diff and exit 1 when a page does not say what the contract says.

    Example: runtime-validate spec check
    """
    diffs = blocks.stale()
    for diff in diffs:
        click.echo(diff)
    click.echo("run: runtime-validate spec build" if diffs else "every page is fresh", err=bool(diffs))
    sys.exit(1 if diffs else 0)
