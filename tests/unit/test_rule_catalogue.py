"""The catalogue refuses a rule that it could not tell from another, find again, or explain."""

import sys
from dataclasses import replace

import pytest

from tests.conftest import PROTOCOLS
from validator.errors import DefinitionError
from validator.rules._catalog import _check, _collect, load_rules
from validator.rules._rule import TableClauses

RULE = load_rules()["STA001"]
MODULE = "validator.rules.state.illegal_move"


def test_a_rule_of_the_catalogue_is_accepted():
    _check(RULE, MODULE, {})


@pytest.mark.parametrize(
    ("rule", "module", "found", "reason"),
    [
        (RULE, MODULE, {"STA001": RULE}, "two rules are called STA001"),
        (replace(RULE, id="STA1"), MODULE, {}, "STA1 is not three letters and three digits"),
        (RULE, "validator.rules.state.elsewhere", {}, "STA001 is illegal-move, the module is not named so"),
        (replace(RULE, text=RULE.text.partition("Fix:")[0]), MODULE, {}, "STA001 does not say its Fix"),
    ],
)
def test_a_rule_that_cannot_be_told_found_or_explained_is_refused(rule, module, found, reason):
    with pytest.raises(DefinitionError) as caught:
        _check(rule, module, found)
    assert caught.value.reason == reason


def test_a_family_for_some_protocols_holds_no_rule_for_others():
    with pytest.raises(DefinitionError) as caught:
        _collect(MODULE, ("agenthub",), {})
    assert caught.value.reason == "STA001 is known to more protocols than its family"


@pytest.mark.parametrize("family", sorted({rule.check.__module__.rpartition(".")[0] for rule in load_rules().values()}))
def test_what_a_family_says_about_its_rules_is_true(family):
    package = sys.modules[family]
    held = {rule.slug: rule for rule in load_rules().values() if rule.check.__module__.startswith(f"{family}.")}
    for slug, protocols in getattr(package, "OTHERS", {}).items():
        assert sorted(held.pop(slug).clauses) == list(protocols)
    for rule in held.values():
        assert set(rule.clauses) <= set(getattr(package, "PROTOCOLS", rule.clauses))


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_protocol_is_judged_by_every_rule_that_knows_it(name):
    name = name.partition("/")[0]
    known = [rule.id for rule in load_rules().values() if name in rule.clauses]
    assert [rule.id for rule in load_rules(name).values() if name in rule.clauses] == known != []


def test_tables_cite_clauses_for_the_protocols_that_there_are():
    clauses = TableClauses()
    assert len(clauses) == len(list(clauses)) == 4
    with pytest.raises(KeyError):
        clauses["nobody's"]
