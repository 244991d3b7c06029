"""How a command ends that does not end well: a message for people, one JSON line for machines, and the exit code."""

from __future__ import annotations

import sys

from validator.errors import RuntimeValidateError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_WORDS = {1: "violations", 2: "rule-crashed", 3: "incomplete", 4: "unreadable", 130: "interrupted"}
_spoken = {"format": "text"}


def speak(form: str) -> None:
    """From here on, errors are also told in the way that fits this format."""
    _spoken["format"] = form


def format_asked_for(words: list[str]) -> str:
    """The format named on a command line that may not even parse."""
    for index, word in enumerate(words):
        if word.startswith("--format="):
            return word.partition("=")[2]
        if word == "--format" and index + 1 < len(words):
            return words[index + 1]
    return "text"


def leave(code: int, message: str, word: str | None = None) -> NoReturn:
    """Exits with a code; what is not 0 is told to machines as one line."""
    if code:
        _line(word or _WORDS[code], code, message)
    sys.exit(code)


def refuse(error: RuntimeValidateError) -> NoReturn:
    """Exits with 2, saying what stops us."""
    _say(f"error: {error}")
    _line(error.code, 2, error.reason, error.source, error.place, error.hint)
    sys.exit(2)


def interrupted() -> NoReturn:
    """Exits with 130: somebody wanted no answer any more."""
    _say("interrupted")
    leave(130, "interrupted before anything was judged")


def _say(text: str) -> None:
    import click  # it is loaded when something goes wrong, and by every other command

    click.echo(text, err=True)


def _line(word: str, code: int, message: str, *more: str | None) -> None:
    from validator.renderers import MACHINE_FORMATS

    if _spoken["format"] not in MACHINE_FORMATS:
        return
    import json

    source, place, hint = (*more, None, None, None)[:3]
    line = {
        "error": word,
        "exit_code": code,
        "message": " ".join(message.split()),
        "source": source,
        "place": place,
        "hint": hint,
    }
    _say(json.dumps(line, ensure_ascii=False))


def crashed(error: Exception) -> NoReturn:
    """Our own fault: its kind and place, never its text, which may hold what a capture said."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    module = trace.tb_frame.f_globals.get("__name__", "?") if trace else "?"
    message = f"{type(error).__name__} in {module}, line {trace.tb_lineno if trace else 0}"
    _say(f"error: internal: {message}; please report it")
    _line("internal", 2, message)
    sys.exit(2)
