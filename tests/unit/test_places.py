"""A fault of shape is told under the clause that its place belongs to."""

from __future__ import annotations

import shutil

import pytest
import yaml

from validator import load_protocol, resources
from validator.places import clause_at, load_places
from validator.requirements import problems

PLACES = (("/data", False, "X-2"), ("/data/id", True, "X-3"), ("/data", True, "X-1"))


@pytest.mark.parametrize(
    ("pointer", "clause"),
    [("/data", "X-2"), ("/data/other", "X-1"), ("/data/id/0/deeper", "X-3"), ("/data/0/id", "X-3"), ("/date", None)],
)
def test_the_narrowest_place_counts_and_numbers_do_not(pointer, clause):
    rows = tuple(sorted(PLACES, key=lambda row: (-len(row[0]), row[1])))
    assert clause_at(rows, pointer) == clause


def test_a_pattern_means_every_kind_it_fits():
    places = load_places(load_protocol("agenthub"))
    assert clause_at(places["events/run.created"], "/timestamp") == "AH-5"
    assert clause_at(places["events/runtime.timeout"], "/timestamp") == "AH-5"
    assert clause_at(places["events/run.created"], "/payload/actor/id") == "AH-21"


def test_a_protocol_without_places_has_none():
    assert load_places(load_protocol("agent-runtime")) == {}


def test_a_place_of_nothing_is_a_problem(tmp_path):
    spec = tmp_path / "spec"
    shutil.copytree(resources.spec(), spec)
    path = spec / "agenthub/1/judged.yaml"
    data = yaml.safe_load(path.read_text())
    data["places"] |= {"AH-999": ["events/run.created#/payload"], "AH-21": ["events/run.begun#/payload"]}
    path.write_text(yaml.safe_dump(data))
    found = list(problems(load_protocol("agenthub"), spec))
    assert "AH-999 has a place, and no chapter of agenthub/1 has it" in found
    assert "AH-21 has a place in events/run.begun, which agenthub/1 does not know" in found
