"""`runtime-validate check`, the default command."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from validator.cli import failure, judge, output
from validator.cli.options import BASELINE, JUDGING, SHOWING, day, options, settings
from validator.protocol.keep import shipped
from validator.renderers import render
from validator.renderers.headline import headline
from validator.run import Run
from validator.settings import Settings, show


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
    files = output.targets(wishes["out"])
    run = judge.run(paths, wishes, day(as_of), subset)
    for form, path in files:
        output.write(path, render(form, run))
    output.show(_counted(run, wishes) if statistics else _rendered(run, wishes, color))
    _summarise(run, wishes)
    shipped().flush()
    leave(run)


def _counted(run: Run, wishes: Settings) -> str:
    from validator.renderers.statistics import render as render_statistics  # seldom asked for

    return render_statistics(run, wishes["format"])


def _rendered(run: Run, wishes: Settings, color: str) -> str:
    return render(wishes["format"], run, output.look(os.environ, color))


def _summarise(run: Run, wishes: Settings) -> None:
    """Under GitHub Actions, what the annotations leave out stands in the step's summary."""
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if wishes["format"] == "github" and summary:
        output.append(Path(summary), render("markdown", run))


def leave(run: Run) -> None:
    """Exits with the run's code."""
    only_notes = run.exit_code == 1 and not run.counting()
    failure.leave(run.exit_code, headline(run), "configuration-findings" if only_notes else None)
