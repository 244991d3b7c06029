"""`runtime-validate selftest`."""

from __future__ import annotations

import sys

import click

from validator.selftest import Coverage, Outcome, run


@click.command(name="selftest")
@click.argument("protocols", nargs=-1, metavar="[PROTOCOL]...")
@click.option("--missing", is_flag=True, help="List event types that never occur and table rows never taken.")
def command(protocols: tuple[str, ...], missing: bool) -> None:
    """Run every packaged fixture against its expectation.

    Example: runtime-validate selftest agent-runtime
    """
    outcome = run(list(protocols) or None)
    for coverage in outcome.coverage:
        click.echo(_summary(coverage))
        if missing:
            _show_missing(coverage)
    for failure in outcome.failures:
        click.echo(f"FAIL {failure.fixture}: {failure.reason}")
    click.echo(_total(outcome))
    sys.exit(1 if outcome.failures else 0)


def _summary(coverage: Coverage) -> str:
    events, rows = len(coverage.events & coverage.all_events), len(coverage.rows)
    golden = f"{coverage.captures:>3} golden captures, {coverage.lines:>4} lines"
    covered = f"{events} of {len(coverage.all_events)} event types, {rows} of {len(coverage.all_rows)} table rows"
    fixtures = f"{coverage.documents} document kinds, {coverage.cases} cases, {coverage.streams} rule streams"
    return f"{coverage.protocol:<18} {golden}: {covered}; {fixtures}"


def _show_missing(coverage: Coverage) -> None:
    for event in sorted(coverage.all_events - coverage.events):
        click.echo(f"  never occurs: {event}")
    for row in sorted(coverage.all_rows - coverage.rows):
        click.echo(f"  never taken:  {row}")


def _total(outcome: Outcome) -> str:
    checked = sum(coverage.captures + coverage.cases + coverage.streams for coverage in outcome.coverage)
    return f"{checked} fixtures, {len(outcome.failures)} failures"
