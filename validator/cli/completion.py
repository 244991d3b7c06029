"""`runtime-validate completion SHELL`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command(name="completion", short_help="Print the script for shell completion.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script that teaches a shell to complete commands, options, protocols, profiles and rules.

    Example: runtime-validate completion bash > ~/.local/share/bash-completion/completions/runtime-validate
    """
    from validator.cli.group import cli

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"click knows no completion for {shell}")
    click.echo(kind(cli, {}, "runtime-validate", "_RUNTIME_VALIDATE_COMPLETE").source())
