"""The kill matrix is what judging the mutants yields, and every mutant is killed by the rule it names."""

import pytest

from validator import resources
from validator.datafile import read_json
from validator.rules._catalog import load_rules
from validator.specgen.kill import MATRIX
from validator.testing.mutators import OPERATORS
from validator.testing.mutators.matrix import FAULTS, run_operator, run_rules
from validator.testing.mutators.seeds import excused

RECORDED = read_json(resources.spec() / MATRIX)
FAMILIES = sorted({rule[:3] for rule in load_rules()})


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operators_mutants_end_as_the_matrix_says(name):
    """`make kill` writes the matrix anew; a change of it is a change of what the judge finds."""
    assert run_operator(name) == RECORDED["operators"][name]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_rules_own_mutators_are_killed_by_it(family):
    found = run_rules(family)
    assert found == {rule: own for rule, own in RECORDED["rules"].items() if rule.startswith(family)}
    assert {kind for own in found.values() for kind in own.values()} <= {"killed"}


@pytest.mark.parametrize("name", OPERATORS)
def test_no_mutant_gets_away(name):
    entry = RECORDED["operators"][name]
    assert [where for kind in FAULTS for where in entry.get(kind, ())] == []


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_breaks_something(name):
    entry = RECORDED["operators"][name]
    assert entry["mutants"]
    assert bool(entry["by"]) != OPERATORS[name].harmless


def test_every_rule_has_a_mutator_of_its_own_or_says_why_not():
    assert RECORDED["rules"].keys() | excused().keys() == load_rules().keys()
