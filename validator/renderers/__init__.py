"""Reports as text and data: one file per format, each a pure function from a run to a string."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from validator.renderers.look import PLAIN, Look

if TYPE_CHECKING:  # whoever only asks for the names of the formats loads no judge
    from validator.run import Run

FORMATS = ("text", "concise", "json", "ndjson", "sarif", "junit", "github", "gitlab", "markdown")
MACHINE_FORMATS = ("json", "ndjson", "sarif", "junit", "gitlab")


def render(form: str, run: Run, look: Look = PLAIN) -> str:
    """A run in one of the formats."""
    return importlib.import_module(f"validator.renderers.{form}").render(run, look)
