"""The platform's views, written from the chapter alone, show what every golden capture expects."""

import json

import pytest

from reference_runtime.lifecycles.book import Book
from reference_runtime.lifecycles.runagents.action_view import action_view
from reference_runtime.lifecycles.runagents.history import PROTOCOL, History
from reference_runtime.lifecycles.runagents.lines import learn, stamp
from reference_runtime.lifecycles.runagents.run_view import run_view
from reference_runtime.log.memory import MemoryStore
from tests.conformance.test_readmodels_runagents import GOLDEN, by_word

STORIES = sorted(path.stem for path in GOLDEN.glob("*.ndjson"))
STORED = {"blocked_action", "approval_request"}


def folded(story):
    """Every line of a capture that tells something, taken in through the tables of the book."""
    page, lines = Book(MemoryStore(), PROTOCOL, stamp).page(), {}
    for text in (GOLDEN / f"{story}.ndjson").read_text().splitlines():
        line = json.loads(text)
        if line.get("record", "run") == "run" or line.get("model") in STORED:
            learn(page, line, page.write(line))
            lines.setdefault(page.stream(line), []).append(line)
    return page, {run: History.of(told) for run, told in lines.items()}


@pytest.mark.parametrize("story", STORIES)
def test_every_view_and_every_state_is_as_expected(story):
    page, histories = folded(story)
    expected = json.loads((GOLDEN / f"{story}.readmodel.json").read_text())
    for view in expected["models"].get("run_view", []):
        run = page.get("run", view["run_id"])
        own = run_view(run.id, run.state, run.data.get("ended_at"), histories[run.id])
        assert by_word(own) == by_word(view)
    for view in expected["models"].get("action_view", []):
        name, run = view["action_id"], view["run_id"]
        own = action_view(name, run, page.state("blocked_action", name), histories[run])
        assert by_word(own) == by_word(view)
    found = {kind: {name: page.state(kind, name) for name in subjects} for kind, subjects in expected["states"].items()}
    assert found == expected["states"]
