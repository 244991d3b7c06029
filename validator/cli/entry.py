"""The way in: words that only name captures are judged at once, all others are left to the group of commands."""

from __future__ import annotations

import os
import sys

from validator.errors import RuntimeValidateError

NAME = "runtime-validate"
COMMANDS = (
    "check",
    "baseline",
    "certify",
    "completion",
    "diff",
    "explain",
    "follow",
    "replay",
    "requirements",
    "rules",
    "schema",
    "selftest",
    "spec",
)
DEFAULT = "check"
_COMPLETION = "_RUNTIME_VALIDATE_COMPLETE"
"""Set by a shell that asks how a command line may go on."""
_SHORT = 1 << 17
"""Bytes of captures below which a library takes longer to load than it saves."""
_COMPRESSED = (".gz", ".zst")


def run() -> None:
    """Answers the command line: what stops us becomes one message and exit code 2, never a traceback."""
    from validator.cli import failure, output

    # Whoever closes standard output wants the exit code, and the files asked for.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open to the end
    failure.speak(failure.format_asked_for(sys.argv[1:]))
    try:
        with output.told():
            code = _answer()
        sys.exit(code)
    except KeyboardInterrupt:
        failure.interrupted()
    except RuntimeValidateError as error:
        failure.refuse(error)
    except Exception as error:  # our own fault, told without the text that may quote a capture
        failure.crashed(error)


def _answer() -> int:
    paths = captures(sys.argv[1:])
    if not paths:
        from validator.cli.group import answer  # to load what reads options takes as long as all that judges a line

        return answer()
    if _are_short(paths):
        from validator.capture import native

        native.spare()
    from validator.cli.verdict import give
    from validator.cli.wishes import day, settings

    return give(paths, settings({}, None), day(None))


def captures(words: list[str]) -> tuple[str, ...]:
    """The captures that a command line asks to judge, if it asks for nothing else; else none."""
    if _COMPLETION in os.environ or os.name == "nt":  # there, patterns are expanded before they are read
        return ()
    if words and words[0] in COMMANDS:
        words = words[1:] if words[0] == DEFAULT else []
    return () if any(word.startswith("-") for word in words) else tuple(words)


def _are_short(paths: tuple[str, ...]) -> bool:
    try:
        return all(os.path.isfile(path) and not path.endswith(_COMPRESSED) for path in paths) and (
            sum(map(os.path.getsize, paths)) < _SHORT
        )
    except (OSError, ValueError):  # whoever opens them says what is wrong
        return False
