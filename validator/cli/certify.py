"""`runtime-validate certify`."""

from __future__ import annotations

from pathlib import Path

import click

from validator.capture.sources import expand
from validator.certify import certify
from validator.cli import failure, output
from validator.cli.options import CERTIFYING, options
from validator.processes import AUTO
from validator.renderers.certificate import FORMATS, headline, render


@click.command(name="certify", short_help="State what many captures show together.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@options(CERTIFYING)
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="What is shown.")
@click.option("--out", multiple=True, metavar="FORMAT=PATH", help="Also write the statement to a file.")
def command(
    paths: tuple[str, ...],
    protocol: str | None,
    profile: str | None,
    canary: tuple[str, ...],
    jobs: int | str | None,
    form: str,
    out: tuple[str, ...],
) -> None:
    """Judge many captures together and state what they show: the outcome of every requirement over the whole set.

    A requirement that the profile asks for has to be observed in one capture, not in each. What was never observed is
    listed with a story that would show it. Digests of captures, profile, contract and rules let others repeat it.
    Configuration files, baselines and suppressions do not apply.

    Exit code 0: certified. 1: a requirement fails. 2: bad usage, or our own fault. 3: too little was
    seen. 4: unreadable.

    Example: runtime-validate certify --profile core captures/ --out markdown=statement.md
    """
    failure.speak(form)
    files = output.targets(out, FORMATS)
    statement = certify(expand(paths), profile or "default", protocol, canary, jobs or AUTO)
    for kind, path in files:
        output.write(Path(path), render(kind, statement))
    output.show(render(form, statement))
    failure.leave(statement.exit_code, headline(statement))
