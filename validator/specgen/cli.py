"""The command line as a page: every command, argument and option, as the program itself tells them."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

from validator.specgen.markdown import table


def cli_page() -> str:
    """One chapter per command."""
    # Loaded by name, as the console script is: the pages read the commands, they do not build on them.
    root = importlib.import_module("validator.cli.group").cli
    note = "Written by `runtime-validate spec build` from the commands; edits here are lost."
    parts = [f"# Command line\n\n{note}\n\n{_help(root)}", *_commands(root, "runtime-validate")]
    return "\n\n".join(parts) + "\n"


def _commands(group: Any, name: str) -> Iterator[str]:
    for word in group.list_commands(None):
        command = group.get_command(None, word)
        yield _command(command, f"{name} {word}")
        if hasattr(command, "list_commands"):
            yield from _commands(command, f"{name} {word}")


def _command(command: Any, name: str) -> str:
    arguments = [param.make_metavar(None) for param in command.params if param.param_type_name == "argument"]
    usage = " ".join([name, *arguments])
    options = [_option(param) for param in command.params if param.param_type_name == "option"]
    listed = [table(("Option", "Default", "Meaning"), options)] if options else []
    return "\n\n".join([f"## {name}", f"`{usage}`", _help(command), *listed])


def _help(command: Any) -> str:
    return inspect.cleandoc(command.help or "")


def _option(param: Any) -> tuple[str, str, str]:
    flag = "" if param.is_flag else f" {_value(param)}"
    default = param.default if param.show_default else None
    return f"`{', '.join(param.opts)}{flag}`", f"`{default}`" if default is not None else "", _meaning(param)


def _value(param: Any) -> str:
    return param.metavar or "|".join(getattr(param.type, "choices", ())) or param.type.name.upper()


def _meaning(param: Any) -> str:
    return (param.help or "") + (" May be given more than once." if param.multiple else "")
