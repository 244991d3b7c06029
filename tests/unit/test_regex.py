"""A regex from what is kept is the one that the standard library compiles."""

import re
import subprocess
import sys

import pytest

from validator.protocol import regex
from validator.protocol.keep import Keep
from validator.redact.patterns import load_patterns

PATTERNS = [
    ("a|b", 0),
    ("(?P<year>[0-9]{4})-(?P<month>[0-9]{2})", 0),
    ("(?i)^straße$", re.MULTILINE),
    ("x", re.IGNORECASE | re.DOTALL),
    (rb"\x00[^a-z]+", 0),
    (b"(?!)", 0),
]


def kept_in(folder, monkeypatch):
    """What `compiled` reads and writes from here on; nothing that it did before is known to it."""
    folder.mkdir(mode=0o700, exist_ok=True)
    kept = Keep(str(folder), "key")
    monkeypatch.setattr(regex, "shipped", lambda: kept)
    regex.compiled.cache_clear()
    return kept


@pytest.fixture(autouse=True)
def forgotten():
    yield
    regex.compiled.cache_clear()


def test_what_was_kept_is_the_same_regex_and_is_not_compiled_again(tmp_path, monkeypatch):
    kept = kept_in(tmp_path / "cache", monkeypatch)
    first = [regex.compiled(*entry) for entry in PATTERNS]
    kept.flush()
    kept_in(tmp_path / "cache", monkeypatch)
    monkeypatch.setattr(re, "compile", None)
    again = [regex.compiled(*entry) for entry in PATTERNS]
    monkeypatch.undo()
    assert first == again == [re.compile(*entry) for entry in PATTERNS]
    assert again[1].fullmatch("2026-05").groupdict() == {"year": "2026", "month": "05"}


def test_more_is_added_to_what_is_kept(tmp_path, monkeypatch):
    for pattern, _ in PATTERNS[:2]:
        kept = kept_in(tmp_path / "cache", monkeypatch)
        regex.compiled(pattern)
        kept.flush()
    assert set(kept_in(tmp_path / "cache", monkeypatch).get("regexes")) == {(name, 0) for name, _ in PATTERNS[:2]}


def test_every_pattern_of_the_contract_can_be_kept():
    for row in load_patterns().rows:
        for pattern in filter(None, (row.pattern, row.unless_pattern, row.not_after_pattern)):
            assert regex._made(re.compile(pattern), 0) is not None


@pytest.mark.parametrize("fault", [AttributeError, TypeError])
def test_an_interpreter_that_makes_them_otherwise_compiles_each_time(tmp_path, monkeypatch, fault):
    def fail(*_):
        raise fault

    kept = kept_in(tmp_path / "cache", monkeypatch)
    monkeypatch.setattr(regex, "_restored", fail)
    assert regex.compiled("a") == re.compile("a")
    kept.flush()
    assert kept_in(tmp_path / "cache", monkeypatch).get("regexes") == {}


def test_to_load_the_module_reads_no_contract():
    code = (
        "from validator.protocol import formats, keep; from validator import readings, sieve;"
        " print(keep.shipped.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"


def test_any_of_some_words_is_found_and_nothing_else():
    words = frozenset({"ab", "abc", "b.", "c"})
    search = re.compile(regex.any_of(words)).search
    assert [text for text in ("xabx", "b.", "c", "a", "bx", "") if search(text)] == ["xabx", "b.", "c"]
    assert re.compile(regex.any_of(frozenset())).search("a") is None
