"""Where the glance at a line says that nothing leaks, the full scan finds nothing either, however a text is written."""

import json
import re
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import PROTOCOLS
from validator import redact
from validator.protocol.glance import glance
from validator.protocol.protocol import load_protocol
from validator.protocol.regex import is_anchored
from validator.sieve import _RUN, Spot, numbered, shaped

HITS = [text for row in redact.load_patterns().rows for text in (*row.hit, *row.near)]
DUMP = "PATH=/usr/bin\nHOME=x\nUSER=a\nSHELL=sh\nAPI_TOKEN=abcdef123\nDB_PASSWORD=abcdef99\n"
WAYS = [
    lambda text: text,
    lambda text: f"see ({text}), then go on",
    lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    lambda text: "".join(f"\\u{ord(char):04x}" if char in "/:.-_@=~" else char for char in text),
    lambda text: quote(text, safe=""),
    lambda text: "x" * 80 + " " + text,
]


def event(text, **more):
    payload = {"delta": text, "index": 0}
    return {"type": "model.delta", "event_id": "e1", "session_id": "s", "turn_id": "t", "payload": payload, **more}


def check(document, protocol):
    assert redact.survey(document, protocol) == redact.exact_survey(document, protocol)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_example_is_seen_in_every_way_of_writing_it(name):
    protocol = load_protocol(name)
    for text in [*HITS, DUMP]:
        for way in WAYS:
            check(event(way(text)), protocol)
            # As the parser hands it over: escapes of JSON itself are gone before anything is looked at.
            raw = json.dumps(event(text)).replace("/", "\\u002f")
            check(json.loads(raw), protocol)


@given(
    st.lists(st.sampled_from([*HITS[::5], "fine", "a/b", "50%", "\\", "x=1\n"]), min_size=1, max_size=4), st.booleans()
)
def test_a_line_is_judged_the_same_alone_and_after_others(texts, in_list):
    protocol = load_protocol("agent-runtime")
    for text in texts:
        check(event(text, x_vendor=texts if in_list else {"note": text}), protocol)


def test_a_quiet_line_needs_no_full_scan_and_a_leaking_one_does(core):
    sieve = redact.vocabulary(core).sieve
    assert sieve.places(event("all is well at https://example.com/a/b"), "model.delta") == {"text"}
    assert sieve.places(event("see /home/alice/notes.md"), "model.delta") is None
    assert sieve.places(event("fine", path="src/a.py"), "model.delta") == {"text", "path"}
    assert sieve.places(event("fine", api_key="src/a.py"), "model.delta") is None
    assert sieve.places({"sequence": 1}, None) == set()


IDS = ["tc0_1", "r8_", "mr8_12", "args://x:1/run", "C:", "~", "9:AA", "2026-05-08T09:00:04.000Z", ".."]
SIGNS = [*"\u212a\u0130\u017f\u00fc\ud800=\n%\\", "A_B=", "HOME=", "[redacted]", "***", "Redact"]
RUNS = ["q8Wx2Yz7Vb41kLmN0pRsT3uV5wX9", "TheQuickBrownFoxJumpsOverTheLazyDog", "0" * 24, "x" * 300, "x" * 600]
pieces = st.sampled_from([*IDS, *SIGNS, *RUNS, *HITS[::3], "-", "a", "the", "private", "key", "-u", "bob:hunter22"])
texts = st.lists(pieces, max_size=3).map("".join) | st.lists(pieces, max_size=7).map(" ".join)
values = texts | st.lists(texts, max_size=2) | st.sampled_from([1, None, [], {}, {"path": "x"}, {"a": ["b"]}])
honest = st.builds(lambda word, why: {"honest": word, "reason": why}, st.sampled_from(["stale", "no", 1]), values)


lines = st.lists(st.tuples(values, values | honest, values | honest), min_size=1, max_size=3)


@given(st.sampled_from(PROTOCOLS), lines)
def test_a_calm_line_leaks_nothing_and_hides_nothing_whatever_came_before_it(name, told):
    protocol = load_protocol(name)
    sieve = redact.vocabulary(protocol).sieve
    for text, reference, other in told:
        line = event(text, output_ref=reference, input=other, path=other, call_id=text, note=reference)
        exact, places = redact.exact_survey(line, protocol), sieve.calm(line, redact.kind_of(line, protocol))
        assert redact.survey(line, protocol) == exact
        if places is not None:
            assert redact.clean(places) == exact
            assert not redact.may_hide(glance(line)[1])


def test_what_is_known_by_its_text_is_asked_once(core, monkeypatch):
    sieve = redact.vocabulary(core).sieve
    line = event("fine", output_ref="out://tc0_1", call_id="mr7_1", at="2026-05-08T09:00:04.000Z", path="a/b.py")
    assert sieve.calm(line, "model.delta") == {"text", "reference", "path"}
    # The same but for digits, which one needle in the id goes by.
    again = event("fine", output_ref="out://tc7_3", call_id="mr7_1", at="2027-01-01T00:00:00.000Z", path="a/b.py")
    monkeypatch.setattr(Spot, "_tells", None)
    assert sieve.calm(again, "model.delta") == {"text", "reference", "path"}


def test_a_text_of_words_that_came_before_is_not_searched(core, monkeypatch):
    sieve = redact.vocabulary(core).sieve
    for text in ("one of the words\nthat came before", "and then the next one"):
        assert sieve.calm(event(text), "model.delta") == {"text"}
    monkeypatch.setattr(Spot, "_goes_by", None)
    assert sieve.calm(event("before the next of\nthe words came one"), "model.delta") == {"text"}
    assert sieve.calm(event(" ".join(["words", "that", "came", "before"] * 80)), "model.delta") == {"text"}
    monkeypatch.undo()
    assert sieve.calm(event("one of the words that" + " came" * 600), "model.delta") is None
    assert sieve.calm(event("one of the words " + "that" * 80), "model.delta") is None  # it may look random
    assert sieve.calm(event("one of the before/" + "that/" * 80), "model.delta") == {"text"}
    assert sieve.calm(event("one token of the words"), "model.delta") is None


def test_a_line_that_hides_something_is_not_calm(core):
    sieve = redact.vocabulary(core).sieve
    for text in ("[redacted]", "***", "It was redacted.", "removed"):
        assert sieve.places(event(text), "model.delta") == {"text"}
        assert sieve.calm(event(text), "model.delta") is None
    assert sieve.calm(event("fine", token="x"), "model.delta") is None
    assert sieve.calm(event("fine"), "sandbox.violation") is None


def test_every_needle_and_every_random_word_is_seen_in_lower_case():
    """What texts are asked for: needles are lower case and ASCII, and rows without any go by long words."""
    beyond = [char for char in map(chr, range(128, 0x110000)) if any(low.isascii() for low in char.lower())]
    assert beyond == ["\u0130", "\u212a"]
    for row in redact.load_patterns().rows:
        assert all(needle.isascii() and needle == needle.lower() for needle in row.needles)
        assert row.needles or row.bits
    for text in [*RUNS, *HITS]:
        bare = [row for row in redact.load_patterns().rows if not row.needles]
        assert re.search(_RUN, shaped(text)) or not any(next(row.spans(text, text.lower()), None) for row in bare)


@pytest.mark.parametrize(
    ("regex", "anchored"),
    [("^a", True), ("(?i)^(a|b)", True), ("^a|b", False), ("a", False), ("(?m)^a", False), ("(?:^|x)a", False)],
)
def test_a_regex_is_anchored_when_every_match_begins_with_the_text(regex, anchored):
    assert is_anchored(regex) is anchored


def test_no_needle_with_a_digit_is_sought_where_there_is_none():
    assert numbered(frozenset({"a_"})).search(b"a_0") is None
    assert numbered(frozenset({"a_", "r8_"})).search(b"mr0_")


def test_no_marker_is_told_by_its_digits():
    words = redact.load_patterns().markers.pattern
    assert not re.search(r"[0-9]|\\[dDwW]", re.sub(r"\{[0-9,]+\}", "", words))


WORDS = ["[redacted]", "***", "12:30", "id_7", "REDACTED 7", "plain", "x" * 80, "Masked: 9", "é"]


@given(st.lists(st.sampled_from(WORDS)))
def test_a_text_may_hide_something_whatever_came_before_it(texts):
    said = [redact.is_marker(text) or "redact" in text.lower() for text in texts]
    assert [redact.may_hide([text]) for text in texts] == said
    assert redact.may_hide(texts) == any(said)
