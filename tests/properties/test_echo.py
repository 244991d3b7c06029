"""Streamed text takes a short way, and the report is the one of the long way."""

import json
from collections import Counter
from itertools import product

import pytest

from tests.properties.shortened import judged
from tests.properties.streams import camel
from tests.properties.stretched import FIELDS, Stretching
from tests.unit.test_quiet import HITS
from validator import echo, engine, resources
from validator.capture.ndjson import Limits
from validator.engine import Options, Validator
from validator.protocol.protocol import load_protocol
from validator.protocol.view import view
from validator.replay import world
from validator.replay.step import Step
from validator.rules.snapshot import old_fact_told_anew

PATHS = [
    *sorted(resources.fixtures().glob("agent-runtime/*/golden/*.ndjson")),
    *sorted(resources.fixtures().glob("agent-runtime/*/rules/*/*.ndjson"))[::31],
]


@pytest.mark.parametrize("several", [1, 3])
@pytest.mark.parametrize("part", range(6))
def test_the_short_way_leads_to_the_same_report(part, several, monkeypatch, taken):
    monkeypatch.setattr(echo, "SEVERAL", several)
    for path in PATHS[part::6]:
        data = b"\n".join(Stretching(path.name, longest=30).lines(path.read_bytes().splitlines())) + b"\n"
        assert judged(monkeypatch, data, "auto") == judged(monkeypatch, data, "off"), path
    assert len(taken) > 12


def in_camel_case(lines):
    """The same capture in camelCase; what is no object stays as it is."""
    protocol = load_protocol("agent-runtime")
    for line in lines:
        try:
            document = json.loads(line)
        except ValueError:
            document = None
        spelt = camel(protocol, document) if isinstance(document, dict) else None
        yield line if spelt is None else json.dumps(spelt, ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize("part", range(6))
def test_in_camel_case_the_short_way_leads_to_the_same_report(part, monkeypatch, taken):
    monkeypatch.setattr(echo, "SEVERAL", 1 + part % 3)
    for path in PATHS[part::6]:
        stretched = Stretching(path.name).lines(path.read_bytes().splitlines())
        data = b"\n".join(in_camel_case(stretched)) + b"\n"
        assert judged(monkeypatch, data, "auto") == judged(monkeypatch, data, "off"), path
    assert len([line for line in taken if b'"sessionId":' in line]) == len(taken) > 12


@pytest.mark.parametrize("few", [1, 2, 7, 20, 40])
def test_the_short_way_may_begin_at_any_line(few, monkeypatch, taken):
    met = 0
    for path in PATHS[::9]:
        lines = list(Stretching(path.name).lines(path.read_bytes().splitlines()))
        data = b"\n".join(lines) + b"\n"
        monkeypatch.setattr(engine, "FEW", few)
        found = judged(monkeypatch, data, "auto")
        assert all(lines.index(raw) >= few for raw in taken), path
        met += len(taken)
        taken.clear()
        assert found == judged(monkeypatch, data, "off"), path
    assert met > 12


def test_a_capture_of_few_lines_goes_without_the_short_way(monkeypatch, taken):
    data = "\n".join(late_output(60)).encode() + b"\n"
    monkeypatch.setattr(engine, "FEW", 256)
    few = judged(monkeypatch, data, "auto")
    assert not taken
    assert few == judged(monkeypatch, data, "off")


def kept_by(ledger):
    """What a ledger keeps, but for the world."""
    return {name: repr(value) for name, value in vars(ledger).items() if not isinstance(value, world.World)}


@pytest.mark.parametrize("part", range(3))
def test_who_heeds_no_last_piece_is_left_as_it_was_by_every_further_one(part, monkeypatch):
    way, met = echo.Echoes.take, Counter()
    monkeypatch.setattr(echo, "SEVERAL", 1_000_000)

    def watched(self, raw, number, offset):
        known = next((one for one in self._by_group.values() if one.line == number - 1), None)
        if not way(self, raw, number, offset):
            return False
        if known is not None and known.line == number:
            like = known.step
            step = Step(json.loads(raw), number, offset, type=like.type, place=like.place, form=like.form)
            step.moves, step.scope = like.moves, like.scope
            for kind, apply in self._world.audience(step).teachers:
                if not getattr(kind, "heeds_last", True) and met[kind] < 99:
                    before = kept_by(self._world.ledger(kind))
                    apply(step)
                    assert kept_by(self._world.ledger(kind)) == before, kind
                    met[kind] += 1
        return True

    monkeypatch.setattr(echo.Echoes, "take", watched)
    for path, turn in product(PATHS[part::3], range(3)):
        stretched = Stretching(f"{path.name} {turn}").lines(path.read_bytes().splitlines())
        judged(monkeypatch, b"\n".join(stretched) + b"\n", "auto")
    assert len(met) > 7


def late_output(count):
    """A process that is over and still writes, beside a session that goes on; at last it fails."""
    ids = {"session_id": "s1", "thread_id": "h1", "turn_id": "u1"}
    process = {**ids, "process_id": "p1"}
    told = [
        ("session.created", {"session_id": "s1"}, {"title": "One"}),
        ("session.created", {"session_id": "s2"}, {"title": "Two"}),
        ("turn.submitted", ids, {"status": "accepted", "input_ref": "input://1", "source": "workspace"}),
        ("turn.started", ids, {}),
        ("process.started", process, {"command": "make"}),
        ("process.completed", process, {"exit_code": 0}),
    ]
    for number in range(count):
        told.append(("process.output", process, {"stream": "stdout", "text": f"line {number}", "drained": True}))
        told.append(("session.updated", {"session_id": "s2"}, {"changed": ["title"], "title": f"{number}"}))
    told.append(("process.failed", process, {"error": {"category": "spawn", "message": "Again."}}))
    counts = {}
    for line, (kind, named, payload) in enumerate(told, start=1):
        counts[named["session_id"]] = sequence = counts.get(named["session_id"], 0) + 1
        head = {"type": kind, "event_id": f"e{line}", "timestamp": "2026-05-08T09:00:00Z", "sequence": sequence}
        yield json.dumps({**head, **named, "payload": payload}, separators=(",", ":"))


ROWS = {
    "a leak": ("delta", "see /home/alice/notes"),
    "a mark": ("delta", "[redacted]"),
    "nothing": ("delta", ""),
    "an escape": ("delta", "a\\b \x07"),
    "beyond ASCII": ("delta", "ünï"),
    "a new word": ("delta", "neverheard"),
    "a sequence": ("sequence", 999),
    "an earlier time": ("timestamp", "2026-05-08T08:59:59Z"),
    "another day": ("timestamp", "2026-05-09T09:00:00Z"),
    "no time": ("timestamp", "2026-05-08T29:00:00Z"),
    "an id met before": ("event_id", "e10"),
    "an id that leaks": ("event_id", "/home/alice"),
    "a longer id": ("event_id", "e" * 30),
    "another key": ("vendor", 1),
    "another session": ("session_id", "ses_2"),
}
"""What is odd about one line of many."""


def many(count, odd, place):
    """Pieces of text of which one is odd; a field of the payload or of the line."""
    lines = [json.loads(line) for line in talk([f"word {number % 7} " for number in range(count)])]
    for number, event in enumerate(lines):
        event["timestamp"] = f"2026-05-08T09:{number // 60:02d}:{number % 60:02d}Z"
    name, value = ROWS[odd]
    event = lines[place]
    (event["payload"] if name in event["payload"] else event)[name] = value
    return [json.dumps(event, separators=(",", ":"), ensure_ascii=False) for event in lines]


@pytest.mark.parametrize("place", [8, 9, 12, 15, 40, 99, 104])
@pytest.mark.parametrize("odd", sorted(ROWS))
def test_a_row_ends_before_an_odd_line(odd, place, monkeypatch, taken):
    data = "\n".join(many(100, odd, place)).encode() + b"\n"
    report = judged(monkeypatch, data, "auto")
    assert len(taken) >= (place - 7 if odd == "a sequence" else 90)
    assert report == judged(monkeypatch, data, "off")


def test_rows_take_most_lines_of_a_long_text(monkeypatch, taken):
    alone, way = [], echo.Echoes.take

    def watched(self, raw, number, offset):
        alone.append(number)
        return way(self, raw, number, offset)

    monkeypatch.setattr(echo.Echoes, "take", watched)
    data = "\n".join(many(2_000, "beyond ASCII", 900)).encode() + b"\n"
    assert judged(monkeypatch, data, "auto").lines == 2_005
    assert len(taken) > 1_990
    assert len(alone) < 60


@pytest.mark.parametrize("size", [1, 100, 1_000, 3_000])
def test_rows_end_where_the_bytes_at_hand_do(size, monkeypatch, taken):
    data = "\n".join(many(300, "a leak", 250)).encode() + b"\n"
    expected = judged(monkeypatch, data, "off")
    monkeypatch.setenv("RUNTIME_VALIDATE_FAST", "auto")
    judge = Validator("x", Options(protocol="agent-runtime"))
    for start in range(0, len(data), size):
        judge.feed(data[start : start + size])
    assert judge.close() == expected
    assert len(taken) > 280


def test_rows_keep_to_the_longest_line(monkeypatch, taken):
    data = "\n".join(talk([*["few words "] * 40, "word " * 200, *["few words "] * 40])).encode() + b"\n"
    options = Options(protocol="agent-runtime", limits=Limits(line_bytes=600))
    report = judged(monkeypatch, data, "auto", options)
    assert report == judged(monkeypatch, data, "off", options)
    assert report.counts["FRM012"] == 1
    assert len(taken) > 70


def test_what_waited_of_a_session_may_be_let_go_while_it_is_silent(monkeypatch, taken):
    monkeypatch.setattr(old_fact_told_anew, "KEPT", 8)
    one, two = ([json.loads(line) for line in talk(["few words "] * 60)] for _ in range(2))
    for event in two:
        names = {name: f"{value}b" for name, value in event.items() if name.endswith("_id")}
        event.update(names)
    lines = [*one[:20], *two, *one[20:]]
    data = "\n".join(json.dumps(event, separators=(",", ":")) for event in lines).encode() + b"\n"
    assert judged(monkeypatch, data, "auto") == judged(monkeypatch, data, "off")
    assert len(taken) > 100


def test_rows_end_where_something_fades(monkeypatch, taken):
    data = "\n".join(talk(["few words "] * 200)).encode() + b"\n"
    monkeypatch.setattr(world, "RECENT", 30)
    assert judged(monkeypatch, data, "auto") == judged(monkeypatch, data, "off")
    assert len(taken) > 150


def test_output_comes_in_rows_as_long_as_its_offset_grows(monkeypatch, taken):
    for place, offset in ((20, 64), (20, 60), (30, 10_000)):
        lines = list(outputs(60))
        event = json.loads(lines[place])
        event["payload"]["offset"] = offset
        lines[place] = json.dumps(event, separators=(",", ":"))
        data = "\n".join(lines).encode() + b"\n"
        assert judged(monkeypatch, data, "auto") == judged(monkeypatch, data, "off")
    assert len(taken) > 150


def test_what_still_speaks_is_not_forgotten(monkeypatch, taken):
    monkeypatch.setattr(world, "RECENT", 12)
    for count in range(8, 24):
        data = "\n".join(late_output(count)).encode() + b"\n"
        assert judged(monkeypatch, data, "auto") == judged(monkeypatch, data, "off"), count
    assert taken


def talk(pieces, **more):
    """A turn whose model says some pieces."""
    ids = {"session_id": "ses_1", "thread_id": "thr_1", "turn_id": "turn_1"}
    request = {**ids, "model_request_id": "mr_1"}
    told = [
        ("session.created", {"session_id": "ses_1"}, {"title": "Talk"}),
        ("thread.started", {"session_id": "ses_1", "thread_id": "thr_1"}, {"title": "Main"}),
        ("turn.submitted", ids, {"status": "accepted", "input_ref": "input://1", "source": "workspace"}),
        ("turn.started", ids, {}),
        ("model.requested", request, {"provider": "acme", "model": "acme-large"}),
        *[("model.delta", request, {"delta": piece}) for piece in pieces],
    ]
    for number, (kind, named, payload) in enumerate(told, start=1):
        head = {"type": kind, "event_id": f"e{number}", "timestamp": f"2026-05-08T09:00:{number % 60:02d}Z"}
        event = {**head, "sequence": number, **named, "payload": payload, **more}
        yield json.dumps(event, separators=(",", ":"), ensure_ascii=False)


def test_a_replayed_capture_in_camel_case_says_what_the_short_way_kept(monkeypatch, taken):
    """A snapshot makes the replay read the pieces again that were only matched."""
    told = [json.loads(line) for line in talk(["one", "two", "three", "four", "five", "six"])]
    asked = {"record": "snapshot", "model": "session_ledger", "sequence": 9, "snapshot": {"session_id": "ses_1"}}
    data = b"\n".join(in_camel_case(json.dumps(line).encode() for line in [*told, asked])) + b"\n"
    report = judged(monkeypatch, data, "auto")
    assert report == judged(monkeypatch, data, "off")
    assert taken
    assert not report.crashes


def test_text_takes_the_short_way_from_its_third_piece_on(monkeypatch, taken):
    data = "\n".join(talk(["one", "two", "three", "four", "five"])).encode() + b"\n"
    report = judged(monkeypatch, data, "auto")
    assert len(taken) == 3
    assert report == judged(monkeypatch, data, "off")
    assert len(taken) == 3
    assert (report.lines, report.events) == (10, 10)


ZONED = [
    ("Z", "Z", 3),
    ("+00:00", "+00:00", 3),
    ("-03:30", "-03:30", 3),
    ("+00:00", "+01:00", 0),
    ("+00:00", ".1234Z", 0),
    ("Z", "z", 0),
    ("+25:00", "+25:00", 0),
]


@pytest.mark.parametrize(("first", "later", "short"), ZONED)
def test_times_that_go_on_in_their_zone_take_the_short_way(first, later, short, monkeypatch, taken):
    lines = list(talk(["one", "two", "three", "four", "five"]))
    zones = [first] * 7 + [later] * 3
    data = "\n".join(line.replace('Z"', f'{zone}"') for line, zone in zip(lines, zones, strict=True)).encode() + b"\n"
    assert judged(monkeypatch, data, "auto") == judged(monkeypatch, data, "off")
    changed = data.splitlines()[7]
    assert taken.count(changed) == (first == later and short > 0)
    assert len(taken) >= short


ESCAPED = ["gr\\u00f6\\u00dfer", "\\ud83d\\ude00 a\\/b", "a\\nb", "a\\\\u0041", "\\u4f60\\u597d"]


@pytest.mark.parametrize("text", ESCAPED)
def test_escapes_that_are_not_needed_take_the_short_way(text, monkeypatch, taken):
    """An event delivered again is known again, in whatever way its text is escaped."""
    lines = [line.replace("@", text) for line in talk(["@", "@", "@", "@", "@"])]
    again = json.dumps(json.loads(lines[8]), ensure_ascii=False, separators=(",", ":"))
    data = "\n".join([*lines, again]).encode() + b"\n"
    report = judged(monkeypatch, data, "auto")
    assert len(taken) == 3
    assert report == judged(monkeypatch, data, "off")
    assert "IDN003" not in report.counts


@pytest.mark.parametrize("text", ["\\ud83d", "\\u12", "\\x", "\\b\\/", "\\u0007", "\\u002fhome\\u002falice"])
def test_escapes_that_may_mean_something_else_go_the_long_way(text, monkeypatch, taken):
    lines = [line.replace("@", text) for line in talk(["one", "two", "three", "@", "five"])]
    data = "\n".join(lines).encode() + b"\n"
    assert judged(monkeypatch, data, "auto") == judged(monkeypatch, data, "off")
    assert not any(text.encode() in line for line in taken)


SPANS = ["7f3a", "8b21", "9c05", "ab12", "cd34", "ef56", "0a1b"]


@pytest.mark.parametrize(
    "told",
    [
        lambda number: {"payload": {"delta": "word", "index": number}},
        lambda number: {"acme": SPANS[number], "acme_ms": number * 37},
        lambda number: {"acme": {"a": {"span": SPANS[number]}, "load": number + 0.25}},
    ],
)
def test_lines_that_differ_in_what_nobody_reads_take_the_short_way(told, monkeypatch, taken):
    lines = [json.loads(line) for line in talk(["word"] * 7)]
    lines[5:] = [{**line, **told(number)} for number, line in enumerate(lines[5:])]
    again = lines[10]
    data = "\n".join(json.dumps(line, separators=(",", ":")) for line in [*lines, again]).encode() + b"\n"
    report = judged(monkeypatch, data, "auto")
    assert report == judged(monkeypatch, data, "off")
    assert len(taken) == 4, "from the second of two that differ on"
    assert not report.findings


@pytest.mark.parametrize("value", ["/home/alice/x", "[redacted]", "***", "a\\u0062", "", 7, None, "ghp_" + "a1B2" * 9])
def test_what_a_vendor_adds_may_leak_or_hide(value, monkeypatch, taken):
    lines = [json.loads(line) for line in talk(["word"] * 8)]
    lines[5:] = [{**line, "acme": span} for line, span in zip(lines[5:], ["x", *SPANS], strict=True)]
    lines[11]["acme"] = value
    data = "\n".join(json.dumps(line, separators=(",", ":")) for line in lines).encode() + b"\n"
    assert judged(monkeypatch, data, "auto") == judged(monkeypatch, data, "off")
    assert taken
    assert not any(b'"e12"' in line for line in taken)


@pytest.mark.parametrize(
    "piece",
    ["/home/alice/x", "\\u002fhome\\u002falice", "sk-ant-api03-" + "aB3" * 30, "[redacted]", "", "C:\\Users\\bob"],
)
def test_what_may_leak_or_hide_goes_the_long_way(piece, monkeypatch, taken):
    data = "\n".join(talk(["one", "two", "three", piece, "five"])).encode() + b"\n"
    assert judged(monkeypatch, data, "auto") == judged(monkeypatch, data, "off")
    assert not any(piece.encode() in line for line in taken if piece)
    assert len(taken) <= 2


def cut(text, size):
    return [text[place : place + size] for place in range(0, len(text), size)]


@pytest.mark.parametrize(("size", "sign"), [(5, "/"), (7, "\\u002f"), (400, "/"), (400, "\\/")])
def test_what_leaks_whole_or_in_pieces_is_found_as_on_the_long_way(size, sign, monkeypatch, taken):
    pieces = [piece for text in HITS[size % 4 :: 6] for piece in ("fine words ", *cut(text, size))]
    data = "\n".join(talk(pieces)).replace("/", sign).encode() + b"\n"
    assert judged(monkeypatch, data, "auto") == judged(monkeypatch, data, "off")
    assert len(taken) > 20


@pytest.mark.parametrize("options", [Options(canaries=("word",)), Options(lines=frozenset({1, 2, 3, 9}))])
def test_canaries_and_single_lines_have_no_short_way(options, monkeypatch, taken):
    data = "\n".join(talk(["one"] * 9)).encode() + b"\n"
    report = judged(monkeypatch, data, "auto", options)
    assert not taken
    assert report == judged(monkeypatch, data, "off", options)


@pytest.mark.parametrize("name", ["/home/alice/e9", "[redacted]", "***", "removed 9"])
def test_an_id_that_leaks_or_hides_goes_the_long_way(name, monkeypatch, taken):
    lines = list(talk(["one", "two", "three", "four"]))
    lines[-1] = lines[-1].replace('"e9"', f'"{name}"')
    data = "\n".join(lines).encode() + b"\n"
    report = judged(monkeypatch, data, "auto")
    assert report == judged(monkeypatch, data, "off")
    assert len(taken) == 1
    assert [found.rule for found in report.findings if found.line == 9]


def test_findings_so_far_are_those_of_the_lines_so_far(monkeypatch, taken):
    lines = list(talk(["one", "two", "three", "/home/alice/x", "five"]))
    monkeypatch.setenv("RUNTIME_VALIDATE_FAST", "auto")
    judge = Validator("x", Options(protocol="agent-runtime"))
    for number, line in enumerate(lines, start=1):
        judge.feed(line)
        assert bool(judge.findings) == (number >= 9)
    assert taken


@pytest.mark.parametrize("ahead", [0, 9])
def test_text_may_count_in_a_stream_of_its_own(ahead, monkeypatch, taken):
    lines = [json.loads(line) for line in talk(["one", "two", "three", "four", "five"])]
    for event in lines[5:]:
        event |= {"stream_id": "told", "sequence": event["sequence"] - 5}
    for event in lines[:5]:
        event["sequence"] += ahead
    last = {"event_id": "e99", "timestamp": "2026-05-08T09:00:59Z", "sequence": 6 + ahead}
    lines += [{**lines[-1], "event_id": "e98", "sequence": 6}, {**lines[4], **last}]
    data = "\n".join(json.dumps(event, separators=(",", ":")) for event in lines).encode() + b"\n"
    report = judged(monkeypatch, data, "auto")
    assert report == judged(monkeypatch, data, "off")
    assert len(taken) == 4
    assert "ORD002" not in report.counts


def test_two_sessions_may_count_in_one_stream(monkeypatch, taken):
    lines = [json.loads(line) for line in talk(["one", "two", "three", "four", "five", "six"], stream_id="told")]
    other = {"type": "session.created", "session_id": "ses_2", "payload": {"title": "Two"}, "stream_id": "told"}
    for place in range(9, 11):
        between = {**other, "event_id": "e99", "timestamp": lines[place]["timestamp"], "sequence": place + 1}
        told = [*lines[:place], between, *lines[place:]]
        data = "\n".join(json.dumps(event, separators=(",", ":")) for event in told).encode() + b"\n"
        assert judged(monkeypatch, data, "auto") == judged(monkeypatch, data, "off")
    assert taken


def test_a_key_of_another_stream_may_wake_a_rule(monkeypatch, taken):
    """From then on every event has to name its version."""
    lines = [json.loads(line) for line in talk(["one", "two", "three", "four", "five", "six"])]
    other = {"type": "session.created", "session_id": "ses_2", "payload": {"title": "Two"}, "schema_version": "0.3"}
    lines.insert(9, {**other, "event_id": "e99", "timestamp": lines[9]["timestamp"], "sequence": 1})
    data = "\n".join(json.dumps(event, separators=(",", ":")) for event in lines).encode() + b"\n"
    report = judged(monkeypatch, data, "auto")
    assert taken
    assert report == judged(monkeypatch, data, "off")
    assert [(found.rule, found.line) for found in report.findings] == [("SCH002", 11)]


def told(events):
    """Events of several sessions and records, as lines: each event with an id, a time and its place in its session."""
    counts, found = Counter(), []
    for number, (kind, named, payload) in enumerate(events, start=1):
        if kind.startswith("record:"):
            found.append({"record": kind.removeprefix("record:"), **named, **payload})
            continue
        counts[named["session_id"]] += 1
        head = {"type": kind, "event_id": f"e{number}", "timestamp": "2026-05-08T09:00:00Z"}
        found.append({**head, "sequence": counts[named["session_id"]], **named, "payload": payload})
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in found)


A, B = {"session_id": "s1"}, {"session_id": "s2"}
TURN = {**A, "thread_id": "h1", "turn_id": "u1"}
CALL = {**TURN, "tool_call_id": "c1"}
BEGUN = [
    ("session.created", A, {"title": "One"}),
    ("session.created", B, {"title": "Two"}),
    ("thread.started", {**A, "thread_id": "h1"}, {"title": "Main"}),
    ("turn.submitted", TURN, {"status": "accepted", "input_ref": "input://1", "source": "workspace"}),
    ("turn.started", TURN, {}),
]
REQUESTED = ("model.requested", {**TURN, "model_request_id": "m1"}, {"provider": "acme", "model": "acme-large"})
SPOKEN = ("model.delta", {**TURN, "model_request_id": "m1"}, {"delta": "word "})
UNNAMED = ("model.delta", TURN, {"delta": "word ", "model_request_id": "m2"})
WRITTEN = ("process.output", {**TURN, "process_id": "p1"}, {"stream": "stdout", "text": "line"})
ASKED = {"action_type": "approval", "decisions": ["approved", "denied"], "scope": {"kind": "once"}}
FROM_ELSEWHERE = {
    "an action whose answer wakes the turn": (
        [REQUESTED, ("action.required", {**TURN, "action_id": "a1"}, ASKED), *[SPOKEN] * 6],
        ("action.resolved", {**B, "action_id": "a1"}, {"decision": "approved", "decision_source": "user"}),
        [SPOKEN] * 4,
        "THR-5",
    ),
    "a permission of the call that the process belongs to": (
        [
            ("tool.started", CALL, {"tool_name": "shell"}),
            ("process.started", {**CALL, "process_id": "p1"}, {"command": "make"}),
            *[WRITTEN] * 6,
        ],
        ("permission.evaluated", {**B, "tool_call_id": "c1"}, {"decision": "deny", "decision_source": "user"}),
        [WRITTEN] * 4,
        "PERM-13",
    ),
    "a request that the payload alone names": (
        [("model.requested", TURN, {"provider": "acme", "model": "acme-large"}), *[UNNAMED] * 6],
        ("model.requested", {**B, "model_request_id": "m2"}, {"provider": "acme", "model": "acme-large"}),
        [*[UNNAMED] * 4, ("model.completed", {**B, "model_request_id": "m2"}, {"usage": {"output_tokens": 0}})],
        "HON-31",
    ),
}
"""What is said of a session in another, and the clause that is judged by it."""


@pytest.mark.parametrize("what", sorted(FROM_ELSEWHERE))
def test_another_session_may_speak_about_what_text_belongs_to(what, monkeypatch, taken):
    before, between, after, clause = FROM_ELSEWHERE[what]
    data = told([*BEGUN, *before, between, *after])
    report = judged(monkeypatch, data, "auto")
    assert len(taken) > 4
    assert report == judged(monkeypatch, data, "off")
    assert next(entry.looks for entry in report.requirements if entry.requirement == clause)


def test_the_line_of_the_highest_sequence_is_the_last_that_has_it(monkeypatch, taken):
    acknowledged = {"command_id": "k1", "command": "ack_events"}
    channel = ("channel.connected", {**B, "channel_id": "x1"}, {"kind": "remote_control"})
    changed = ("session.updated", B, {"changed": ["title"], "title": "Two"})
    events = [
        *[*BEGUN, REQUESTED, *[SPOKEN] * 3, channel, *[changed] * 6, *[SPOKEN] * 2, *[changed] * 2],
        ("record:command", acknowledged, {"request": {"channel_id": "x1", "sequence": 999}}),
        ("record:result", acknowledged, {"result": {"outcome": "accepted"}}),
    ]
    data = told(events)
    report = judged(monkeypatch, data, "auto")
    assert len(taken) == 3
    assert report == judged(monkeypatch, data, "off")
    assert [found.witness for found in report.findings if found.rule == "CMD011"] == [(20, 21)]


def test_a_version_may_be_named_after_a_key_of_that_name(monkeypatch, taken):
    """A number names no version; but from the first that is named on, every event has to name it."""
    lines = [json.loads(line) for line in talk(["one", "two", "three", "four", "five", "six", "seven"])]
    other = {"type": "session.updated", "session_id": "ses_2", "timestamp": lines[9]["timestamp"]}
    for place, version in ((5, 3), (10, "0.3")):
        named = {"event_id": f"v{place}", "sequence": place, "schema_version": version, "payload": {"title": "Two"}}
        lines.insert(place, {**other, **named})
    data = "\n".join(json.dumps(event, separators=(",", ":")) for event in lines).encode() + b"\n"
    report = judged(monkeypatch, data, "auto")
    assert taken
    assert report == judged(monkeypatch, data, "off")
    assert [found.line for found in report.findings if found.rule == "SCH002" and found.key == "missing"] == [12]


@pytest.mark.parametrize("said", ['"type":"turn.started"', '"turn_id":"turn_9"', '"session_id":"ses_2"'])
def test_a_line_of_another_stream_that_says_two_things_puts_all_of_them_in_doubt(said, monkeypatch, taken):
    lines = list(talk(["few words "] * 40))
    other = '{"type":"model.delta","event_id":"x","timestamp":"2026-05-08T09:00:00Z","session_id":"ses_9"'
    more = '"sequence":1,"turn_id":"turn_2","model_request_id":"mr_2","payload":{"delta":"few words "}}'
    data = "\n".join([*lines[:30], f"{other},{said},{more}", *lines[30:]]).encode() + b"\n"
    report = judged(monkeypatch, data, "auto")
    assert report.counts["FRM007"] == 1
    assert len(taken) > 30
    assert report == judged(monkeypatch, data, "off")


def test_a_gap_in_another_stream_may_put_in_doubt_what_a_piece_is_about(monkeypatch, taken):
    """The process began in the stream with the gap; its next piece, in another stream, tells that it still runs."""
    lines = [json.loads(line) for line in outputs(40)]
    for sequence, event in enumerate(lines[4:], start=1):
        event |= {"session_id": "s2", "thread_id": "h2", "turn_id": "u2", "sequence": sequence}
    late = {**lines[0], "type": "session.updated", "event_id": "e99", "sequence": 9}
    data = "\n".join(json.dumps(event, separators=(",", ":")) for event in [*lines[:20], late, *lines[20:]]).encode()
    report = judged(monkeypatch, data + b"\n", "auto")
    assert len(taken) > 30
    assert "process p1 is still running" in report.incomplete
    assert report == judged(monkeypatch, data + b"\n", "off")


def outputs(count, step=4):
    """A process that writes some pieces, with their offsets if these grow."""
    ids = {"session_id": "s1", "thread_id": "h1", "turn_id": "u1"}
    process = {**ids, "process_id": "p1"}
    told = [
        ("session.created", {"session_id": "s1"}, {"title": "One"}),
        ("turn.submitted", ids, {"status": "accepted", "input_ref": "input://1", "source": "workspace"}),
        ("turn.started", ids, {}),
        ("process.started", process, {"command": "make"}),
    ]
    for number in range(count):
        offset = {"offset": step * number} if step else {}
        told.append(("process.output", process, {"stream": "stdout", "text": "line", **offset}))
    for line, (kind, named, payload) in enumerate(told, start=1):
        head = {"type": kind, "event_id": f"e{line}", "timestamp": "2026-05-08T09:00:00Z", "sequence": line}
        yield json.dumps({**head, **named, "payload": payload}, separators=(",", ":"))


@pytest.mark.parametrize(("step", "compared"), [(4, 5), (0, 0)])
def test_output_takes_the_short_way_from_its_second_piece_on(step, compared, monkeypatch, taken):
    data = "\n".join(outputs(6, step)).encode() + b"\n"
    report = judged(monkeypatch, data, "auto")
    assert report == judged(monkeypatch, data, "off")
    assert report.looks.get("REF012", 0) == compared
    assert len(taken) == 5


def test_output_whose_offset_stands_still_goes_the_long_way(monkeypatch, taken):
    lines = list(outputs(6))
    lines[5] = lines[5].replace('"offset":4', '"offset":0')
    data = "\n".join(lines).encode() + b"\n"
    report = judged(monkeypatch, data, "auto")
    assert report == judged(monkeypatch, data, "off")
    assert [found.line for found in report.findings if found.rule == "REF012"] == [6]
    assert len(taken) == 3


def test_the_offset_of_output_that_names_no_process_is_not_compared(monkeypatch):
    data = "\n".join(outputs(6)).replace('"process_id":"p1",', "").encode() + b"\n"
    report = judged(monkeypatch, data, "auto")
    assert report == judged(monkeypatch, data, "off")
    assert "REF012" not in report.looks


STARTED = ("tool.started", CALL, {"tool_name": "shell", "args_ref": "args://1"})


def call(kind, payloads):
    """A call of which something is told again and again."""
    return told([*BEGUN, STARTED, *((kind, CALL, payload) for payload in payloads)])


def test_arguments_in_pieces_take_the_short_way(monkeypatch, taken):
    data = call("tool.args", [{"delta": f'{{"path": "docs/{number % 7}", "note": "a'} for number in range(20)])
    assert judged(monkeypatch, data, "auto") == judged(monkeypatch, data, "off")
    assert len(taken) == 18


@pytest.mark.parametrize("place", [0, 1, 2, 9])
@pytest.mark.parametrize("started", [{}, {"args_ref": "args://1"}])
def test_arguments_that_are_told_whole_beside_their_pieces_may_change(started, place, monkeypatch, taken):
    """They are compared with those before, so the second piece that tells them says more than the first."""
    asked = ("action.required", {**CALL, "action_id": "a1"}, ASKED)
    answered = ("action.resolved", {**CALL, "action_id": "a1"}, {"decision": "approved", "decision_source": "user"})
    began = ("tool.started", CALL, {"tool_name": "shell", **started})
    whole = [{"args_ref": "args://2"} if number >= place else {} for number in range(20)]
    data = told([*BEGUN, asked, answered, began, *(("tool.args", CALL, {"delta": "a ", **more}) for more in whole)])
    report = judged(monkeypatch, data, "auto")
    assert report == judged(monkeypatch, data, "off")
    assert len(taken) >= 15
    assert next(entry.looks for entry in report.requirements if entry.requirement == "ACT-12") >= 19 - place


@pytest.mark.parametrize("kind", sorted(FIELDS))
def test_what_fills_a_hole_is_bound_by_no_schema(kind):
    protocol = load_protocol("agent-runtime")
    payload = view(protocol.store, protocol.events[kind]).at("payload")
    for name, what in FIELDS[kind].items():
        place = payload.properties()[name]
        allowed = {"type", "description"} if what == "text" else {"type", "description", "minimum"}
        assert {keyword for part in place.parts for keyword in part.schema} <= allowed
        assert place.first("minimum") in (None, 0)
