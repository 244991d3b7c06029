"""Judges captures with and without the short way for streamed text."""

from __future__ import annotations

import io
from typing import Any

from validator.engine import Options, validate
from validator.report import Report


def judged(monkeypatch: Any, data: bytes, mode: str, options: Options | None = None) -> Report:
    """The report of a capture, of the core unless it is said otherwise, in one mode of the fast path."""
    monkeypatch.setenv("RUNTIME_VALIDATE_FAST", mode)
    return validate(io.BytesIO(data), "x", options or Options(protocol="agent-runtime"))
