"""Reports as text and data: one file per format, each a pure function from a run to a string."""

from __future__ import annotations

import importlib

from validator.renderers.look import PLAIN, Look

TYPE_CHECKING = False
if TYPE_CHECKING:  # whoever only asks for the names of the formats loads no judge
    from validator.run import Run

FORMATS = ("text", "concise", "json", "ndjson", "sarif", "junit", "github", "gitlab", "markdown")
MACHINE_FORMATS = ("json", "ndjson", "sarif", "junit", "gitlab")
_ESCAPING = ("json", "ndjson", "sarif", "gitlab")
"""JSON escapes control characters by itself."""


def render(form: str, run: Run, look: Look = PLAIN) -> str:
    """A run in one of the formats; none holds a control character that could act on what shows it."""
    if form not in _ESCAPING:
        run = importlib.import_module("validator.renderers.printable").printable_run(run)
    return importlib.import_module(f"validator.renderers.{form}").render(run, look)
