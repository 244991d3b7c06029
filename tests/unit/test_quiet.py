"""Where the glance at a line says that nothing leaks, the full scan finds nothing either, however a text is written."""

import json
import re
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import PROTOCOLS
from validator import redact
from validator.protocol.protocol import load_protocol

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


def test_no_marker_is_told_by_its_digits():
    words = redact.load_patterns().markers.pattern
    assert not re.search(r"[0-9]|\\[dDwW]", re.sub(r"\{[0-9,]+\}", "", words))


WORDS = ["[redacted]", "***", "12:30", "id_7", "REDACTED 7", "plain", "x" * 80, "Masked: 9", "é"]


@given(st.lists(st.sampled_from(WORDS)))
def test_a_text_may_hide_something_whatever_came_before_it(texts):
    said = [redact.is_marker(text) or "redact" in text.lower() for text in texts]
    assert [redact.may_hide([text]) for text in texts] == said
    assert redact.may_hide(texts) == any(said)
