"""A module is taken from what was kept only while its source is the same; a method's code only for the same text."""

import dataclasses
import importlib.util
import os
import sys

import pytest

from validator.cli import warm
from validator.protocol import keep


@pytest.fixture
def kept(tmp_path):
    return keep.Keep(str(tmp_path / "cache"), "key")


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of ours that only this test knows, as Python imports it."""
    source = tmp_path / "passing.py"
    source.write_text("VALUE = 1\n")
    spec = importlib.util.spec_from_file_location("validator.passing", source)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    monkeypatch.setitem(sys.modules, "validator.passing", found)
    return source


def entries(kept, known=None):
    """What a run that imported the module keeps."""
    finder = warm._Finder(known or {})
    finder._early = frozenset(sys.modules) - {"validator.passing"}
    finder.keep(kept)
    kept.flush()
    return keep.Keep(kept._folder, kept._key).get("modules")


def test_a_module_is_found_as_long_as_its_source_is_the_same(module, kept):
    finder = warm._Finder(entries(kept))
    spec = finder.find_spec("validator.passing")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    assert (found.VALUE, found.__file__, spec.loader.get_source(spec.name)) == (1, str(module), "VALUE = 1\n")
    assert finder.find_spec("validator.unknown") is None
    moment = module.stat().st_mtime_ns
    module.write_text("VALUE = 22\n")
    os.utime(module, ns=(moment, moment))
    assert finder.find_spec("validator.passing") is None
    module.write_text("VALUE = 3\n")
    os.utime(module, ns=(moment + 1, moment + 1))
    assert finder.find_spec("validator.passing") is None
    module.unlink()
    assert finder.find_spec("validator.passing") is None


def test_a_package_is_found_with_its_folder():
    package = sys.modules["validator.protocol"]
    code = compile("", package.__file__, "exec")
    entry = (package.__file__, *warm._mark(package.__file__), code)
    spec = warm._Finder({package.__name__: entry}).find_spec(package.__name__)
    assert spec.submodule_search_locations == [os.path.dirname(package.__file__)]
    assert spec.has_location


def test_modules_are_kept_again_only_when_one_was_not(module, kept, monkeypatch):
    known = entries(kept)
    monkeypatch.setattr(sys.modules["validator.passing"].__spec__, "loader", warm._Loader("x", str(module), None))
    kept.put = lambda name, make: pytest.fail("kept again")
    finder = warm._Finder(known)
    finder._early = frozenset(sys.modules) - {"validator.passing"}
    finder.keep(kept)


def test_methods_are_those_that_the_text_says(kept, monkeypatch):
    methods = warm._Methods({})
    monkeypatch.setattr(dataclasses, "exec", methods, raising=False)

    def pair():
        return dataclasses.make_dataclass("Pair", [("one", int), ("two", int, 2)], frozen=True, slots=True)

    first = pair()
    methods.keep(kept)
    kept.flush()
    again = warm._Methods(keep.Keep(kept._folder, kept._key).get("methods"))
    monkeypatch.setattr(dataclasses, "exec", again)
    second = pair()
    assert repr(first(1)) == repr(second(1)) == "Pair(one=1, two=2)"
    assert second(1) == second(1, 2) != second(1, 3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        second(1).one = 2
    assert again._new == {}


def test_nothing_is_replaced_where_nothing_is_kept(monkeypatch):
    monkeypatch.setattr(warm, "shipped", lambda: keep.NOTHING)
    before = list(sys.meta_path)
    warm.begin()
    warm.end()
    assert sys.meta_path == before
    assert not isinstance(getattr(dataclasses, "exec", None), warm._Methods)


def test_a_beginning_is_made_once(kept, monkeypatch):
    monkeypatch.setattr(warm, "shipped", lambda: kept)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(dataclasses, "exec", exec, raising=False)
    warm.begin()
    warm.begin()
    assert [type(finder) for finder in sys.meta_path].count(warm._Finder) == 1
    dataclasses.exec("a = 1", {}, {})
    warm.end()
    assert keep.Keep(kept._folder, kept._key).get("methods").keys() == {"a = 1"}
