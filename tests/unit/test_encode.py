"""The bytes that digests are taken of: the order of keys does not matter, everything else does."""

import itertools

import pytest

from validator.capture import encode
from validator.capture.encode import read_bytes, sorted_bytes

VALUES = [None, True, 1, 1.5, "1", "", [], {}, [1], {"a": None}, 2**70, float("inf"), float("-inf"), "\ud800", "é"]


@pytest.mark.parametrize("library", [encode.orjson, None])
def test_different_values_have_different_bytes(monkeypatch, library):
    monkeypatch.setattr(encode, "orjson", library)
    for one, other in itertools.combinations(VALUES, 2):
        assert sorted_bytes({"x": one}) != sorted_bytes({"x": other}), (one, other)


@pytest.mark.parametrize("library", [encode.orjson, None])
def test_the_order_of_keys_does_not_matter(monkeypatch, library):
    monkeypatch.setattr(encode, "orjson", library)
    assert sorted_bytes({"a": {"c": 1, "d": 2}, "b": 3}) == sorted_bytes({"b": 3, "a": {"d": 2, "c": 1}})


@pytest.mark.parametrize("library", [encode.orjson, None])
def test_what_was_read_from_a_capture_has_the_same_bytes(monkeypatch, library):
    monkeypatch.setattr(encode, "orjson", library)
    for value in (*VALUES[:-4], *VALUES[-2:], {"b": [None], "a": 1}):
        assert read_bytes({"x": value}) == sorted_bytes({"x": value})
