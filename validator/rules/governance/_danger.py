"""What a call can do: run a shell, write, destroy, or only read."""

from __future__ import annotations

from validator.protocol.honest import known
from validator.rules._catalogues import Catalogues
from validator.rules.governance._decisions import Decisions
from validator.rules.governance._work import Target

SHELLS_AND_WRITERS = frozenset(
    {
        *("shell", "bash", "sh", "zsh", "powershell", "terminal", "exec", "exec_command", "run_command"),
        *("run_shell_command", "write_file", "edit_file", "create_file", "delete_file", "apply_patch"),
    }
)
"""Names under which tools run a shell or write files, used where no catalogue says what a tool does."""


def writes_or_shell(target: Target, catalogues: Catalogues) -> bool:
    """True for a call that is known to write files or to run a shell."""
    if target.read_only is True:
        return False
    entry = catalogues.entry(target) or {}
    abilities = known(entry.get("capabilities"))
    if isinstance(abilities, list):
        return "shell" in abilities or {"write", "filesystem"} <= set(map(str, abilities))
    return (target.tool or "").lower() in SHELLS_AND_WRITERS


def is_destructive(target: Target, decisions: Decisions, catalogues: Catalogues) -> bool:
    entry = catalogues.entry(target) or {}
    marks = [target.destructive, known(entry.get("is_destructive"))]
    return True in marks or any(found.destructive is True for found in decisions.of(target))


def is_read_only(target: Target, catalogues: Catalogues) -> bool:
    entry = catalogues.entry(target) or {}
    return target.read_only is True or known(entry.get("is_read_only")) is True
