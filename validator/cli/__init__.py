"""The command line: parses options, calls one function, shows the result. No command holds logic of its own."""

from __future__ import annotations

import importlib
import sys

import click

from validator import __version__
from validator.errors import RuntimeValidateError

_COMMANDS = ("check", "explain", "replay", "requirements", "rules", "schema", "selftest", "spec")
_DEFAULT = "check"


class _Commands(click.Group):
    """Imports a command's module only when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        return importlib.import_module(f"validator.cli.{cmd_name}").command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # `runtime-validate run.ndjson` is `runtime-validate check run.ndjson`.
        first = next((word for word in args if not word.startswith("-") or word == "-"), None)
        asks = {"-h", "--help", "--version"} & set(args[:1])
        if args and not asks and first not in _COMMANDS:
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="runtime-validate")
def cli() -> None:
    """Judge agent-runtime event streams against a contract that is written down as data."""


def main() -> None:
    """The entry point: errors of ours become one message and exit code 2, never a traceback."""
    try:
        cli.main(standalone_mode=True)
    except RuntimeValidateError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
