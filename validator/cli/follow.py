"""`runtime-validate follow`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import click

from validator import baseline as baselines
from validator import follow as following
from validator.acceptance import settle
from validator.baseline import Ledger
from validator.capture.sources import STDIN
from validator.cli import output
from validator.cli.options import BASELINE, JUDGING, options
from validator.cli.verdict import leave
from validator.cli.wishes import day, settings
from validator.engine import Validator
from validator.errors import UsageError
from validator.judging import Judged
from validator.renderers import concise, ndjson, render
from validator.renderers.headline import headline
from validator.renderers.printable import printable_finding, printable_run
from validator.rules import Finding
from validator.run import Run
from validator.suppressions import Suppressions

FORMATS = ("concise", "ndjson")
_LIVE = {"concise": lambda found: concise.finding(printable_finding(found)) + "\n", "ndjson": ndjson.finding}


@click.command(name="follow", short_help="Judge a stream while it grows.")
@click.argument("words", nargs=-1, required=True, metavar="PATH | WORD...", type=click.Path())
@click.option("--command", "runs", is_flag=True, help="The words are a command; its output is the capture.")
@click.option("--idle", type=click.FloatRange(min=0), metavar="SECONDS", help="Stop when nothing came for so long.")
@click.option("--poll", type=click.FloatRange(min=0.01), default=0.2, show_default=True, help="Seconds between looks.")
@options(JUDGING, BASELINE)
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="concise", show_default=True, help="What is shown."
)
@click.option("--out", multiple=True, metavar="FORMAT=PATH", help="Also write a whole report at the end.")
def command(
    words: tuple[str, ...],
    runs: bool,
    idle: float | None,
    poll: float,
    form: str,
    out: tuple[str, ...],
    config_file: str | None,
    as_of: str | None,
    **given: Any,
) -> None:
    """Judge a stream while it grows: a file, - for standard input, or what a command prints. Findings come at once.

    A file may be rotated or truncated meanwhile. Without --idle a file is followed until you press Ctrl-C, and the
    report then says that it is partial. The verdict at the end is the one `check` gives for the same bytes.

    Example: runtime-validate follow run.ndjson --idle 30

    Example: runtime-validate follow --command -- my-agent --json
    """
    wishes = settings({**given, "format": form}, config_file)
    files = output.targets(out)
    name, source = _source(words, runs, poll, idle)
    validator = Validator(name, wishes.options(every_finding=True))
    baseline = baselines.load(Path(wishes["baseline"])) if wishes["baseline"] else None
    accepts = [Suppressions(wishes.config.suppressions if wishes.config else (), day(as_of)).decide]
    accepts += [Ledger(baseline, day(as_of)).decide] if baseline else []

    def tell(found: Finding) -> None:
        if not any(accept(found) for accept in accepts) and not output.show(_LIVE[form](found)):
            raise KeyboardInterrupt  # nobody reads any more

    followed = following.follow(source, validator, tell, lambda text: click.echo(f"{name}: {text}", err=True))
    run = settle(Judged([followed.report], partial=followed.partial), wishes, baseline, day(as_of))
    for kind, path in files:
        output.write(path, render(kind, run))
    output.show(_end(run, form))
    leave(run)


def _source(words: tuple[str, ...], runs: bool, poll: float, idle: float | None) -> tuple[str, following.Source]:
    if runs:
        return Path(words[0]).name, following.command(list(words), poll, idle)
    if len(words) > 1:
        raise UsageError("one file is followed at a time", hint="for a command say: follow --command -- WORD...")
    if words[0] == STDIN:
        return STDIN, following.pipe(sys.stdin.fileno(), poll, idle)
    return words[0], following.tail(Path(words[0]), time.sleep, poll, idle)


def _end(run: Run, form: str) -> str:
    """What is left to say when the findings were told already."""
    if form == "ndjson":
        told = ndjson.render(run).splitlines(keepends=True)
        return "".join(line for line in told if not line.startswith('{"kind":"finding"'))
    run = printable_run(run)
    reasons = [f"{report.file}: incomplete: {reason}\n" for report in run.reports for reason in report.incomplete]
    notes = [f"{note.where}: {note.code}: {note.message}\n" for note in run.notes]
    return "".join([*reasons, *notes, headline(run), "\n"])
