"""When a document last changed, watched piece by piece, is when it last differed from itself as a whole."""

import random

import pytest

from reference_runtime.__main__ import main
from tests.properties.streams import lines_of
from validator import resources
from validator.protocol.protocol import load_protocol
from validator.replay.readmodels import MODELS, ReadModels
from validator.replay.readmodels.agent_runtime import watch
from validator.replay.readmodels.agent_runtime.models import limited
from validator.replay.readmodels.agent_runtime.records import cloned
from validator.replay.readmodels.agent_runtime.scope import SESSION
from validator.replay.readmodels.agent_runtime.tasks import Tasks
from validator.replay.world import World

CORE = "agent-runtime/0.3"
FIXTURES = resources.fixtures() / CORE
GOLDEN = sorted((FIXTURES / "golden").glob("*.ndjson"))
CUT = "near-cut-answer"
"""A stream of which a line cannot be read."""
RULES = sorted(path for path in (FIXTURES / "rules").rglob("*.ndjson") if not path.parent.name.startswith("FRM"))
DRAWN = 30
"""Streams that are drawn from the golden captures and damaged."""
LATE = 1206
"""One more of them: a job comes to a thread, and long afterwards an event brings all that belongs there."""


class Slow:
    """The definition itself: every document is built after every event and compared with what it was before."""

    def __init__(self, models):
        self._models = models
        self._last = {}

    def event(self, time):
        """Notes what differs after an event."""
        for place, body in self._bodies():
            if place not in self._last or self._last[place][0] != body:
                self._last[place] = (body, time)

    def answer(self):
        """Takes documents as they are: an answer to a command is no event."""
        for place, body in self._bodies():
            if place in self._last:
                self._last[place] = (body, self._last[place][1])

    def _bodies(self):
        for session, thread, turn in list(self._models.places()):
            facts = self._models._sessions[session].facts
            facts._entries.clear()
            for model in MODELS:
                scope = limited(model, thread, turn)
                asked = scope is not None and (scope.thread or scope.turn or not thread)
                if asked and (body := MODELS[model].build(facts, scope)) is not None:
                    yield (session, model, scope), cloned(body)
            for task in facts.introduced.get("task", {}) if thread is None and turn is None else ():
                yield (session, "task", task), cloned(facts.of(Tasks).body(task))

    def times(self):
        return {place: time for place, (_, time) in self._last.items()}


def watched(models, place):
    """The time that the replay tells for a document or for the record of a task."""
    session, model, key = place
    if model == "task":
        return models._sessions[session].facts.of(Tasks).tasks[key].updated_at
    return models._sessions[session].watch.times.get((model, key.narrowest))


def disagreement(lines):
    """The first line after which the two differ, and where they do."""
    world = World(load_protocol(CORE), [ReadModels])
    models = world.ledger(ReadModels)
    slow = Slow(models)
    for number, line in enumerate(lines, start=1):
        step = world.apply(line, number)
        assert not world._failed, (number, world._failed)
        if step.repeats is not None:
            continue
        if step.kind != "event":
            slow.answer()
        elif step.type in world.protocol.events:
            slow.event(line.get("timestamp"))
            wrong = {place: time for place, time in slow.times().items() if watched(models, place) != time}
            if wrong:
                return number, {place: (watched(models, place), time) for place, time in wrong.items()}
    return None


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_golden_capture_changes_when_the_definition_says(path):
    assert disagreement(lines_of(path)) is None


@pytest.mark.parametrize("family", sorted({path.parent.name[:3] for path in RULES}))
def test_the_streams_of_rules_change_when_the_definition_says(family):
    for path in RULES:
        if path.parent.name.startswith(family) and path.stem != CUT:
            assert disagreement(lines_of(path)) is None, path


def test_the_captures_of_the_runtime_change_when_the_definition_says(tmp_path):
    assert main(["demo", "--captures", str(tmp_path)]) == 0
    captures = sorted(tmp_path.glob("*.ndjson"))
    assert captures
    for path in captures:
        assert disagreement(lines_of(path)) is None, path.name


def tangled(seed):
    """Two golden captures in one session: events lose their thread, or carry an id of another event."""
    draw = random.Random(seed)
    stories = [[line for line in lines_of(path) if "record" not in line] for path in draw.sample(GOLDEN, 2)]
    lines = []
    while any(stories):
        story = draw.choice([story for story in stories if story])
        lines.append(dict(story.pop(0)))
    ids = [(name, value) for line in lines for name, value in line.items() if name.endswith("_id")]
    for number, line in enumerate(lines, start=1):
        line.update(event_id=f"e{number}", sequence=number, session_id="ses_1", timestamp=f"t{number}")
        if draw.random() < 0.2:
            line.pop("thread_id", None)
        if draw.random() < 0.1:
            line.update([draw.choice([entry for entry in ids if entry[0] not in {"event_id", "session_id"}])])
    return lines


@pytest.mark.parametrize("seed", [*range(DRAWN), LATE])
def test_a_tangled_capture_changes_when_the_definition_says(seed):
    assert disagreement(tangled(seed)) is None


def test_the_comparison_can_fail(monkeypatch):
    monkeypatch.setattr(watch.Watch, "after", lambda *_: None)
    number, wrong = disagreement(lines_of(GOLDEN[0]))
    assert number == next(place for place, line in enumerate(lines_of(GOLDEN[0]), start=1) if "record" not in line)
    assert ("ses_1", "session_snapshot", SESSION) in wrong
