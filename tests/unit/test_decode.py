"""What the fast decoder takes, the careful one reads the same way and finds nothing wrong with."""

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from validator.capture import decode as module
from validator.capture.decode import decoder
from validator.capture.ndjson import Limits, Line, Splitter, read
from validator.errors import UsageError

DECODE = decoder()
TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=5) | st.sampled_from(('"', "\\", "/", "\u2028", ":"))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.sampled_from((0, 2**53 - 1, 2**53, 2**53 + 1, 2**64, -(2**53)))
    | st.floats()
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
STRANGE = [
    b'{"a":1,"a":2}', b'{"a":1,"\\u0061":1}', b'{"x":{"a":"","a":""}}', b'{"a":-0}', b'{"a": -0}', b'{"a":1E2}',
    b'{"a":NaN}', b'{"a":1e999}', b'{"a":9007199254740993}', b'{"a": 9007199254740993}', b'{"a":18446744073709551616}',
    b'{"a": 18446744073709551616}', b'{"a":"\\ud800"}', b'{"a":"\xed\xa0\x80"}', b'\xef\xbb\xbf{"a":1}', b'{"a":1}\r',
    b'{"a":1} ', b'{"a":1}{"b":2}', b'{"a":01}', b'{"a":1,}', b"[]", b"{}", b'"{}"', b'{"a":"\t"}', b'{"a":"\xff"}',
    b'{"a":' + b"[" * 200 + b"]" * 200 + b"}", b'{"a":"\\"","a":1}', b'{"a":"\\ud83d\\ude00"}',
    b'{"a" : "b" , "a" : "c"}',
]  # fmt: skip


def careful(raw):
    splitter = Splitter(Limits())
    splitter._decode = None
    (line,) = splitter.feed(raw + b"\n")
    return line


def check(raw):
    """True when the fast decoder takes a line; then the careful one must agree in every detail."""
    document = DECODE(raw, Limits().depth)
    if document is None:
        return False
    line = careful(raw)
    assert repr(line.document) == repr(document)
    assert line.problems == []
    return True


@pytest.mark.parametrize("raw", STRANGE, ids=repr)
def test_a_strange_line_is_read_carefully_or_the_same(raw):
    check(raw)
    (line,) = read(io.BytesIO(raw + b"\n"))
    assert (repr(line.document), line.problems) == (repr(careful(raw).document), careful(raw).problems)


@settings(max_examples=200)
@given(
    st.dictionaries(TEXT, VALUES, max_size=4), st.sampled_from(((",", ":"), (", ", ": "), (" ,", " : "))), st.booleans()
)
def test_whatever_is_taken_is_read_the_same(document, separators, ascii_only):
    check(json.dumps(document, separators=separators, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass"))


@settings(max_examples=200)
@given(st.lists(st.tuples(st.sampled_from(("a", "b", "\\u0061")), VALUES), min_size=1, max_size=4), st.booleans())
def test_a_key_that_occurs_twice_is_never_taken(entries, spaced):
    body = ("," if not spaced else ", ").join(f'"{key}":{json.dumps(value)}' for key, value in entries)
    raw = f'{{"x":{{{body}}}}}'.encode()
    keys = [key.replace("\\u0061", "a") for key, _ in entries]
    assert not (check(raw) and len(set(keys)) != len(keys))


@pytest.mark.parametrize("raw", [b'{"a":1,"b":"x/y","c":[1.5,true,null,{}]}', b'{"a": 1, "b": "x", "c": "\\u00e9"}'])
def test_usual_lines_are_taken(raw):
    assert check(raw)


def test_without_the_library_lines_are_read_carefully_unless_it_is_demanded(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "orjson", None)
    assert module._native.__wrapped__(demanded=False) is None
    with pytest.raises(UsageError):
        module._native.__wrapped__(demanded=True)


def test_the_switch_turns_it_off(monkeypatch):
    monkeypatch.setenv("RUNTIME_VALIDATE_FAST", "off")
    assert decoder() is None


def test_a_line_without_a_document_is_not_readable():
    assert not Line(1, 0, 0).readable
