"""The verdict on captures: judged, shown, written where it was asked for, and told by the exit code."""

from __future__ import annotations

import os

from validator.cli import failure, judge, output, shelf
from validator.protocol.keep import shipped
from validator.renderers import render
from validator.renderers.headline import headline
from validator.run import Run
from validator.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def give(
    paths: tuple[str, ...],
    wishes: Settings,
    as_of: str,
    color: str = "auto",
    subset: bool = False,
    statistics: bool = False,
) -> NoReturn:
    """Judges captures and leaves with the code of what they amount to."""
    files = output.targets(wishes["out"])
    run = judge.run(paths, wishes, as_of, subset)
    for form, path in files:
        output.write(path, render(form, run))
    output.show(_counted(run, wishes) if statistics else _rendered(run, wishes, color))
    _summarise(run, wishes)
    shipped().flush()
    shelf.flush()
    leave(run)


def _counted(run: Run, wishes: Settings) -> str:
    from validator.renderers.statistics import render as render_statistics  # seldom asked for

    return render_statistics(run, wishes["format"])


def _rendered(run: Run, wishes: Settings, color: str) -> str:
    return render(wishes["format"], run, output.look(os.environ, color))


def _summarise(run: Run, wishes: Settings) -> None:
    """Under GitHub Actions, what the annotations leave out stands in the step's summary."""
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if wishes["format"] == "github" and summary:
        from pathlib import Path

        output.append(Path(summary), render("markdown", run))


def leave(run: Run) -> NoReturn:
    """Exits with the run's code."""
    only_notes = run.exit_code == 1 and not run.counting()
    failure.leave(run.exit_code, headline(run), "configuration-findings" if only_notes else None)
