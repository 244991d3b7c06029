"""JSON is read and written as the standard library does it, in every detail that somebody could see."""

import importlib
import json
import math
import subprocess
import sys

import pytest

from validator import jsontext

TEXTS = [
    "{}",
    ' \t{"a": [1, 2.5, -0, 1e400, "\\ud800", "é"]}\r\n',
    '{"a": 1, "a": {"b": null}}',
    "[true, false, NaN, -Infinity, 12345678901234567890]",
    '"text"',
    "",
    " ",
    "{",
    "{} {}",
    "{}x",
    '{"a": }',
    '{"a": "\n"}',
    "\ufeff{}",
    "[1,]",
    "\u00a0{}",
]
VALUES = [
    {"b": [1, 2.5, None, True], "a": {"é": "\ud800", "": "\u2028"}},
    "text",
    3,
    math.inf,
    -0.0,
    [],
    {"1": 10**30},
    ({"a": ()},),
]


@pytest.fixture(params=["native", "library"])
def written(request, monkeypatch):
    """The module, also where an interpreter has nothing of it in C."""
    if request.param == "library":
        monkeypatch.setitem(sys.modules, "_json", None)
    yield importlib.reload(jsontext)
    monkeypatch.undo()
    importlib.reload(jsontext)


def hooks(told):
    """The four hooks, each noting what it is called with."""

    def noted(name, make):
        def hook(value):
            told.append((name, value))
            return make(value)

        return hook

    makes = {"object_pairs_hook": dict, "parse_constant": str, "parse_int": str, "parse_float": float}
    return {name: noted(name, make) for name, make in makes.items()}


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_read_as_the_library_reads_it(written, text):
    told, usual = [], []
    ours, theirs = written.reader(**hooks(told)), json.JSONDecoder(**hooks(usual)).decode
    assert outcome(ours, text) == outcome(theirs, text)
    assert told[-len(usual) :] == usual  # what is wrong is read twice


def outcome(read, text):
    try:
        return read(text)
    except json.JSONDecodeError as error:
        return str(error), error.pos


ALONE = """
import sys
from validator.jsontext import reader
assert "json" not in sys.modules
read = reader(object_pairs_hook=dict, parse_constant=str, parse_int=int, parse_float=float)
try:
    print(ascii(read(sys.argv[1])))
except ValueError as error:
    print(error)
"""


@pytest.mark.parametrize(
    "text", ['{"a": [1, "\\ud800"]}', "", "{", "{garbage", "[1,]", '{"a" 1}', '"\n"', '"\\u12"', "tru"]
)
def test_a_text_is_read_the_same_by_a_process_that_has_not_loaded_the_library(text):
    alone = subprocess.run([sys.executable, "-c", ALONE, text], capture_output=True, text=True, check=True)
    told = outcome(json.JSONDecoder().decode, text)
    assert alone.stdout.rstrip() == (told[0] if isinstance(told, tuple) else ascii(told))


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_is_written_as_the_library_writes_it(written, value):
    assert written.write(value) == json.dumps(value, sort_keys=True, separators=(",", ":"))


def test_what_is_no_json_is_refused_as_the_library_does(written):
    for write in (written.write, json.dumps):
        with pytest.raises(TypeError, match="Object of type set is not JSON serializable"):
            write({"a": {1}})


def test_what_nests_without_end_is_refused(written):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(RecursionError):
        written.write(deep)
    with pytest.raises(RecursionError):
        written.reader(**hooks([]))("[" * 100_000)
