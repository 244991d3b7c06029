"""The group of all commands, and how a run of one of them ends."""

from __future__ import annotations

import os
import sys
from importlib import import_module

import click

from validator import __version__
from validator.cli import failure
from validator.cli.entry import COMMANDS, DEFAULT, NAME


class _Commands(click.Group):
    """Imports a command's module only when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return import_module(f"validator.cli.{cmd_name}").command

    def get_help(self, ctx: click.Context) -> str:
        ctx.terminal_width = ctx.terminal_width or _width(ctx.max_content_width)
        return super().get_help(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands by their first sentences, read from their files: importing them all takes too long."""
        limit = formatter.width - 6 - max(map(len, COMMANDS))
        rows = [(name, click.Command(name, help=_help(name)).get_short_help_str(limit)) for name in COMMANDS]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # `runtime-validate run.ndjson` is `runtime-validate check run.ndjson`.
        asks = {"-h", "--help", "--version"} & set(args[:1])
        if args and not asks and args[0] not in COMMANDS:
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


def _width(most: int) -> int:
    """The width that click would find, without the archive formats that its way of asking imports."""
    try:
        columns = int(os.environ.get("COLUMNS") or 0) or os.get_terminal_size(sys.__stdout__.fileno()).columns
    except (ValueError, AttributeError, OSError):
        columns = 0
    return max(min(columns or 80, most) - 2, 50)


def _help(name: str) -> str:
    """The text that a command's function begins with."""
    with open(os.path.join(os.path.dirname(__file__), f"{name}.py"), encoding="utf-8") as file:
        source = file.read()
    return source.partition("\ndef command(")[2].partition('"""')[2].partition('"""')[0]


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 112})
@click.version_option(__version__, prog_name=NAME)
def cli() -> None:
    """Judge the event streams of agent runtimes against a contract that is written down as data.

    Give it what your runtime emits, one JSON object per line. `check` is the command when you name none.

    Example: runtime-validate run.ndjson
    """


def answer() -> int:
    """Runs the command that was asked for, and gives the exit code; what click refuses is told in our way."""
    try:
        return cli.main(prog_name=NAME, standalone_mode=False) or 0
    except click.exceptions.Exit as error:
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        failure.leave(2, error.format_message(), "bad-usage")
    except click.Abort:
        failure.interrupted()
