"""`runtime-validate check`, the default command."""

from __future__ import annotations

from typing import Any

import click

from validator.cli import output
from validator.cli.options import BASELINE, JUDGING, SHOWING, options
from validator.cli.verdict import give
from validator.cli.wishes import day, settings
from validator.settings import show


@click.command(name="check", short_help="Judge captures; the command when you name none.")
@click.argument("paths", nargs=-1, metavar="PATH...", type=click.Path())
@options(JUDGING, BASELINE, SHOWING)
@click.option("--lines", metavar="N,N...", help="Judge only these lines, such as those of a finding's proof.")
@click.option(
    "--subset", is_flag=True, help="These are some of the captures: an entry that they do not use is no fault."
)
@click.option("--statistics", is_flag=True, help="Show how often each rule was broken instead of every finding.")
@click.option("--show-settings", is_flag=True, help="Show every setting and where it comes from, and judge nothing.")
def command(
    paths: tuple[str, ...],
    config_file: str | None,
    as_of: str | None,
    color: str,
    subset: bool,
    statistics: bool,
    show_settings: bool,
    **given: Any,
) -> None:
    """Judge captures: files, folders, patterns, or - for standard input.

    A capture is one JSON object per line, as your runtime writes its events. The report says what is wrong, where, what
    the specification says about it, and how to fix it.

    Exit code 0: conformant. 1: a finding, a stale baseline entry or an unused suppression. 2: bad usage, or our own
    fault. 3: incomplete. 4: unreadable. 130: interrupted.

    Example: runtime-validate run.ndjson --profile strict --out sarif=report.sarif
    """
    wishes = settings(given, config_file)
    if show_settings:
        output.show(show(wishes))
        return
    give(paths, wishes, day(as_of), color, subset, statistics)
