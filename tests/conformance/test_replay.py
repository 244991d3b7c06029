"""What `replay` prints at the end of a golden capture is what stands beside it, and fits the published schemas."""

import json

import pytest

from validator import resources
from validator.datafile import read_json
from validator.protocol.honest import is_honest
from validator.renderers.replay import as_data, render_json, render_text
from validator.replay.run import Options, replay

GOLDEN = sorted(resources.fixtures().rglob("golden/*.ndjson"))
FREE = ("freshness_reason",)
"""Free text that no clause derives."""


def replayed(path, **options):
    with path.open("rb") as stream:
        return replay(stream, Options(**options), path.name)


def worded(value):
    """A document with honest values reduced to their words, and without free text."""
    if is_honest(value):
        return {"honest": value["honest"]}
    if isinstance(value, dict):
        return {key: worded(entry) for key, entry in value.items() if key not in FREE}
    return [worded(entry) for entry in value] if isinstance(value, list) else value


def named(path):
    return f"{path.parts[-4]}-{path.stem}"


@pytest.mark.parametrize("path", GOLDEN, ids=named)
def test_the_end_is_what_the_story_expects(path):
    found = as_data(replayed(path, every_scope=True))
    expected = read_json(path.with_name(f"{path.stem}.readmodel.json"))
    assert found["states"] == expected["states"]
    assert found["refused_moves"] == 0
    for model, documents in expected.get("models", {}).items():
        shown = [worded(document) for document in found["models"][model]]
        for document in documents:
            # A branch that a caller selects by hand is no document of the capture.
            if not isinstance(document.get("branch"), dict):
                assert worded(document) in shown


@pytest.mark.parametrize("path", GOLDEN, ids=named)
def test_the_output_fits_its_schema_and_each_document_that_of_its_model(path):
    result = replayed(path, every_scope=True)
    data, store = json.loads(render_json(result)), result.protocol.store
    assert store.errors("replay/1/replay.schema.json", data) == []
    for model, documents in data["models"].items():
        for document in documents:
            assert store.errors(result.protocol.snapshots[model], document) == []


@pytest.mark.parametrize("path", GOLDEN, ids=named)
def test_the_text_names_every_subject_with_its_state(path):
    result = replayed(path)
    lines = render_text(result).splitlines()
    for subjects in result.states.values():
        for key, state in subjects.items():
            assert any(line.startswith(f"  {key}: {state}") for line in lines)
