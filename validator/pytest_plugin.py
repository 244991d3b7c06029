"""The pytest plugin: a fixture that collects what a runtime emits and judges it, at the latest when the test ends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


class RuntimeCapture:
    """A capture in the making."""

    def __init__(self) -> None:
        self._options: dict[str, Any] = {}
        self.lines: list[Any] = []
        self.judged = False

    def configure(self, **options: Any) -> None:
        """How it is to be judged: protocol, profile, expect and the other options of `assert_conformant`."""
        self._options.update(options)

    def add(self, *lines: Any) -> None:
        """Adds events or record lines, as objects or as text."""
        self.lines += lines
        self.judged = False

    def save(self, path: Path) -> Path:
        """Writes what was collected as a capture file."""
        texts = (line if isinstance(line, str) else json.dumps(line) for line in self.lines)
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        return path

    def assert_conformant(self, **options: Any) -> Any:
        """Judges what was collected so far."""
        __tracebackhide__ = True
        from validator.testing.asserts import assert_conformant  # loads the judge, which most tests do not need

        self.judged = True
        return assert_conformant(self.lines, **{**self._options, **options})


@pytest.fixture
def runtime_capture() -> Iterator[RuntimeCapture]:
    """Collects events; what a test collected and did not judge is judged when the test ends."""
    capture = RuntimeCapture()
    yield capture
    if capture.lines and not capture.judged:
        capture.assert_conformant()
