"""Assertions for the tests of a runtime: its events conform, or the message says what is wrong and how to fix it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from validator.engine import Options, Validator, check_options
from validator.renderers import render
from validator.report import Report
from validator.run import Run


def judge(events: Iterable[Any] | Path | bytes, name: str = "events", **options: Any) -> Report:
    """The report on events (objects, lines of text or bytes), on a file, or on the bytes of a capture."""
    wishes = Options(**_plain(options))
    check_options(wishes)
    validator = Validator(events.name if isinstance(events, Path) else name, wishes)
    if isinstance(events, Path):
        validator.feed(events.read_bytes())
    elif isinstance(events, bytes):
        validator.feed(events)
    else:
        for event in events:
            validator.feed(event if isinstance(event, str | bytes) else json.dumps(event, ensure_ascii=True))
    return validator.close()


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    """Options as the judge wants them: lists may stand for tuples, and levels may be small letters."""
    found = {key: tuple(value) if isinstance(value, list | set) else value for key, value in options.items()}
    if "fail_on" in found:
        found["fail_on"] = str(found["fail_on"]).upper()
    return found


def assert_conformant(events: Iterable[Any] | Path | bytes, protocol: str | None = None, **options: Any) -> Report:
    """Passes when the events conform; otherwise fails with the report a person would read.

    Options are those of `validator.Options`: profile, expect ("prefix" for a run that goes on), select, ignore,
    fail_on, canaries. What is incomplete does not conform: not seen is never passed.
    """
    __tracebackhide__ = True
    report = judge(events, protocol=protocol, **options)
    if report.exit_code != 0:
        raise AssertionError("\n" + render("text", Run((report,))))
    return report
