"""Every row catches its hits and lets its near misses pass; escapes hide nothing, and nothing we print leaks."""

import base64
import io
import json
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from validator import resources
from validator.engine import Options, validate
from validator.protocol.clauses import load_clauses
from validator.protocol.protocol import available, load_protocol
from validator.readings import are_matched, first_matches, matches, readings
from validator.redact import (
    PLACES,
    canary_forms,
    is_marker,
    load_patterns,
    mask,
    masked_pointer,
    path_fields,
    scan,
    vocabulary,
    words_of,
)
from validator.rules._catalog import load_rules
from validator.rules.redaction import local_path_as_reference, private_path_in_path_field, private_path_in_text

PATTERNS = load_patterns()
ROWS = {row.id: row for row in PATTERNS.rows}
IN_TEXT = [row for row in PATTERNS.rows if row.in_text and row.kind != "entropy"]
CORE = load_protocol("agent-runtime")
HITS = [pytest.param(row, text, id=f"{row.id}-{i}") for row in PATTERNS.rows for i, text in enumerate(row.hit)]
NEARS = [pytest.param(row, text, id=f"{row.id}-{i}") for row in PATTERNS.rows for i, text in enumerate(row.near)]
TEXT_HITS = [pytest.param(row, text, id=f"{row.id}-{i}") for row in IN_TEXT for i, text in enumerate(row.hit)]
LOOKAROUND = re.compile(r"\(\?(?:[=!]|<[=!]|P[<=>])|\\[1-9]")


def event(text, number=1):
    return {
        "type": "task.created",
        "event_id": f"e{number}",
        "timestamp": "2026-05-08T09:00:01Z",
        "sequence": number,
        "session_id": "s1",
        "task_id": f"t{number}",
        "payload": {"objective": text},
    }


def told(found):
    """The first place of each row."""
    return {match.row.id: (match.start, match.end) for match in reversed(found)}


HIT_TEXTS, NEAR_TEXTS = ([text for row in PATTERNS.rows for text in getattr(row, kind)] for kind in ("hit", "near"))
BESIDE = [" ".join(pair) for pair in zip(HIT_TEXTS, HIT_TEXTS[7:], strict=False)]


@pytest.mark.parametrize("texts", [HIT_TEXTS, NEAR_TEXTS, BESIDE], ids=["hits", "nears", "both"])
def test_what_is_asked_for_the_first_places_is_told_as_by_all_of_them(texts):
    """Rows beside one another, escaped, and again and again."""
    for text in texts:
        for written in (text, f"{text} {text}", text.replace("/", "\\u002f"), f"ok {text} 100%25 {text}"):
            for rows in (PATTERNS.rows, [row for row in PATTERNS.rows if row.needles], IN_TEXT):
                found = matches(written, rows)
                assert told(first_matches(written, rows)) == told(found), written
                assert are_matched(written, rows) == bool(found), written


def test_a_text_that_one_row_claims_everywhere_is_not_read_to_its_end(monkeypatch):
    row, read = ROWS["home-posix"], []
    spans = type(row).spans

    def counted(self, text, lowered):
        for span in spans(self, text, lowered):
            read.append(span)
            yield span

    monkeypatch.setattr(type(row), "spans", counted)
    text = "/home/al " * 4000
    assert are_matched(text, IN_TEXT)
    assert [match.row for match in first_matches(text, IN_TEXT)] == [row]
    assert len(read) == 2


def judged(lines):
    """What the redaction rules find in lines of the core."""
    options = Options(protocol="agent-runtime", select=("RED",), max_findings_per_rule=10_000)
    report = validate(io.BytesIO("".join(f"{line}\n" for line in lines).encode()), options=options)
    assert not report.crashes
    return report


def escaped(text):
    """The JSON form of a text with every character written as an escape."""
    units = text.encode("utf-16-be")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


@pytest.mark.parametrize(("row", "text"), HITS)
def test_a_row_catches_its_hits(row, text):
    assert matches(text, [row])


@pytest.mark.parametrize(("row", "text"), NEARS)
def test_a_row_lets_its_near_misses_pass(row, text):
    assert not matches(text, [row])


@pytest.mark.parametrize("row", PATTERNS.rows, ids=lambda row: row.id)
def test_a_row_keeps_to_what_every_engine_knows(row):
    for pattern in filter(None, (row.regex, row.unless, row.not_after)):
        assert not LOOKAROUND.search(pattern.pattern)
    assert all(needle == needle.lower() for needle in row.needles)


def test_rows_have_names_of_their_own():
    assert len(ROWS) == len(PATTERNS.rows)


def test_a_guess_never_weighs_as_much_as_a_demand():
    for row in PATTERNS.rows:
        if row.kind == "entropy":
            assert {level for places in row.levels.values() for level in places.values()} == {"SHOULD"}


@pytest.mark.parametrize("name", available())
def test_the_level_of_a_path_is_that_of_the_clause_it_breaks(name):
    """The data says what a find weighs, the clause says it again; they agree."""
    protocol, clauses = load_protocol(name), load_clauses(resources.spec())
    cited = {
        "path": private_path_in_path_field.CLAUSES,
        "reference": local_path_as_reference.CLAUSES,
        **dict.fromkeys(("text", "tool", "output"), private_path_in_text.CLAUSES),
    }
    for row in PATTERNS.rows:
        if row.kind != "path":
            continue
        for place in PLACES:
            level = row.level(protocol.name, place)
            if level is None:
                continue
            ids = cited[place][protocol.name]
            ids = ids[-1:] if place == "output" else ids[:1] if place in {"text", "tool"} else ids
            assert {clauses[clause].level for clause in ids} == {level}, (row.id, place)


@pytest.mark.parametrize("name", available())
def test_secrets_break_demands_and_guesses_recommendations(name):
    protocol, clauses, rules = load_protocol(name), load_clauses(resources.spec()), load_rules()
    for rule in ("RED003", "RED005", "RED008", "RED009", "RED012"):
        assert {clauses[clause].level for clause in rules[rule].clauses.get(protocol.name, ())} <= {"MUST"}
    assert {clauses[clause].level for clause in rules["RED004"].clauses.get(protocol.name, ())} <= {"SHOULD"}


def test_json_escapes_hide_nothing():
    numbered = list(enumerate((text for row in IN_TEXT for text in row.hit), start=1))
    plain = judged(json.dumps(event(text, number)) for number, text in numbered)
    hidden = judged(json.dumps(event("@", number)).replace("@", escaped(text)) for number, text in numbered)
    assert {finding.line for finding in plain.findings} == {number for number, _ in numbered}
    assert [(f.line, f.rule, f.pointer) for f in hidden.findings] == [
        (f.line, f.rule, f.pointer) for f in plain.findings
    ]


def test_escaped_slashes_hide_no_path():
    forms = (r"\/home\/alice\/x", r"\u002fhome\u002falice\u002fx", r"\u002Fhome/alice/x")
    report = judged(json.dumps(event("@", number)).replace("@", form) for number, form in enumerate(forms, start=1))
    assert [(finding.rule, finding.line) for finding in report.findings] == [
        ("RED002", 1),
        ("RED002", 2),
        ("RED002", 3),
    ]


def test_no_finding_repeats_what_leaked():
    hits = [text for row in IN_TEXT for text in row.hit]
    lines = [event(text, number) for number, text in enumerate(hits, start=1)]
    lines += [
        event("x", number) | {"extensions": {text: text}} for number, text in enumerate(hits, start=len(hits) + 1)
    ]
    report = judged(map(json.dumps, lines))
    assert {finding.line for finding in report.findings} == set(range(1, len(lines) + 1))
    for number, document in enumerate(lines, start=1):
        shown = repr([finding for finding in report.findings if finding.line == number])
        text = hits[(number - 1) % len(hits)]
        leaked = (text[match.start : match.end] for match in matches(text, IN_TEXT))
        assert not [secret for secret in leaked if len(secret) > 3 and secret in shown], document


@pytest.mark.parametrize(("row", "text"), TEXT_HITS)
def test_a_masked_text_holds_nothing_any_row_catches(row, text):
    for whole in (text, f"see {text} and {text}", f"{text}\n{text}"):
        masked = mask(whole)
        assert "[masked" in masked
        assert not matches(masked, IN_TEXT)
        assert mask(masked) == masked


@given(st.lists(st.sampled_from([text for row in IN_TEXT for text in (*row.hit, *row.near)] + [" ", "\n", '"', "\\"])))
def test_masking_leaves_nothing_in_any_mixture(parts):
    masked = mask("".join(parts))
    assert not matches(masked, IN_TEXT)


@given(st.text(alphabet=st.sampled_from("/\\~%:.u02fhomeCUsers n\"'=@-")))
def test_readings_keep_their_places(text):
    for reading in readings(text):
        for index in range(len(reading.text)):
            start, end = reading.original(index, index + 1)
            assert 0 <= start < end <= len(text)


def test_masking_goes_on_over_names_with_spaces():
    assert "Doe" not in mask("open /Users/Jane Doe/plan.txt now")
    assert mask("nothing private in src/home/index.ts") == "nothing private in src/home/index.ts"


def test_a_canary_is_found_and_masked_in_its_encodings():
    canary = "canary-7f3a"
    for text in (
        canary,
        base64.b64encode(b"x=" + canary.encode() + b";").decode(),
        canary.encode().hex(),
        "can%61ry%2D7f3a",
        r"\u0063anary-7f3a",
    ):
        leaks = list(scan(event(text), CORE, [canary]))
        assert [leak.kind for leak in leaks] == ["canary"], text
        masked = mask(f"a {text} b", [canary])
        assert not list(scan(event(masked), CORE, [canary])), text
    assert canary_forms("") == ()


@pytest.mark.parametrize("shift", range(6))
def test_a_canary_is_found_in_base64_at_every_alignment(shift):
    text = base64.b64encode(b"abcdef"[:shift] + b"canary-7f3a" + b"tail").decode()
    assert [leak.kind for leak in scan(event(text), CORE, ["canary-7f3a"])] == ["canary"]


def test_a_canary_can_be_a_number_or_a_key():
    document = event("x") | {"extensions": {"n": 73019945, "k-73019945": True}}
    assert len(list(scan(document, CORE, ["73019945"]))) == 2


def test_pointers_mask_the_keys_they_go_through():
    assert masked_pointer(("a", 0, "/home/alice/x", "b~/")) == "/a/0/[masked path]/b~0~1"


def test_path_fields_come_from_the_schemas():
    assert {"cwd", "workspace_roots", "read_roots"} <= path_fields(CORE.store, "agent-runtime")
    hub = load_protocol("agenthub")
    assert {"affectedFiles", "directory", "allowlist", "path"} <= path_fields(hub.store, "agenthub")


@pytest.mark.parametrize("name", ["path", "filePath", "file_path", "workDir", "project_root", "log_dir", "cwd"])
def test_names_that_say_path(name):
    assert vocabulary(CORE).kinds(name) & {"path", "path?"}


@pytest.mark.parametrize("name", ["json_path", "urlPath", "xpath", "root_task_id", "profile", "pathology", ""])
def test_names_that_do_not_say_path(name):
    assert not vocabulary(CORE).kinds(name) & {"path", "path?"}


@pytest.mark.parametrize("name", ["password", "client_secret", "apiKey", "X-Api-Key", "access_token", "Set-Cookie"])
def test_names_that_say_secret(name):
    assert "secret" in vocabulary(CORE).kinds(name)


@pytest.mark.parametrize("name", ["max_tokens", "next_page_token", "token_ref", "secretary", "cookies_count"])
def test_names_that_do_not_say_secret(name):
    assert "secret" not in vocabulary(CORE).kinds(name)


def test_names_are_cut_into_words():
    assert words_of("fileURLPath_v2") == ("file", "url", "path", "v", "2")


@pytest.mark.parametrize(
    "value",
    ["[redacted]", "[REDACTED:api-key]", "<redacted>", "***", "••••", {"honest": "blocked", "reason": "Redacted."}],
)
def test_markers(value):
    assert is_marker(value)


@pytest.mark.parametrize("value", ["redaction is on", "", None, 3, {"honest": "unknown", "reason": "Not told."}])
def test_what_is_no_marker(value):
    assert not is_marker(value)


@pytest.mark.parametrize("name", available())
def test_what_we_ship_is_clean(name):
    """Golden captures are examples; examples are copied."""
    protocol = load_protocol(name)
    for path in (resources.fixtures() / name / "golden").glob("*.ndjson"):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert not list(scan(json.loads(line), protocol)), path.name


def test_hostile_text_is_read_in_bounded_time():
    for piece in ("/home/", "a_", "://a:", "password=", "server=a;", "-----BEGIN ", "%2F", "\\u002f", "~a/", "C:\\"):
        text = piece * 20_000
        list(scan(event(text), CORE))


def test_of_finds_that_overlap_the_row_that_is_listed_first_has_the_place():
    rows = [ROWS["assignment"], ROWS["temp-posix"], ROWS["home-posix"], ROWS["home-root"]]
    text = "/tmp/a /home/al/x token=Tr0ub4dor-3x9z:/tmp/b/home/c /root/x"
    assert [(match.row.id, text[match.start : match.end]) for match in matches(text, rows)] == [
        ("assignment", "Tr0ub4dor-3x9z"),
        ("temp-posix", "/tmp/a"),
        ("temp-posix", "/tmp/b/home/c"),
        ("home-posix", "/home/al/x"),
        ("home-root", "/root/x"),
    ]
    found = matches(text, reversed(PATTERNS.rows))
    assert all(one.end <= two.start for one, two in pairwise(sorted(found, key=lambda match: match.start)))


def test_keys_beside_one_another_are_found_one_by_one():
    key = "-----BEGIN RSA PRIV" + "ATE KEY-----\nProc-Type: 4\n------\nMIIE+/=\n-----END RSA PRIV" + "ATE KEY-----"
    text = f"{key}\n{key} and -----BEGIN PRIV" + "ATE KEY-----\nMIIE"
    row = ROWS["private-key"]
    assert [match.end - match.start for match in matches(f"see {key}", [row])] == [len(key)]
    assert len(matches(text, [row])) == 3
