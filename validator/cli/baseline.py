"""`runtime-validate baseline write | check | prune`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from validator import baseline as baselines
from validator.acceptance import settle
from validator.cli import failure, judge, output
from validator.cli.options import JUDGING, options
from validator.cli.verdict import leave
from validator.cli.wishes import day, settings
from validator.errors import BaselineError, UsageError
from validator.judging import Judged
from validator.records import replace
from validator.renderers.headline import headline
from validator.run import counts

NAME = "runtime-validate-baseline.json"
_SHORTEST = 8
"""Characters of a reason, as the published schema has it."""
_FILE = click.option("--baseline", metavar="FILE", help=f"The baseline; the configuration's or {NAME} when absent.")
_AS_OF = click.option("--as-of", metavar="DATE", help="The day with which dates are compared; today when absent.")
_PATHS = click.argument("paths", nargs=-1, metavar="PATH...", type=click.Path())


@click.group(name="baseline", short_help="Accept today's findings, and hear of every change.")
def command() -> None:
    """Accept the findings you have today, and hear of every new one and of every one that has gone.

    Example: runtime-validate baseline write captures/ --reason "known before the rewrite"
    """


@command.command(name="write", short_help="Write a baseline, or let one shrink.")
@_PATHS
@options(JUDGING, (_FILE,))
@click.option("--reason", help="Why the new entries are accepted; the next reader depends on it.")
@click.option("--expires", metavar="DATE", help="Last day on which the new entries hold, YYYY-MM-DD.")
@click.option("--allow-growth", is_flag=True, help="Let an existing baseline accept more than it does.")
def write(
    paths: tuple[str, ...],
    config_file: str | None,
    reason: str | None,
    expires: str | None,
    allow_growth: bool,
    **given: Any,
) -> None:
    """Write a baseline that accepts what these captures show now; an existing one may only shrink unless told.

    Example: runtime-validate baseline write captures/ --reason "tracked in issue 12" --expires 2027-01-31
    """
    wishes = settings(given, config_file)
    path = _path(wishes["baseline"])
    old = baselines.load(path).entries if path.exists() else {}
    judged = judge.judge_all(paths, replace(wishes, values={**wishes.values, "baseline": str(path)}))
    _check_seen(judged, "no baseline was written")
    without = settle(
        judged, replace(wishes, values={**wishes.values, "max-findings-per-rule": 1 << 62}), None, day(None)
    )
    found = [entry for report in without.reports for entry in report.findings if counts(entry, report.fail_on)]
    new = baselines.collected(found, reason or "")
    if expires:
        new = {name: replace(entry, expires=day(expires)) for name, entry in new.items()}
    entries = baselines.merged(old, new, allow_growth or not path.exists())
    if any(len(entry.reason) < _SHORTEST for entry in entries.values()):
        hint = f'say --reason "why this is accepted", in at least {_SHORTEST} characters'
        raise UsageError("new entries need a reason", hint=hint)
    output.write(path, baselines.dump(entries))
    total = sum(entry.count for entry in entries.values())
    click.echo(f"wrote {path.name}: {len(entries)} entries, {total} findings")


@command.command(name="check")
@_PATHS
@options(JUDGING, (_FILE, _AS_OF))
def check(paths: tuple[str, ...], config_file: str | None, as_of: str | None, **given: Any) -> None:
    """Say how the entries fare: stale, grown or expired. Exit code 1 when any is not right.

    Example: runtime-validate baseline check captures/ --as-of 2026-12-31
    """
    wishes = settings(given, config_file)
    path = _path(wishes["baseline"])
    run = judge.run(paths, replace(wishes, values={**wishes.values, "baseline": str(path)}), day(as_of))
    click.echo(headline(run))
    for note in run.notes:
        click.echo(f"{note.where}: {note.code}: {note.message}")
    accepted = sum(entry.by == "baseline" for entry in run.accepted)
    click.echo(f"{path.name}: {accepted} findings accepted, {len(run.counting())} new")
    leave(run)


@command.command(name="prune", short_help="Take out what is no longer found.")
@_PATHS
@options(JUDGING, (_FILE,))
def prune(paths: tuple[str, ...], config_file: str | None, **given: Any) -> None:
    """Take out what the captures no longer show, and lower counts to what they do; never adds anything.

    Example: runtime-validate baseline prune captures/
    """
    wishes = settings(given, config_file)
    path = _path(wishes["baseline"])
    baseline = baselines.load(path)
    judged = judge.judge_all(paths, wishes, every_finding=True)
    _check_seen(judged, "the baseline is as it was")
    met: dict[str, int] = {}
    for report in judged.reports:
        for found in report.findings:
            met[found.fingerprint] = met.get(found.fingerprint, 0) + 1
    asked = wishes.judged_rules()
    left_alone = {name: entry for name, entry in baseline.entries.items() if entry.rule not in asked}
    entries = {**baselines.pruned(baseline, met), **left_alone}
    output.write(path, baselines.dump(entries))
    gone = sum(entry.count for entry in baseline.entries.values()) - sum(entry.count for entry in entries.values())
    click.echo(f"wrote {path.name}: {len(entries)} entries, {gone} findings fewer")


def _check_seen(judged: Judged, consequence: str) -> None:
    """Refuses to learn from captures that show nothing: what was not seen is not gone."""
    if judged.partial:
        failure.leave(130, f"interrupted: {consequence}")
    for report in judged.reports:
        if report.crashes:
            raise BaselineError(f"{report.crashes[0].rule} failed itself; {consequence}", source=report.file)
        if not report.events:
            hint = "give the captures that the baseline is about"
            raise BaselineError(f"the capture shows no event; {consequence}", source=report.file, hint=hint)


def _path(named: str | None) -> Path:
    path = Path(named or NAME)
    if path.is_dir():
        raise BaselineError("it is a folder", source=path.name)
    return path
