"""The views of the dialects as the lines before them tell them."""

from __future__ import annotations

from validator.protocol.honest import is_honest
from validator.records import dataclass
from validator.replay.readmodels.words import number, word
from validator.replay.step import Step
from validator.replay.world import World

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Told:
    """What the lines tell of one subject, and where they stand."""

    kind: str
    key: str
    view: dict[str, Any]
    last: int | None
    """The sequence of the last event about it."""
    whole: bool = True
    """The capture holds its beginning; else only what is missing from a view can be told."""


class Views:
    """Builds the view that a snapshot line of a dialect has to equal; one view of each kind serves all rules."""

    forgets = ("runs", "actions", "requests", "asked")

    def __init__(self, world: World):
        self._world = world
        self._name = world.protocol.name
        self._built = [kind(world) for kind in _kinds(self._name)]
        self.hears = None if self._built else ()
        # What the views keep of runs and actions is theirs; here it is named, so that it is forgotten with them.
        first, second = [*self._built, None, None][:2]
        self.runs = {} if first is None else first.kept_runs
        self.actions, self.requests, self.asked = second.kept if second is not None else ({}, {}, {})

    def built(self, kind: type[V]) -> V:
        """The views of one kind."""
        return next(ledger for ledger in self._built if type(ledger) is kind)

    def apply(self, step: Step) -> None:
        for ledger in self._built:
            ledger.apply(step)

    def told(self, model: str | None, document: dict[str, Any]) -> Told | None:
        """What the lines tell; None when they tell nothing, or some of them are lost."""
        if self._world.unproved(_named(document)) is not None or (model, self._name) not in _TELLERS:
            return None
        return _TELLERS[model, self._name](self._world, self._built, document)


def _kinds(protocol: str) -> list[Any]:
    """The views that a dialect has; those of the others are not loaded."""
    if protocol == "agenthub":
        from validator.replay.readmodels.agenthub import RunViews

        return [RunViews]
    if protocol == "runagents":
        from validator.replay.readmodels import runagents

        return [runagents.RunViews, runagents.ActionViews]
    return []


def _named(document: dict[str, Any]) -> dict[str, str]:
    """The ids by which a document can be told from those of other streams."""
    run = word(document, "run_id") or word(document, "runId")
    return {"run_id": run, "stream_id": f"run:{run}"} if run else {}


def _agenthub_run(world: World, built: list[Any], document: dict[str, Any]) -> Told | None:
    run = word(document, "runId")
    if run not in built[0].run_ids:
        return None
    view = built[0].build(run)
    # AgentHub counts from anywhere; that the beginning was seen shows in what only the beginning tells.
    return Told("run", run, view, number(view, "lastSequence"), not is_honest(view["createdAt"]))


def _runagents_run(world: World, built: list[Any], document: dict[str, Any]) -> Told | None:
    run = word(document, "run_id")
    if run is None or world.state("run", run) is None:
        return None
    view = built[0].build(run)
    whole = bool(view["events"]) and number(view["events"][0], "seq") == 1
    return Told("run", run, view, number(view["last_event"], "seq"), whole)


def _runagents_action(world: World, built: list[Any], document: dict[str, Any]) -> Told | None:
    action = word(document, "action_id")
    if action is None or world.midway(_named(document)) or world.state("blocked_action", action) is None:
        return None
    return Told("blocked_action", action, built[1].build(action), None)


def _threads_run(world: World, built: list[Any], document: dict[str, Any]) -> Told | None:
    from validator.replay.readmodels.agent_threads import Runs

    run, runs = word(document, "runId"), world.ledger(Runs)
    if run is None or world.midway(_named(document)) or runs.record(run) is None:
        return None
    view = runs.run_view(run)
    return Told("run", run, view, number(view, "lastSeq"))


_TELLERS = {
    ("run_view", "agenthub"): _agenthub_run,
    ("run_view", "runagents"): _runagents_run,
    ("action_view", "runagents"): _runagents_action,
    ("run_view", "agent-threads"): _threads_run,
}
