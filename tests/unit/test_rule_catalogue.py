"""The catalogue refuses a rule that it could not tell from another, find again, or explain."""

from dataclasses import replace

import pytest

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


def test_tables_cite_clauses_for_the_protocols_that_there_are():
    clauses = TableClauses()
    assert len(clauses) == len(list(clauses)) == 4
    with pytest.raises(KeyError):
        clauses["nobody's"]
