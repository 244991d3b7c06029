"""What the gate over bytes excludes, the exact scan does not find: any pattern, any place, any way of writing it."""

import json
import re
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import PROTOCOLS
from tests.unit.test_quiet import DUMP, HITS, event
from validator import sieve
from validator.errors import UsageError
from validator.protocol import gate
from validator.protocol.loosen import ESCAPED, loosen
from validator.protocol.protocol import load_protocol
from validator.redact import exact_survey, load_patterns, vocabulary

pytest.importorskip("hyperscan", reason="the native gate is an extra, without a wheel for some platforms")
ROWS = load_patterns().rows
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SIGN = re.compile(r"(\\.)|[/~.@=k_-]")


def escaped(document):
    """JSON in which signs that patterns go by are escaped."""

    def sign(match):
        return match[1] or f"\\u{ord(match[0]):04x}"

    return _STRING.sub(lambda match: _SIGN.sub(sign, match[0]), json.dumps(document))


ENCODINGS = (
    json.dumps,
    lambda document: json.dumps(document, ensure_ascii=False, separators=(",", ":")),
    lambda document: json.dumps(document, separators=(",", ": ")).replace("/", r"\/"),
    escaped,
)
PIECES = [*"/\\~:=@%$.-_+ \n\t\"'()[]{}<>;,&?#", *"é…路ſKı", "\u2003", "\u00a0", "home", "Users", "to", "Ken=", "sk-"]
PIECES += ["file:", "C:", "..", "//", "%2F", "\\u002f", "q8Wx2Yz7Vb41kLmN0pRsT3uV5wX9", "A_B=1", "http", "~a"]
texts = st.lists(st.sampled_from([*PIECES, *HITS]), max_size=5).map("".join)
names = st.sampled_from(["note", "path", "output_ref", "input", "apiToken", "path_", "cwd\n", "env", "id", "é", "url"])
values = st.recursive(
    texts, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names | texts, inner, max_size=3), max_leaves=5
)
BY_PATTERN = {row.id for row in ROWS}


@pytest.fixture(autouse=True, scope="module")
def nothing_known_by_its_text():
    """The gate is asked about every line, however short its texts are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sieve, "_LONG", -1)
        yield


@cache
def opened(name):
    """A sieve that has its gate from the first line on."""
    found = sieve.Sieve(vocabulary(load_protocol(name)))
    found._gate = gate.Gate(sieve.clues(found._vocabulary))
    return found


def check(document, name):
    """Every encoding of a document is judged as the exact scan judges it, or not at all; says how often it was."""
    protocol = load_protocol(name)
    exact, judged = exact_survey(document, protocol), 0
    for encode in ENCODINGS:
        raw = encode(document).encode()
        assert json.loads(raw) == document
        found = {leak.row for leak in exact.leaks} & BY_PATTERN
        assert not (found and opened(name)._gate.clean(raw))
        places = opened(name).places(document, protocol.type_of(document), raw)
        assert places is None or (places == exact.places and not exact.leaks)
        judged += places is not None
    return judged


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_example_passes_no_gate(name):
    for text in [*HITS, DUMP]:
        check(event("fine", x_note=text), name)
        check(event("fine", path=text), name)
    check(event("fine", **dict.fromkeys(HITS, 1)), name)


@given(values, st.sampled_from(PROTOCOLS))
def test_nothing_passes_that_the_exact_scan_finds(value, name):
    check(event("fine", x=value), name)


LOOSE = {row.id: re.compile((row.loose or loosen(row.regex.pattern) or ESCAPED).encode()) for row in ROWS}


@given(texts)
def test_where_a_row_finds_something_its_loosened_form_matches(text):
    found = [row for row in ROWS if next(row.spans(text, text.lower()), None)]
    for raw in [encode([text]).encode() for encode in ENCODINGS] if found else ():
        if not re.search(ESCAPED.encode(), raw):
            assert all(LOOSE[row.id].search(raw) for row in found)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_plain_line_is_judged_by_its_bytes_and_by_its_texts(name):
    assert check(event("all is well at https://example.com/a/b"), name) == 2
    assert check(event("all is well", output_ref="output://1"), name) == 2


@pytest.mark.parametrize("name", PROTOCOLS)
def test_documents_of_the_same_keys_may_hold_texts_in_different_places(name):
    honest = {"honest": "unknown", "reason": "not told"}
    objects = (honest, {**honest, "honest": "no"}, {"a": "b"}, {"a": 1}, [{"path": "x"}])
    for told in (1, "a", None, ["a"], [1], [], *objects):
        assert check(event("fine", output_ref=told, input=told), name)
        assert check(event("fine", path=told, note="x"), name)


def test_what_identifies_may_look_random_and_text_may_not():
    word = "q8Wx2Yz7Vb41kLmN0pRsT3uV5wX9"
    assert check(event("fine", call_id=word), "agent-runtime")
    assert check(event("fine", callId=word), "agent-runtime")
    assert not check(event("fine", call=word), "agent-runtime")
    assert check(event("fine", call="evt_01JZ8XKQ4T"), "agent-runtime")
    assert not check(event("line\n" + word), "agent-runtime")


def test_a_stored_gate_is_the_same_gate_and_a_broken_one_is_built_again():
    clues = list(sieve.clues(vocabulary(load_protocol("agenthub"))))
    first = gate.Gate(clues)
    for stored in (first.stored(), b"nonsense"):
        again = gate.Gate(clues, stored)
        assert again.look(b'{"a":"/home/alice/x"}') == first.look(b'{"a":"/home/alice/x"}') == gate.LEAK | gate.ROOTED
        assert again.look(b'{"a":"fine"}') == 0


def test_the_gate_is_built_when_demanded_or_when_it_pays(monkeypatch):
    known = vocabulary(load_protocol("agenthub"))
    told = [(document, json.dumps(document).encode()) for document in ({"type": "x", "a": f"fine {n}"} for n in "abc")]
    for mode, lines, built in (("off", 3, False), ("on", 1, True), ("auto", 2, False), ("auto", 3, True)):
        monkeypatch.setenv("RUNTIME_VALIDATE_FAST", mode)
        monkeypatch.setattr(sieve, "_PAYS", 3)
        found = sieve.Sieve(known)
        assert all(found.places(document, "x", raw) == {"text"} for document, raw in told[:lines])
        assert (found._gate is not None) is built


def test_without_the_library_the_same_is_decided_unless_it_is_demanded(monkeypatch):
    known, raw = vocabulary(load_protocol("agenthub")), b'{"type":"run.created","a":"fine"}'
    monkeypatch.setattr(gate, "is_available", lambda: False)
    monkeypatch.setattr(sieve, "_PAYS", 1)
    monkeypatch.setenv("RUNTIME_VALIDATE_FAST", "auto")
    assert sieve.Sieve(known).places(json.loads(raw), "run.created", raw) == {"text"}
    monkeypatch.setenv("RUNTIME_VALIDATE_FAST", "on")
    with pytest.raises(UsageError):
        sieve.Sieve(known).places(json.loads(raw), "run.created", raw)


@pytest.mark.parametrize(
    ("regex", "loose"),
    [
        ("a{3,9}b?", "(?:a){3,}"),
        ("xa?b", "x(?:a)?b"),
        ("xa{1,2}b", "x(?:a)+b"),
        ("a{30}b", "(?:a){24,}b"),
        ("xy(ab?)", "xya"),
        ("a*", ""),
        ("b(a?)", "b"),
        (r"\\x", None),
        (r"x|\\y", "(?:x)"),
        (r"(?:\\)?z", "z"),
        (r"(?i:[k.])q", r"(?:[\x2e\x4b\x6b])q"),
        (r"(?>a|b)c", r"(?:[\x61-\x62])c"),
        (r"a(?=b)$", r'a(?:"|\\)'),
        (
            r"[^\n]x.",
            r'(?:[\x20-\x21\x23-\x5b\x5d-\x7f]|\\["rtbf]|[\x80-\xff]+|\\u[0-9a-fA-F]{4})x'
            r'(?:[\x20-\x21\x23-\x5b\x5d-\x7f]|\\["rtbf]|[\x80-\xff]+|\\u[0-9a-fA-F]{4})',
        ),
    ],
)
def test_loosening(regex, loose):
    assert loosen(regex) == loose


def test_what_no_pattern_uses_is_refused():
    with pytest.raises(ValueError, match="cannot loosen"):
        loosen(r"(a)\1")
