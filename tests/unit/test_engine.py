"""Bytes in, a report out: verdicts, exit codes, counts, and the same result however it is fed."""

import io
import json

import pytest

from validator import resources
from validator.capture.detect import detect
from validator.engine import Options, Validator, line_numbers, validate
from validator.errors import UsageError
from validator.renderers import FORMATS, render
from validator.rules import Finding
from validator.rules._catalog import load_rules
from validator.run import Run

GOLDEN = sorted(resources.fixtures().rglob("golden/*.ndjson"))


def event(number, kind, payload=None, **ids):
    base = {"type": kind, "event_id": f"e{number}", "timestamp": f"2026-05-08T09:00:{number:02}Z", "sequence": number}
    return {**base, "session_id": "s1", **ids, **({"payload": payload} if payload is not None else {})}


def judge(*documents, **options):
    data = b"".join(json.dumps(document).encode() + b"\n" for document in documents)
    return validate(io.BytesIO(data), "x.ndjson", Options(**options))


CREATED = event(1, "task.created", {"objective": "Fix it."}, task_id="t1")
STARTED = event(2, "task.started", task_id="t1")
DONE = event(3, "task.completed", task_id="t1")


def test_a_legal_lifecycle_conforms():
    report = judge(CREATED, STARTED, DONE)
    assert (report.verdict, report.exit_code, report.findings) == ("conformant", 0, ())


def test_an_illegal_move_is_a_violation_with_its_proof():
    report = judge(CREATED, {**DONE, "sequence": 2})
    (found,) = [entry for entry in report.findings if entry.rule == "STA001"]
    assert (report.verdict, report.exit_code) == ("violations", 1)
    assert (found.line, found.clause, found.level, found.state, found.witness) == (2, "TASK-20", "MUST", "draft", (1,))
    assert found.entity == ("task", "t1")
    assert found.offset == len(json.dumps(CREATED)) + 1


def test_a_demand_of_the_profile_weighs_must_under_the_clause_it_names():
    """ENV-28 says SHOULD, and the strict profile demands one of the ids it names."""
    whole = {"runtime_id": "r1", "schema_version": "0.3"}
    lacking = event(2, "thread.started", {}, thread_id="h1", schema_version="0.3")
    report = judge(event(1, "session.created", {}, **whole), lacking, profile="strict", expect="prefix")
    (found,) = report.findings
    (outcome,) = [entry for entry in report.requirements if entry.requirement == "ENV-28"]
    assert (found.rule, found.clause, found.level, found.line) == ("SCH001", "ENV-28", "MUST", 2)
    assert (outcome.level, outcome.outcome, report.verdict) == ("MUST", "fail", "violations")


@pytest.mark.parametrize(("ignored", "teller"), [((), "SCH002"), (("SCH001",), "SCH002"), (("SCH002",), "SCH001")])
def test_a_demand_that_a_rule_tells_as_its_own_weighs_must_there(ignored, teller):
    """ENV-9 says SHOULD; whichever of the two rules is left out, the other tells it."""
    first = event(1, "session.created", {}, runtime_id="r1", schema_version="0.3")
    report = judge(
        first, event(2, "session.updated", {"title": "T"}, runtime_id="r1"), profile="strict", ignore=ignored
    )
    assert [(found.rule, found.clause, found.level) for found in report.findings] == [(teller, "ENV-9", "MUST")]


@pytest.mark.parametrize(
    ("data", "verdict", "code"),
    [
        (b"", "incomplete", 3),
        (b"\n\n", "unreadable", 4),
        (b"\x00\xff\xfe garbage \x01\n\x80\x81", "unreadable", 4),
        (b'{"hello":"world"}\n', "incomplete", 3),
        (b'{"type":"acme.thing","event_id":"1","timestamp":"2026-05-08T09:00:00Z"}\n', "incomplete", 3),
    ],
)
def test_what_shows_nothing_is_never_green(data, verdict, code):
    report = validate(io.BytesIO(data))
    assert (report.verdict, report.exit_code) == (verdict, code)


def test_open_work_is_incomplete_unless_the_capture_is_a_prefix():
    assert judge(CREATED, STARTED).verdict == "incomplete"
    assert "task t1 is still running" in judge(CREATED, STARTED).incomplete
    assert judge(CREATED, STARTED, expect="prefix").verdict == "conformant"
    header = {
        "record": "header",
        "capture": "1",
        "protocol": "agent-runtime",
        "version": "0.3",
        "completeness": "prefix",
    }
    assert judge(header, CREATED, STARTED).verdict == "conformant"
    assert judge(header, CREATED, STARTED, expect="complete").verdict == "incomplete", "options beat the header"


def test_a_cut_last_line_is_incomplete_and_no_failure():
    data = (
        b"".join(json.dumps(document).encode() + b"\n" for document in (CREATED, STARTED, DONE)) + b'{"type":"task.arch'
    )
    report = validate(io.BytesIO(data))
    assert (report.verdict, report.findings, report.incomplete) == ("incomplete", (), ("the last line is cut",))


def test_a_repeated_identical_event_changes_nothing():
    once, twice = judge(CREATED, STARTED, DONE), judge(CREATED, STARTED, STARTED, DONE)
    # What a redelivery shows about redelivery (ORD-12) is the one thing it may add.
    told = [{(entry.requirement, entry.outcome) for entry in report.requirements} for report in (once, twice)]
    assert {name for name, _ in told[0] ^ told[1]} <= {"ORD-12"}
    assert twice.findings == ()


def test_the_totals_add_up_to_the_requirement_set():
    report = judge(CREATED, STARTED, DONE)
    assert sum(report.totals().values()) == len(report.requirements) > 700


def test_ignored_rules_are_suppressed_and_selected_ones_are_all_there_is():
    bad = {**DONE, "sequence": 2}
    assert "STA001" not in judge(CREATED, bad, ignore=("STA",)).counts
    assert set(judge(CREATED, bad, select=("STA",)).counts) == {"STA001"}


def test_a_crashed_rule_is_exit_code_two_and_never_hidden(monkeypatch):
    rule = load_rules()["STA001"]

    def broken(step, world, context):
        raise ZeroDivisionError
        yield Finding(1, "", "")

    monkeypatch.setattr(
        "validator.session.load_rules",
        lambda _: {"STA001": type(rule)("STA001", rule.slug, rule.clauses, rule.on, broken, (), rule.text)},
    )
    report = judge(CREATED, STARTED, DONE)
    assert report.exit_code == 2
    assert [(crash.rule, crash.error) for crash in report.crashes] == [("STA001", "ZeroDivisionError")]
    assert "error" in {entry.outcome for entry in report.requirements if "STA001" in entry.rules}


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parts[-4]}-{path.stem}")
def test_line_by_line_and_whole_give_the_same_bytes(path):
    data = path.read_bytes()
    whole = render("json", Run((validate(io.BytesIO(data), path.name),)))
    again = render("json", Run((validate(io.BytesIO(data), path.name),)))
    judge_ = Validator(path.name)
    for text in data.decode().splitlines():
        judge_.feed(text)
    assert whole == again == render("json", Run((judge_.close(),)))


def test_the_report_fits_its_published_schema(core):
    report = judge(CREATED, {**DONE, "sequence": 2}, {"record": "rumour"})
    document = json.loads(render("json", Run((report, validate(io.BytesIO(b""))))))
    assert core.store.errors("report/1/report.schema.json", document) == []


def test_a_stream_says_itself_what_protocol_it_is():
    assert detect({"type": "x", "event_id": "e"}) == detect({"type": "x", "eventId": "e"}) == "agent-runtime/0.3"
    assert detect({"seq": 1, "streamId": "run:x", "event": {}}) == "agent-threads/1"
    assert detect({"record": "header", "protocol": "agenthub", "version": "1"}) == "agenthub/1"
    assert detect({"record": "header", "protocol": "nothing"}) is None
    assert detect({"a": 1}) is None


@pytest.mark.parametrize(
    ("named", "known"),
    [
        ({"protocol": "agent-runtime"}, True),
        ({"protocol": "agent-runtime/0.3"}, True),
        ({"protocol": "agent-runtime", "version": "0.3"}, True),
        ({"protocol": "agent-runtime", "version": "0.3.9"}, True),
        ({"protocol": "agent-runtime", "version": "0.30"}, False),
        ({"protocol": "agent-runtime", "version": "9"}, False),
        ({"protocol": "nothing", "version": "0.3"}, False),
    ],
)
def test_a_protocol_that_the_judge_does_not_have_is_never_passed(named, known):
    header = {"record": "header", "capture": "1", **named}
    report = judge(header, CREATED, STARTED, DONE)
    reason = "the header names a protocol or a version that this judge does not have"
    assert (report.protocol, report.findings) == ("agent-runtime/0.3", ())
    assert (report.verdict, report.incomplete) == (("conformant", ()) if known else ("incomplete", (reason,)))
    assert judge(header, CREATED, STARTED, DONE, protocol="agent-runtime").verdict == "conformant"


def test_an_event_that_nobody_lists_beside_run_records_changes_no_verdict():
    path = resources.fixtures() / "agent-threads" / "1" / "rules" / "ATH002" / "near-superseded.ndjson"
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    vendor = {
        "seq": 1,
        "timestamp": "2026-07-01T10:00:00Z",
        "streamId": "acme",
        "event": {"kind": "acme", "payload": {}},
    }
    assert judge(*lines).verdict == judge(*lines, vendor).verdict == "conformant"
    assert judge(lines[0], vendor).verdict == "incomplete"


def test_a_line_of_two_types_that_is_left_out_puts_what_it_told_in_doubt():
    raw = json.dumps(STARTED).encode().replace(b'"type": ', b'"type": "acme.note", "type": ')
    torn = raw.replace(b"task.started", b"acme.other")
    data = b"\n".join((json.dumps(CREATED).encode(), torn, json.dumps(DONE).encode(), b""))
    whole = validate(io.BytesIO(data), "x.ndjson", Options())
    assert [found.rule for found in whole.findings] == ["FRM007"]
    part = validate(io.BytesIO(data), "x.ndjson", Options(lines=line_numbers("1,3")))
    assert not part.findings


def test_a_malformed_header_is_a_finding_and_stops_nothing():
    header = {"record": "header", "capture": "1", "protocol": "agent-runtime", "capabilities": 5, "canaries": 7}
    report = judge(header, CREATED, STARTED, DONE)
    assert {(found.line, found.pointer) for found in report.findings} == {(1, "/capabilities"), (1, "/canaries")}
    assert report.crashes == ()


@pytest.mark.parametrize("value", [["run"], {"a": 1}, 5, None, True])
def test_a_record_whose_word_is_no_word_is_a_finding_and_no_crash(value):
    report = judge(
        {"record": value},
        {"record": "command", "command": value, "command_id": "c", "request": {}},
        CREATED,
        STARTED,
        DONE,
    )
    assert report.crashes == ()
    assert report.verdict == "violations"


def test_a_leaked_value_is_never_printed():
    leak, canary = "/home/alice/.ssh/id_rsa", "canary-7f3a-9b"
    created = event(1, "task.created", {"objective": leak, leak: canary}, task_id=leak)
    report = judge(created, event(2, "task.completed", task_id=leak), canaries=(canary,))
    assert report.findings
    for form in FORMATS:
        text = render(form, Run((report,)))
        assert "alice" not in text
        assert canary not in text


def header(**more):
    return {"record": "header", "capture": "1", "protocol": "agent-runtime", "version": "0.3", **more}


def test_the_headers_profile_counts_unless_the_caller_names_one():
    assert judge(header(profile="strict"), CREATED).profile == "strict"
    assert judge(header(profile="strict"), CREATED, profile="default").profile == "default"
    assert judge(header(), CREATED).profile == "default"
    assert judge(header(profile="strict"), CREATED, protocol="agent-runtime").profile == "strict"


@pytest.mark.parametrize("claim", ["strictest", "../profiles/strict", "strict.yaml", "/etc/passwd", "", 7, None])
def test_a_claimed_profile_that_is_not_shipped_is_a_finding_and_reads_nothing(claim):
    report = judge(header(profile=claim), CREATED, STARTED, DONE)
    assert (report.profile, report.verdict) == ("default", "violations")
    assert {found.rule for found in report.findings} <= {"FRM015", "SCH001"}


def test_left_out_lines_keep_their_place_and_make_no_gap():
    unasked = event(4, "tool.result", {"status": "completed"}, tool_call_id="c9", turn_id="u", thread_id="h")
    whole = judge(CREATED, STARTED, DONE, unasked)
    (found,) = [entry for entry in whole.findings if entry.rule == "ORD005"]
    alone = judge(CREATED, STARTED, DONE, unasked, lines=frozenset({found.line}))
    assert found.fingerprint in {entry.fingerprint for entry in alone.findings}
    assert "ORD006" not in alone.counts
    assert "3 of 4 lines were left out, as the caller asked" in alone.incomplete


def test_lines_alone_are_never_a_pass():
    report = judge(CREATED, STARTED, DONE, lines=frozenset({1, 2, 3}))
    assert report.verdict == "conformant"
    assert judge(CREATED, STARTED, DONE, lines=frozenset({1, 2})).verdict == "incomplete"


def test_line_numbers_are_read_as_the_proof_prints_them():
    assert line_numbers("3,7-9") == {3, 7, 8, 9}
    assert line_numbers("") == frozenset()
    for word in ("0", "x", "5-3", "-2", "1-x", "3-", "1-2-3", "1-9999999999", "9" * 5000):
        with pytest.raises(UsageError):
            line_numbers(word)


def test_a_record_of_an_unknown_kind_is_a_finding():
    report = judge(CREATED, {"record": "rumour"}, {"record": "export", "export": "splunk_hec"}, STARTED, DONE)
    assert [(found.rule, found.line, found.pointer) for found in report.findings] == [
        ("SCH001", 2, "/record"),
        ("SCH001", 3, "/record"),
    ]


def test_a_snapshot_line_that_holds_a_record_shows_what_its_schema_judges():
    """The clauses of a stored record pass where it is served, and not only where it has a line of its own."""
    result = {"runId": "01KWEHY18000000000000000R1", "previousStatus": "created", "newStatus": "failed"}
    served = {"record": "snapshot", "model": "recover_result", "snapshot": result}
    report = judge(served, protocol="agent-threads")
    assert {entry.requirement: entry.outcome for entry in report.requirements}["AT-83"] == "pass"


def test_what_follows_from_a_refused_move_hangs_under_it():
    progress = event(2, "task.progress", {"message": "x"}, task_id="t1")
    early = event(3, "task.completed", task_id="t1")
    started, resumed = event(4, "task.started", task_id="t1"), event(5, "task.resumed", task_id="t1")
    report = judge(CREATED, progress, early, started, resumed)
    causes = {found.line: found.cause for found in report.findings if found.rule == "STA001"}
    assert causes == {2: None, 3: 2, 5: None}, "a legal move in between ends the chain"
    text = render("text", Run((report,)))
    assert "leads to  line 3 STA001 task.completed" in text
    assert text.count("MUST STA001") == 2


def test_an_input_that_is_no_capture_gets_a_hint():
    assert "jq -c" in render("text", Run((validate(io.BytesIO(b"{\n}\n")),)))
    assert "--protocol" in render("text", Run((validate(io.BytesIO(b'{"hello":1}\n')),)))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parts[-4]}/{path.stem}")
def test_an_event_alone_tells_its_protocol(path):
    """A plain event stream has no header; the first event or run record has to be enough."""
    lines = (json.loads(line) for line in path.read_bytes().splitlines())
    telling = [line for line in lines if line.get("record", "run") == "run"]
    assert {detect(line) for line in telling} <= {f"{path.parts[-4]}/{path.parts[-3]}"}
