"""What stops us, as opposed to what a capture did wrong (that is a finding).

| step                                            | raises               |
|-------------------------------------------------|----------------------|
| loading schemas, tables, profiles, clauses      | `DefinitionError`    |
| reading a capture or a fixture                  | `CaptureError`       |
| understanding what the user asked for           | `UsageError`         |
| reading a configuration file                    | `ConfigurationError` |
| reading a baseline                              | `BaselineError`      |
| writing a report                                | `OutputError`        |

Fields come first; the text is built from them in `__str__`, so that a caller can render its own.
"""

from __future__ import annotations


class RuntimeValidateError(Exception):
    """The root of everything this project raises on purpose."""

    code = "internal"
    """A stable word for machines; `schemas/report/1/error.schema.json` lists them."""

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

    code = "bad-definition"


class CaptureError(RuntimeValidateError):
    """A capture or fixture cannot be read at all."""

    code = "cannot-read"


class UsageError(RuntimeValidateError):
    """The request itself makes no sense: an unknown protocol, an unknown name, a missing file."""

    code = "bad-usage"


class ConfigurationError(UsageError):
    """A configuration file cannot be read or says something that makes no sense."""

    code = "bad-configuration"


class BaselineError(UsageError):
    """A baseline is missing, malformed, or would grow unasked."""

    code = "bad-baseline"


class OutputError(RuntimeValidateError):
    """A report cannot be written; nothing half-written is left behind."""

    code = "cannot-write"
