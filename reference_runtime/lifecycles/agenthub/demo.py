"""Stories of AgentHub runs, played by `reference-runtime demo`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from reference_runtime.capture import Capture
from reference_runtime.lifecycles.agenthub import ended_stories, working_stories
from reference_runtime.lifecycles.agenthub.stage import Stage
from reference_runtime.log.base import Store
from reference_runtime.scripts.coverage import Played

Play = Callable[[Callable[[], Store], Capture], Played]


def stories() -> Iterator[tuple[str, str, Play]]:
    """Every story: its name, its title, and how it is played."""
    told = [*working_stories.STORIES, *ended_stories.STORIES]
    for number, story in enumerate(told, 1):
        name = story.__name__.replace("_", "-")
        yield f"{number:02d}-{name}", str(story.__doc__).strip().rstrip("."), _playing(story)


def _playing(story: Callable[[Stage], None]) -> Play:
    def play(open_store: Callable[[], Store], capture: Capture) -> Played:
        stage = Stage(open_store, capture)
        story(stage)
        stage.close()
        return stage.played

    return play
