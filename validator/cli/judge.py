"""One judging pass for the commands that need one, with a progress bar where somebody can see it."""

from __future__ import annotations

import os
import sys

from validator.acceptance import settle
from validator.capture.sources import STDIN, expand
from validator.errors import UsageError
from validator.judging import Judged, judge
from validator.run import Run
from validator.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from validator.baseline import Baseline

LONG = 1 << 20
"""Bytes from which a progress bar is worth its line."""


def judge_all(paths: tuple[str, ...], settings: Settings, every_finding: bool = False) -> Judged:
    """The reports of all captures that the paths name."""
    if not paths:
        hint = "give a file, a folder, a pattern, or - for standard input"
        raise UsageError("no capture was named", hint=hint)
    files = expand(paths)
    options = settings.options(every_finding)
    size = sum(os.path.getsize(file) for file in files if file != STDIN and os.path.isfile(file))
    if size < LONG or not sys.stderr.isatty():
        return judge(files, options, settings["jobs"])
    import click  # a short capture needs no bar

    with click.progressbar(length=size, label="judging", file=sys.stderr, show_pos=False) as bar:
        return judge(files, options, settings["jobs"], bar.update)


def run(paths: tuple[str, ...], settings: Settings, as_of: str, subset: bool = False) -> Run:
    """The same with suppressions and the baseline applied."""
    baseline = _baseline(settings["baseline"]) if settings["baseline"] else None
    return settle(judge_all(paths, settings), settings, baseline, as_of, subset)


def _baseline(name: str) -> Baseline:
    from pathlib import Path

    from validator import baseline

    return baseline.load(Path(name))
