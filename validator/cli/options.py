"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from validator.capture.ndjson import DEEPEST
from validator.processes import AUTO
from validator.renderers import FORMATS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def _rules(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from validator.rules._catalog import load_rules

    return [CompletionItem(rule.id, help=rule.slug) for rule in load_rules().values() if rule.id.startswith(incomplete)]


def _protocols(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from validator.protocol.protocol import available

    return [CompletionItem(name) for name in available() if name.startswith(incomplete)]


def _profiles(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from validator.protocol.profile import shipped
    from validator.protocol.protocol import available, load_protocol

    names = sorted({profile for name in available() for profile in shipped(load_protocol(name))})
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


PROTOCOL = click.option(
    "--protocol",
    metavar="NAME[@VERSION]",
    shell_complete=_protocols,
    help="Protocol of the captures; told from the stream when absent.",
)
_PROFILE = click.option(
    "--profile",
    metavar="NAME|FILE",
    shell_complete=_profiles,
    help="A shipped profile, or the path of your own; the header's or `default` when absent.",
)
CANARY = click.option("--canary", multiple=True, metavar="VALUE", help="A value that was planted and must not occur.")


class _Count(click.ParamType):
    """A number of processes, or `auto`."""

    name = "count"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        if value == AUTO:
            return AUTO
        if not value.isdecimal() or not int(value):
            self.fail(f"{value!r} is neither a number of processes nor {AUTO}.", param, ctx)
        return int(value)


_JOBS = click.option(
    "--jobs",
    type=_Count(),
    metavar=f"N|{AUTO}",
    help="Processes: captures at the same time, or shares of one large capture; when absent as many as pay (auto).",
)
CERTIFYING = (PROTOCOL, _PROFILE, CANARY, _JOBS)
JUDGING = (
    PROTOCOL,
    _PROFILE,
    click.option("--expect", type=click.Choice(["complete", "prefix"]), help="Whether captures are whole or prefixes."),
    click.option(
        "--select",
        multiple=True,
        metavar="RULE,...",
        shell_complete=_rules,
        help="Judge only these rules; a prefix names a family.",
    ),
    click.option(
        "--ignore",
        multiple=True,
        metavar="RULE,...",
        shell_complete=_rules,
        help="Leave these rules out; their requirements count as suppressed.",
    ),
    click.option(
        "--fail-on",
        type=click.Choice(["must", "should", "may"]),
        help="Weight from which a finding fails the run; must when absent.",
    ),
    CANARY,
    click.option("--max-line-bytes", type=click.IntRange(1), help="Longer lines are not read; 16 MiB when absent."),
    click.option(
        "--max-depth", type=click.IntRange(1, DEEPEST), help="Lines nested deeper are not read; 128 when absent."
    ),
    _JOBS,
    click.option(
        "--config",
        "config_file",
        metavar="FILE",
        help="Configuration file; runtime-validate.toml or pyproject.toml here or above when absent.",
    ),
)
BASELINE = (
    click.option("--baseline", metavar="FILE", help="Accept the findings this baseline holds, and no others."),
    click.option(
        "--as-of", metavar="DATE", help="The day with which expiry dates are compared, YYYY-MM-DD; today when absent."
    ),
)
SHOWING = (
    click.option("--format", type=click.Choice(FORMATS), help="What is shown; text, or github under GitHub Actions."),
    click.option(
        "--out", multiple=True, metavar="FORMAT=PATH", help="Also write a report to a file; may be given several times."
    ),
    click.option(
        "--max-findings-per-rule",
        type=click.IntRange(1),
        help="Findings of one rule that are listed; all are counted. 100 when absent.",
    ),
    click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        help="Colours; auto asks the terminal and NO_COLOR.",
    ),
)


def options(*groups: tuple[Callable, ...]) -> Callable[[Callable], Callable]:
    """Gives a command all options of these groups, in this order."""

    def give(command: Callable) -> Callable:
        for option in reversed([option for group in groups for option in group]):
            command = option(command)
        return command

    return give
