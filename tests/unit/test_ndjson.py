"""Bytes become lines; whatever is wrong with one is named, and the rest is read."""

import io

import pytest

from validator.capture.ndjson import Limits, Splitter, read


def lines(data, **limits):
    return list(read(io.BytesIO(data), Limits(**limits) if limits else None))


def names(data, **limits):
    return [[problem.name for problem in line.problems] for line in lines(data, **limits)]


@pytest.mark.parametrize(
    ("raw", "problem", "readable"),
    [
        (b'\xef\xbb\xbf{"a":1}', "byte-order-mark", True),
        (b'{"a":1}\r', "carriage-return", True),
        (b"", "blank-line", False),
        (b" \t ", "blank-line", False),
        (b'{"a":"\xff"}', "not-utf8", False),
        (b'{"a":"\xed\xa0\x80"}', "not-utf8", False),
        (b'{"a":', "not-json", False),
        (b"nonsense", "not-json", False),
        (b"[1]", "not-an-object", False),
        (b"7", "not-an-object", False),
        (b'{"a":1,"a":2}', "duplicate-key", True),
        (b'{"x":{"a":1,"\\u0061":2}}', "duplicate-key", True),
        (b'{"a":NaN}', "not-a-number", True),
        (b'{"a":-Infinity}', "not-a-number", True),
        (b'{"a":1e999}', "not-a-number", True),
        (b'{"a":9007199254740993}', "big-integer", True),
        (b'{"a":' + b"9" * 300 + b"}", "big-integer", True),
        (b'{"a":' + b"9" * 5000 + b"}", "not-a-number", True),
        (b'{"a":' + b"[" * 100_000, "too-deep", False),
        (b'{"a":"' + b'\\"' * 100_000 + b"{" * 200, "not-json", False),
        (b'{"a":"\\ud800"}', "lone-surrogate", False),
        (b'{"\\udc00":1}', "lone-surrogate", False),
    ],
)
def test_a_fault_has_its_name_and_the_next_line_is_read(raw, problem, readable):
    first, second = lines(raw + b'\n{"ok":true}\n')
    assert problem in [entry.name for entry in first.problems]
    assert first.readable is readable
    assert second.document == {"ok": True}
    assert (second.number, second.offset) == (2, len(raw) + 1)


def test_a_surrogate_pair_is_one_character():
    (line,) = lines(b'{"a":"\\ud83d\\ude00"}\n')
    assert line.document == {"a": "\U0001f600"}


def test_what_nests_deeper_than_can_be_read_is_too_deep_whatever_the_limit():
    data = b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}\n"
    assert names(data, depth=10_000) == [["too-deep"]]


def test_brackets_inside_strings_do_not_nest():
    assert names(b'{"a":"' + b"[" * 300 + b'\\""}\n') == [[]]
    assert names(b'{"a":' + b"[" * 300 + b"]" * 300 + b"}\n") == [["too-deep"]]
    assert names(b'{"a":[[1]]}\n', depth=2) == [["too-deep"]]
    assert names(b'{"a":[1]}\n', depth=2) == [[]]


def test_a_line_beyond_the_limit_is_not_kept_and_the_next_one_is_read():
    long = b'{"a":"' + b"x" * 5000 + b'"}'
    first, second = lines(long + b'\n{"b":1}\n', line_bytes=100)
    assert [problem.name for problem in first.problems] == ["line-too-long"]
    assert first.size == len(long)
    assert (second.document, second.offset) == ({"b": 1}, len(long) + 1)


def test_a_last_line_without_a_line_feed_is_told_apart():
    assert [line.ended for line in lines(b'{"a":1}\n{"b":')] == [True, False]


def test_any_chunking_gives_the_same_lines():
    data = b'\xef\xbb\xbf{"a":1}\r\n\n{"b":"\xc3\xa4"}\n{"c'
    whole = lines(data)
    for size in (1, 2, 3, 7):
        splitter = Splitter(Limits())
        pieces = [line for start in range(0, len(data), size) for line in splitter.feed(data[start : start + size])]
        pieces += splitter.close()
        assert pieces == whole
