"""The replay's read models of the core equal the expected ones of every golden capture."""

import pytest

from validator import resources
from validator.capture.lines import read_lines
from validator.datafile import read_json
from validator.protocol.honest import is_honest
from validator.protocol.protocol import load_protocol
from validator.replay.readmodels import MODELS, ReadModels
from validator.replay.world import World

GOLDEN = resources.fixtures() / "agent-runtime" / "0.3" / "golden"
STORIES = sorted(path.name.removesuffix(".readmodel.json") for path in GOLDEN.glob("*.readmodel.json"))
FREE = ("freshness_reason",)
"""Free text that no clause derives."""


def replayed(story):
    world = World(load_protocol("agent-runtime/0.3"), [ReadModels])
    for number, line in read_lines(GOLDEN / f"{story}.ndjson"):
        world.apply(line, number)
    return world


def by_word(value):
    """A document with honest values reduced to their words, and without free text."""
    if is_honest(value):
        return f"<{value['honest']}>"
    if isinstance(value, dict):
        return {key: by_word(entry) for key, entry in value.items() if key not in FREE}
    return [by_word(entry) for entry in value] if isinstance(value, list) else value


def differences(expected, actual, pointer=""):
    """Where two documents differ: pointer, expected, actual."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in sorted(expected.keys() | actual.keys()):
            yield from differences(expected.get(key), actual.get(key), f"{pointer}/{key}")
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for index, (one, other) in enumerate(zip(expected, actual, strict=True)):
            yield from differences(one, other, f"{pointer}/{index}")
    elif expected != actual or type(expected) is not type(actual):
        yield pointer, expected, actual


def built(world, model, document):
    """The replay's document for the scope of another one."""
    asked = [document.get(name) if isinstance(document.get(name), str) else None for name in ("thread_id", "turn_id")]
    models, session = world.ledger(ReadModels), document["session_id"]
    if model == "tool_inventory_snapshot":
        return models.inventory_told(document, None, *asked, session)
    return models.build(model, *asked, session_id=session)


@pytest.mark.parametrize("story", STORIES)
def test_the_replay_tells_what_the_story_expects(story):
    world = replayed(story)
    found = []
    for model, documents in read_json(GOLDEN / f"{story}.readmodel.json")["models"].items():
        for document in documents:
            actual = built(world, model, document)
            found += [(model, *entry) for entry in differences(by_word(document), by_word(actual))]
    assert found == []


@pytest.mark.parametrize("story", STORIES)
def test_a_model_is_built_where_the_story_expects_it_and_nowhere_else(story):
    world = replayed(story)
    models = world.ledger(ReadModels)
    expected = read_json(GOLDEN / f"{story}.readmodel.json")["models"]
    threads = [document["thread_id"] for document in expected["thread_read_model"]]
    for model, entry in MODELS.items():
        scopes = [None] if "session" in entry.limits else threads
        assert any(models.build(model, thread) for thread in scopes) == (model in expected), model


HEAD = ("schema_version", "session_id", "as_of_sequence", "updated_at", "freshness", "freshness_reason")


def places(lines, protocol):
    """Every model in every scope that a story can be asked for."""
    carried = [protocol.lens.scope(line) for _, line in lines]
    threads = dict.fromkeys(ids["thread_id"] for ids in carried if "thread_id" in ids)
    turns = {ids["turn_id"]: ids.get("thread_id") for ids in carried if "turn_id" in ids}
    for model, entry in MODELS.items():
        yield from [(model, None, None)] if "session" in entry.limits else ()
        yield from ((model, thread, None) for thread in threads if "thread" in entry.limits)
        yield from ((model, thread, turn) for turn, thread in turns.items() if "turn" in entry.limits)


@pytest.mark.parametrize("story", STORIES)
def test_a_document_is_as_old_as_its_last_change(story):
    protocol = load_protocol("agent-runtime/0.3")
    lines = list(read_lines(GOLDEN / f"{story}.ndjson"))
    world = World(protocol, [ReadModels])
    models, asked, last = world.ledger(ReadModels), list(places(lines, protocol)), {}
    for number, line in lines:
        step = world.apply(line, number)
        for place in asked if step.kind == "event" and step.repeats is None else ():
            document = models.build(*place)
            body = {name: value for name, value in (document or {}).items() if name not in HEAD}
            if document and last.get(place, (None,))[0] != body:
                last[place] = (body, line["timestamp"])
            if document and world.unproved() is None:
                assert document["updated_at"] == last[place][1], (place, number)


@pytest.mark.parametrize("story", STORIES)
def test_every_document_fits_its_schema_halfway_and_at_the_end(story):
    protocol = load_protocol("agent-runtime/0.3")
    lines = list(read_lines(GOLDEN / f"{story}.ndjson"))
    world = World(protocol, [ReadModels])
    for number, line in lines:
        world.apply(line, number)
        for model, *scope in places(lines, protocol) if number in {len(lines) // 2, len(lines)} else ():
            document = world.ledger(ReadModels).build(model, *scope)
            errors = protocol.store.errors(protocol.snapshots[model], document) if document else []
            assert errors == [], (model, scope, number)


def test_the_comparison_can_fail():
    stale, unknown = ({"honest": word, "reason": "r"} for word in ("stale", "unknown"))
    assert list(differences(by_word({"a": [1, {"b": stale}]}), by_word({"a": [1, {"b": unknown}]}))) == [
        ("/a/1/b", "<stale>", "<unknown>")
    ]
    assert [pointer for pointer, *_ in differences({"a": [1], "b": True}, {"a": [1, 2], "b": 1})] == ["/a", "/b"]
