"""A pattern fits the names that `fnmatch` says, whichever way it is compared."""

import fnmatch

import pytest

from validator.protocol.wildcards import fitting, is_pattern

NAMES = ("tool.started", "tool.result", "tools", "model.delta", "[x]", "a_b", "aa", "aba")
PARTS = ("*_*", "t*l*s", "*o*o*", "a*a", "a*b*a", "ab*ba", "a*aa", "*l.*t", "tool**ed", "*[x]*")


@pytest.mark.parametrize("pattern", ["tool.*", "*", "*.delta", "t??l*", "[tm]o*", "tool.result", "none*", *PARTS])
def test_a_pattern_fits_what_fnmatch_says(pattern):
    assert fitting(pattern, NAMES) == [name for name in NAMES if fnmatch.fnmatchcase(name, pattern)]
    assert is_pattern(pattern) is (pattern != "tool.result")
