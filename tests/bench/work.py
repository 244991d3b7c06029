"""How much work a verdict is, without a clock: the lines of our own code that it runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

import validator
from validator.engine import Validator

_HOME = str(Path(validator.__file__).parent)


def work(events: Iterable[dict[str, Any]]) -> int:
    """How many lines of our code a verdict about some events runs, once the process has judged the like."""
    written = [json.dumps(event) for event in events]
    _judge(written)
    return lines_run(lambda: _judge(written))


def lines_run(act: Callable[[], object], home: str = _HOME) -> int:
    """How many lines of the code below a folder something runs."""
    count = 0

    def count_line(_frame: FrameType, _kind: str, _argument: object) -> Any:
        nonlocal count
        count += 1
        return count_line

    def enter(frame: FrameType, _kind: str, _argument: object) -> Any:
        return count_line if frame.f_code.co_filename.startswith(home) else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


def _judge(lines: list[str]) -> None:
    judge = Validator()
    for line in lines:
        judge.feed(line)
    judge.close()
