"""What stops us, as opposed to what a capture did wrong (that is a finding).

| step                                            | raises            |
|-------------------------------------------------|-------------------|
| loading schemas, tables, profiles, clauses      | `DefinitionError` |
| reading a capture or a fixture                  | `CaptureError`    |
| understanding what the user asked for           | `UsageError`      |

Fields come first; the text is built from them in `__str__`, so that a caller can render its own.
"""

from __future__ import annotations


class RuntimeValidateError(Exception):
    """The root of everything this project raises on purpose."""

    def __init__(self, reason: str, *, source: str | None = None, place: str | None = None, hint: str | None = None):
        super().__init__(reason)
        self.reason = reason
        self.source = source
        self.place = place
        self.hint = hint

    def __str__(self) -> str:
        where = ", ".join(part for part in (self.source, self.place) if part)
        text = f"{where}: {self.reason}" if where else self.reason
        return f"{text}\n  hint: {self.hint}" if self.hint else text


class DefinitionError(RuntimeValidateError):
    """Our own data (a schema, a table, a profile, a chapter) is wrong."""


class CaptureError(RuntimeValidateError):
    """A capture or fixture cannot be read at all."""


class UsageError(RuntimeValidateError):
    """The request itself makes no sense: an unknown protocol, an unknown name, a missing file."""
