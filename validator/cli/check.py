"""`runtime-validate check`, the default command."""

from __future__ import annotations

import sys

import click

from validator.capture.ndjson import Limits
from validator.capture.sources import expand, open_capture
from validator.engine import Options, check_options, line_numbers, validate
from validator.renderers import RENDERERS

_PRECEDENCE = (2, 1, 4, 3, 0)


@click.command(name="check")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--protocol", metavar="NAME[@VERSION]", help="Protocol of the captures; told from the stream when absent."
)
@click.option("--profile", help="A shipped profile, or the path of your own; the header's or `default` when absent.")
@click.option("--expect", type=click.Choice(["complete", "prefix"]), help="Whether open work at the end is expected.")
@click.option("--select", multiple=True, metavar="RULE", help="Judge only these rules; a prefix names a family.")
@click.option(
    "--ignore", multiple=True, metavar="RULE", help="Leave these rules out; their requirements are suppressed."
)
@click.option("--fail-on", type=click.Choice(["must", "should", "may"]), default="must", show_default=True)
@click.option("--canary", multiple=True, metavar="VALUE", help="A value that was planted and must not occur.")
@click.option("--format", "form", type=click.Choice(sorted(RENDERERS)), default="text", show_default=True)
@click.option("--lines", metavar="N,N...", help="Judge only these lines, such as those of a finding's proof.")
@click.option("--max-line-bytes", default=Limits().line_bytes, show_default=True, help="Longer lines are not read.")
@click.option("--max-depth", default=Limits().depth, show_default=True, help="Lines nested deeper are not read.")
def command(
    paths: tuple[str, ...],
    protocol: str | None,
    profile: str | None,
    expect: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fail_on: str,
    canary: tuple[str, ...],
    form: str,
    lines: str | None,
    max_line_bytes: int,
    max_depth: int,
) -> None:
    """Judge captures: files, folders, patterns, or - for standard input.

    Exit code 0: conformant. 1: a finding. 2: bad usage, or our own fault. 3: incomplete. 4: unreadable.

    Example: runtime-validate run.ndjson --profile strict
    """
    limits = Limits(max_line_bytes, max_depth)
    options = Options(
        protocol, profile, expect, select, ignore, fail_on.upper(), canary, limits, lines=line_numbers(lines or "")
    )
    check_options(options)
    reports = []
    for path in expand(paths):
        with open_capture(path) as stream:
            reports.append(validate(stream, path, options))
    click.echo(RENDERERS[form](reports), nl=False)
    codes = {report.exit_code for report in reports}
    sys.exit(next(code for code in _PRECEDENCE if code in codes))
