"""The snapshot law held against every golden capture: what the replay says is accepted, and any other word is found."""

import io
import json

import pytest

from validator import resources
from validator.datafile import read_json
from validator.engine import Options, validate
from validator.protocol.honest import WORDS, is_honest
from validator.protocol.protocol import load_protocol
from validator.protocol.view import view
from validator.replay.readmodels import ReadModels
from validator.replay.world import World
from validator.testing.mutators.free import ELSEWHERE, NOT_WHOLE, PARTLY, settled

PROTOCOLS = ("agent-runtime/0.3", "agenthub/1", "agent-threads/1", "runagents/1")
STORIES = [
    (name, path.name.removesuffix(".readmodel.json"))
    for name in PROTOCOLS
    for path in sorted((resources.fixtures() / name / "golden").glob("*.readmodel.json"))
]
OWNERS = {
    "agenthub": ("AHB029",),
    "agent-threads": ("ATH017", "ATH018", "ATH019", "ATH020", "ATH021", "ATH024"),
    "runagents": ("RAG025", "RAG026"),
}
"""Rules of the dialects that judge some fields of their views."""
VALUES, LISTS = 16, 4
"""How many places of a story are skewed, and how many of its lists shortened; other places in each story."""


def golden(name, story):
    return (resources.fixtures() / name / "golden" / f"{story}.ndjson").read_bytes()


def served(name, story):
    """The expected documents of a story, each with its model."""
    models = read_json(resources.fixtures() / name / "golden" / f"{story}.readmodel.json")["models"]
    return [(model, document) for model, documents in models.items() for document in documents]


def line(model, document):
    return json.dumps({"record": "snapshot", "model": model, "snapshot": document}).encode() + b"\n"


def judge(name, data):
    """Judges by the rules about snapshots alone: this family, and those of a dialect that own some fields."""
    wishes = Options(protocol=name, max_findings_per_rule=10**6, select=("SNP", *OWNERS.get(name.split("/")[0], ())))
    return validate(io.BytesIO(data), "story", wishes)


@pytest.mark.parametrize(("name", "story"), STORIES)
def test_what_the_replay_says_is_no_finding(name, story):
    data = golden(name, story) + b"".join(line(*entry) for entry in served(name, story))
    report = judge(name, data)
    assert [(found.rule, found.line, found.pointer) for found in report.findings] == []
    assert report.crashes == ()
    assert story in NOT_WHOLE or report.looks.get("SNP001") or report.looks.get("SNP024")


def leaves(value, path=()):
    """Every place that holds a plain value."""
    if is_honest(value) or value is None:
        return
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from leaves(entry, (*path, key))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from leaves(entry, (*path, index))
    else:
        yield path


def changed(document, path, value):
    copied = json.loads(json.dumps(document))
    place = copied
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return copied


def candidates(protocol, model, path, value):
    """Other values for a place: another word of its enum, another time, another id, another number."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1]
    place = view(protocol.store, protocol.snapshots[model])
    for step in path:
        place = place.items() if isinstance(step, int) else place.properties().get(step, place)
    words = [word for word in place.first("enum") or () if word not in (*WORDS, value)]
    return [*words, f"{value}x", "2001-01-01T00:00:00.000Z"]


def skewed(protocol, model, document, path):
    """The document with one value changed, still of its shape; None when every other value breaks the shape."""
    value = document
    for step in path:
        value = value[step]
    for other in candidates(protocol, model, path, value):
        copied = changed(document, path, other)
        if not protocol.store.errors(protocol.snapshots[model], copied):
            return copied
    return None


def sample(places, most, story):
    """So many of the places, spread evenly, beginning elsewhere in each story."""
    stride = max(1, -(-len(places) // most))
    return places[len(story) % stride :: stride]


def documents(name, story):
    """The documents of a story that this family judges, with their models."""
    dialect = name.split("/")[0]
    return [(model, document) for model, document in served(name, story) if (dialect, model) not in ELSEWHERE]


def skews(name, story, most=VALUES):
    """Sampled places of the documents, each with its document skewed there."""
    protocol, dialect = load_protocol(name), name.split("/")[0]
    places = [
        (model, document, path)
        for model, document in documents(name, story)
        for path in leaves(settled(dialect, model, document))
    ]
    for model, document, path in sample(places, most, story):
        other = skewed(protocol, model, document, path)
        if other is not None:
            yield model, path, other


def lists(value, path=()):
    """Every place that holds a list with entries."""
    if isinstance(value, list) and value:
        yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in pairs:
        yield from lists(entry, (*path, key))


def shortened(name, story, most=LISTS):
    """Sampled lists of the documents, each with its document without the last entry there."""
    dialect = name.split("/")[0]
    places = [
        (model, document, path)
        for model, document in documents(name, story)
        for path in lists(settled(dialect, model, document))
        if path != PARTLY.get((dialect, model), ((),))[:1]
    ]
    for model, document, path in sample(places, most, story):
        value = document
        for step in path:
            value = value[step]
        yield model, path, changed(document, path, value[:-1])


WHOLE = [entry for entry in STORIES if entry[1] not in NOT_WHOLE]


@pytest.mark.parametrize(("name", "story"), WHOLE)
def test_any_other_value_and_any_missing_entry_is_found(name, story):
    cases = [*skews(name, story), *shortened(name, story)]
    base = golden(name, story)
    first = base.count(b"\n") + 1
    report = judge(name, base + b"".join(line(model, document) for model, _, document in cases))
    found = {entry.line for entry in report.findings}
    missed = [(model, path) for at, (model, path, _) in enumerate(cases, first) if at not in found]
    assert missed == []
    assert report.crashes == ()


def halfway(story):
    """A sequence in the middle of a story, and each of its documents as the replay has it there and at the end."""
    name = "agent-runtime/0.3"
    world = World(load_protocol(name), [ReadModels])
    lines = [json.loads(text) for text in golden(name, story).splitlines()]
    for number, document in enumerate(lines[: len(lines) // 2], 1):
        world.apply(document, number)
    for model, late in served(name, story):
        scope = [late.get(key) if isinstance(late.get(key), str) else None for key in ("thread_id", "turn_id")]
        early = world.ledger(ReadModels).build(model, *scope, session_id=late["session_id"])
        if early is not None:
            yield model, early, {**late, "as_of_sequence": early["as_of_sequence"]}


@pytest.mark.parametrize("story", ["happy-path", "task-board", "queue"])
def test_a_snapshot_that_comes_late_is_compared_with_the_sequence_it_claims(story):
    name, cases = "agent-runtime/0.3", list(halfway(story))
    early = b"".join(line(model, document) for model, document, _ in cases)
    late = b"".join(line(model, document) for model, _, document in cases)
    report = judge(name, golden(name, story) + early)
    assert [(found.rule, found.line, found.pointer) for found in report.findings] == []
    assert report.looks["SNP001"] == len(cases)
    found = judge(name, golden(name, story) + late).findings
    changed_since = [model for model, one, other in cases if one["updated_at"] != other["updated_at"]]
    assert len({entry.line for entry in found}) == len(changed_since) > 0
