"""Reports as text and data: pure functions from a report to a string."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from validator.renderers.json import render as _json
from validator.renderers.text import render as _text
from validator.report import Report

RENDERERS: dict[str, Callable[[Sequence[Report]], str]] = {"json": _json, "text": _text}
