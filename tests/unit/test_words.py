"""A text of harmless words leaks and hides nothing, whatever came before it and however it is written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.test_gate import ENCODINGS, PIECES
from tests.unit.test_quiet import DUMP, HITS, event
from validator import words
from validator.protocol.protocol import load_protocol
from validator.redact import exact_survey, is_marker, load_patterns, vocabulary

CORE = load_protocol("agent-runtime")
TYPES = {"text": "model.delta", "output": "process.output"}
COMMON = ["The", "file", "50%", "a/b.py:3", "x=1", "=", "-----", "***", "…", "private", "key", "ſecret", "see://x", "é"]
texts = st.lists(st.sampled_from([*PIECES, *HITS, *COMMON]), max_size=5).map(" ".join)
texts |= st.lists(st.sampled_from([*PIECES, *HITS, *COMMON]), max_size=5).map("".join)
KNOWN = {place: words.Words(vocabulary(CORE).rows[place]) for place in TYPES}
"""They learn as they go on, as in a long stream."""


def is_harmless(text, place):
    document = {**event(text), "type": TYPES[place]}
    return not exact_survey(document, CORE).leaks and "redact" not in text.lower() and not is_marker(text)


def ways(text):
    """A text in the ways in which JSON may write it."""
    return [encode(text).encode("utf-8", "surrogatepass")[1:-1] for encode in ENCODINGS]


def check(text):
    """Whatever a way of writing a text makes of it, what is called harmless is; says how often it was."""
    found = 0
    for place, known in KNOWN.items():
        for raw in ways(text):
            if known.make(raw):
                found += 1
                assert is_harmless(text, place)
    return found


def test_plain_words_are_harmless_and_examples_of_leaks_are_not():
    assert check("The file is read") == 8
    assert check("It is read first; then 50% of it.") == 6
    assert check('a line\n\tof "text"') == 8
    assert check("grüße") == 2
    for text in [*HITS, DUMP]:
        check(text)
        for place in range(len(text)):
            check(text[:place])
            check(text[place:])


@given(texts)
def test_what_is_made_of_harmless_words_leaks_and_hides_nothing(text):
    check(text)


@given(st.from_regex(load_patterns().markers, fullmatch=True))
def test_what_says_that_something_is_hidden_is_never_harmless(text):
    if is_marker(text):
        assert not any(known.make(raw) for known in KNOWN.values() for raw in ways(text))


@pytest.mark.parametrize(
    "raw",
    [b"", b'a"b', b"a\x01b", b"a\\", b"a\\\\n", b"a\\u0041", b"a\\/b", b"\xff", b"\xed\xa0\x80", b"word " * 500],
)
def test_what_is_no_text_or_is_escaped_or_long_is_left_to_the_long_look(raw):
    known = words.Words(vocabulary(CORE).rows["text"])
    assert not any(known.make(raw) for _ in range(2))


def test_a_text_of_any_length_may_be_made_of_words_that_are_known():
    known = words.Words(vocabulary(CORE).rows["text"])
    assert known.make(b"word ")
    assert known.make(b"word " * 500)


def test_words_are_forgotten_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr("validator.sieve._MOST", 3)
    known = words.Words(vocabulary(CORE).rows["text"])
    assert all(known.make(b"word %d and %d" % (number, number)) for number in range(20))
    assert len(known._known) <= 4
    assert known.make(b"ab/" * 150)
    assert b"ab/" * 150 not in known._known


@given(st.lists(st.sampled_from([*PIECES, *HITS, "evt_", "01JZ8XKQ4T", "7", "ü"]), max_size=3).map("".join))
def test_ids_of_a_known_shape_leak_and_hide_nothing(name):
    for raw in ways(name):
        if KNOWN["text"].name(raw):
            assert not exact_survey({**event("fine"), "event_id": name}, CORE).leaks
            assert not is_marker(name)
            assert json.loads(b'"%b"' % raw) == name


@pytest.mark.parametrize("raw", [b"", b'a"b', b"a\x01b", b"a\\n", b"\xff", b"a=1", b"e" * 300, b"/home/alice/1"])
def test_what_is_no_id_is_left_to_the_long_look(raw):
    known = words.Words(vocabulary(CORE).rows["text"])
    assert not any(known.name(raw) for _ in range(2))
    assert known.name(b"evt_1")
    assert known.name("evt_ü_2".encode())


@given(st.lists(texts, min_size=1, max_size=4))
def test_several_texts_made_of_harmless_words_leak_and_hide_nothing(several):
    for place, known in KNOWN.items():
        for raws in zip(*map(ways, several), strict=True):
            if known.make_all(list(raws)):
                assert all(is_harmless(text, place) for text in several)


def test_no_word_reaches_from_one_text_into_the_next():
    known = words.Words(vocabulary(CORE).rows["text"])
    assert known.make_all([b"see the", b"file /", b"home"])
    assert known.make_all([b"file /", b"home", b"see the"])
    for odd in (b"", b'a"b', b"a\\", b"\xff", b"/home/alice/x", b"[redacted]"):
        assert not known.make_all([b"see the", odd, b"file"])
    assert not known.make_all([b"new%d " % number * 3 for number in range(600)])


@given(st.lists(st.sampled_from([*PIECES, *HITS, "evt_", "01JZ8XKQ4T", "7", "ü", '"']), max_size=4))
def test_several_ids_leak_and_hide_nothing(names):
    raws = [ways(name)[0] for name in names]
    if names and KNOWN["text"].name_all(raws):
        for name in names:
            assert not exact_survey({**event("fine"), "event_id": name}, CORE).leaks
            assert not is_marker(name)


@pytest.mark.parametrize("raw", [b"", b'a"b', b'e1"e2', b"a\x01b", b"\xff", b"a=1", b"e" * 300, b"/home/alice/1"])
def test_one_of_several_that_is_no_id_leaves_all_to_the_long_look(raw):
    known = words.Words(vocabulary(CORE).rows["text"])
    for _ in range(2):
        assert known.name_all([b"evt_1", b"3fa9-77c0"])
        assert not known.name_all([b"evt_1", raw, b"evt_2"])
        known.name(b"e1")
