"""A replay stops where it is asked to, shows what it is asked for, and prints nothing that leaks."""

import gzip
import io
import json

import pytest

from tests.unit.test_cli import call, process
from validator import resources
from validator.capture.lines import read_lines
from validator.errors import CaptureError, UsageError
from validator.protocol.casing import to_camel
from validator.protocol.protocol import load_protocol
from validator.renderers.replay import as_data, render_text
from validator.replay.run import Options, replay

HAPPY = resources.fixtures() / "agent-runtime" / "0.3" / "golden" / "happy-path.ndjson"
SEVERAL = resources.fixtures() / "runagents" / "1" / "golden" / "first-events.ndjson"


def event(number, kind, payload=None, **more):
    base = {"type": kind, "event_id": f"e{number}", "timestamp": f"2026-05-08T09:00:{number:02}Z", "sequence": number}
    return {**base, "session_id": "s1", "payload": payload or {}, **more}


TASK = [
    event(1, "task.created", {"objective": "Fix it."}, task_id="t1"),
    event(2, "task.started", task_id="t1"),
    event(4, "task.completed", task_id="t1"),
]


def lines(*documents):
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


def run(*documents, tail=b"", **options):
    return replay(io.BytesIO(lines(*documents) + tail), Options(**options), "x.ndjson")


class TestPlace:
    @pytest.mark.parametrize(
        ("at", "state"), [("1", "draft"), ("2", "running"), ("s1:2", "running"), ("4", "completed")]
    )
    def test_a_sequence_stops_after_its_event(self, at, state):
        found = run(*TASK, at=at)
        assert found.states["task"] == {"t1": state}
        assert (found.stream, found.sequence) == ("s1", int(at[-1]))
        assert found.exit_code == 0

    @pytest.mark.parametrize(("line", "state"), [(1, "draft"), (2, "running"), (3, "completed")])
    def test_a_line_stops_after_it(self, line, state):
        found = run(*TASK, line=line)
        assert (found.line, found.states["task"]) == (line, {"t1": state})

    def test_an_event_delivered_again_counts_once(self):
        assert run(*TASK[:2], TASK[0], TASK[2], at="1").states["task"] == {"t1": "draft"}

    @pytest.mark.parametrize(
        ("options", "reason", "hint"),
        [
            ({"at": "3"}, "no event has sequence 3", "nearest: 2 and 4; the last is 4"),
            ({"at": "9"}, "no event has sequence 9", "nearest: 4; the last is 4"),
            ({"at": "s1:9"}, "no event has sequence 9", "nearest: 4; the last is 4"),
            ({"at": "s2:1"}, "no event that counts is in the stream 's2'", "streams: 's1'"),
            ({"at": "many"}, "the sequence to stop at is not a whole number", "say --at 17, or --at STREAM:17"),
            ({"at": "1", "line": 1}, "a replay stops at a sequence or after a line, not both", None),
            ({"line": 4}, "there is no line 4", "the capture has 3 lines"),
            ({"id": "t9"}, "nothing up to there is called 't9'", None),
        ],
    )
    def test_a_place_that_is_not_there_is_refused(self, options, reason, hint):
        with pytest.raises(UsageError) as caught:
            run(*TASK, **options)
        assert (caught.value.reason, caught.value.hint) == (reason, hint)

    def test_events_without_a_sequence_have_none_to_stop_at(self):
        with pytest.raises(UsageError, match="no event has sequence 1") as caught:
            run({key: value for key, value in TASK[0].items() if key != "sequence"}, at="1")
        assert caught.value.hint == "the events of this capture have no sequence; use --line"

    def test_a_sequence_of_several_streams_has_to_name_one(self):
        with pytest.raises(UsageError, match="the capture has 2 streams") as caught:
            run(*TASK, {**TASK[0], "event_id": "f1", "session_id": "s2", "task_id": "t2"}, at="2")
        assert caught.value.hint == "say --at STREAM:2; streams: 's1', 's2'"

    def test_a_stream_may_have_a_colon_in_its_name(self):
        assert run(*({**entry, "session_id": "a:b"} for entry in TASK), at="a:b:2").stream == "a:b"


class TestWishes:
    def test_an_unknown_model_is_refused_with_those_there_are(self):
        with pytest.raises(UsageError, match="has no read model 'poem'") as caught:
            run(*TASK, models=("poem",))
        assert "task_snapshot" in caught.value.hint

    def test_models_are_chosen_by_name(self):
        assert {document.model for document in run(*TASK, models=("task_snapshot",)).documents} == {"task_snapshot"}

    def test_an_id_chooses_its_subject_and_its_documents(self):
        found = run(*TASK, id="t1")
        assert (found.states, found.documents) == ({"task": {"t1": "completed"}}, ())
        found = run(*TASK, id="s1")
        assert {document.model for document in found.documents} == {"session_snapshot", "task_snapshot"}

    def test_an_id_can_ask_for_everything_inside_it(self):
        with HAPPY.open("rb") as stream:
            own = replay(stream, Options(id="thr_1")).documents
        with HAPPY.open("rb") as stream:
            inner = replay(stream, Options(id="thr_1", every_scope=True)).documents
        assert {document.ids[-1] for document in own} == {"thr_1"}
        assert {document.ids[-1] for document in inner} > {"thr_1"}

    def test_camel_case_is_shown_in_canonical_form(self):
        core = load_protocol("agent-runtime")
        documents = [line for _, line in read_lines(HAPPY)]
        camel = [
            line if "record" in line else to_camel(core.store, core.schema_for(line["type"]), line).document
            for line in documents
        ]
        assert as_data(run(*camel)) == as_data(run(*documents))
        assert camel != documents


class TestLosses:
    def test_what_was_open_at_a_cut_is_doubted(self):
        found = run(*TASK[:2], tail=b'{"type":"task.compl')
        assert (found.cut, found.doubted, found.exit_code) == (True, {"task": ("t1",)}, 3)
        (tasks,) = [document.body for document in found.documents if document.model == "task_snapshot"]
        assert tasks["freshness"] == "stale"
        assert "t1: running (not heard of since a line was lost)" in render_text(found)
        assert "the last line is cut" in render_text(found)

    def test_what_stands_before_damaged_bytes_is_replayed(self):
        class Damaged(io.BytesIO):
            def read(self, size):
                data = super().read(size)
                if not data:
                    raise CaptureError("damaged")
                return data

        data = b"".join(json.dumps(line).encode() + b"\n" for line in TASK[:2])
        found = replay(Damaged(data), Options())
        assert (found.cut, found.events, found.doubted, found.exit_code) == (True, 2, {"task": ("t1",)}, 3)
        assert replay(Damaged(data), Options(line=2)).exit_code == 0
        assert replay(Damaged(b""), Options()).exit_code == 4

    def test_a_place_before_the_cut_is_not_touched_by_it(self):
        found = run(*TASK[:2], tail=b'{"type":"task.compl', line=2)
        assert (found.cut, found.doubted, found.exit_code) == (False, {}, 0)

    def test_an_unreadable_line_puts_open_work_in_doubt_and_a_blank_one_does_not(self):
        assert run(*TASK[:2], tail=b"nonsense\n").doubted == {"task": ("t1",)}
        assert run(*TASK[:2], tail=b"\n").doubted == {}

    def test_a_line_of_two_types_puts_open_work_in_doubt(self):
        ids = b'"event_id":"e9","timestamp":"2026-05-08T09:00:09Z","sequence":3,"session_id":"s1","x":9007199254740993'
        torn, repeated = (
            b'{"type":"%s","type":"acme.note",%s}\n' % (kind, ids) for kind in (b"task.failed", b"acme.note")
        )
        assert run(*TASK[:2], tail=torn).doubted == {"task": ("t1",)}
        assert run(*TASK[:2], tail=repeated).doubted == {}

    def test_illegal_moves_are_counted(self):
        found = run(TASK[0], {**TASK[2], "sequence": 2})
        assert found.refused == 1
        assert "illegal moves, which moved nothing: 1" in render_text(found)

    @pytest.mark.parametrize(
        ("data", "code"),
        [(b"", 3), (b"\xff\xfe\n", 4), (b'{"hello":"world"}\n', 3), (lines(TASK[0]), 0), (lines({"record": "x"}), 3)],
    )
    def test_what_holds_nothing_is_not_replayed_as_nothing(self, data, code):
        assert replay(io.BytesIO(data)).exit_code == code
        assert replay(io.BytesIO(data), Options(protocol="agent-runtime")).exit_code == code

    def test_a_header_alone_tells_nothing(self):
        header = {"record": "header", "capture": "1", "protocol": "agent-runtime", "version": "0.3"}
        assert run(header).exit_code == 3


HOME = "/" + "home/alice/private"
TOKEN = "ghp_" + "a1B2" * 9


class TestMasking:
    def shown(self, *documents, **options):
        found = run(*documents, **options)
        return json.dumps(as_data(found)) + render_text(found)

    def test_no_path_secret_or_canary_is_printed(self):
        header = {"record": "header", "capture": "1", "protocol": "agent-runtime", "version": "0.3"}
        header["canaries"] = ["PLANTED-VALUE"]
        goal = {"objective": f"Read {HOME}/notes with {TOKEN} and PLANTED-VALUE, then TOLD-VALUE."}
        text = self.shown(header, {**TASK[0], "payload": goal}, canaries=("TOLD-VALUE",))
        for leak in ("alice", TOKEN, "PLANTED-VALUE", "TOLD-VALUE"):
            assert leak not in text
        assert "[masked path]" in text
        assert "[masked secret]" in text

    def test_ids_that_leak_are_masked_and_stay_apart(self):
        documents = [{**TASK[0], "event_id": f"e{n}", "sequence": n, "task_id": f"{HOME}/{n}"} for n in (1, 2)]
        states = as_data(run(*documents))["states"]["task"]
        assert states == {"[masked path]": "draft", "[masked path] 2": "draft"}

    def test_a_field_that_holds_a_path_is_masked_as_a_whole(self):
        environment = {"cwd": "/srv/secret-project/x"}
        documents = [
            event(1, "session.created", {"title": "t"}),
            event(2, "turn.submitted", {}, thread_id="h", turn_id="t"),
            event(3, "process.started", {"command": "x", **environment}, thread_id="h", turn_id="t", process_id="p"),
        ]
        assert "secret-project" not in self.shown(*documents, every_scope=True)

    def test_a_stream_that_leaks_is_masked_in_errors(self):
        with pytest.raises(UsageError) as caught:
            run({**TASK[0], "session_id": HOME}, at="x:1")
        assert "alice" not in str(caught.value)


class TestCommand:
    def test_a_place_in_a_file(self, tmp_path):
        path = tmp_path / "x.ndjson.gz"
        path.write_bytes(gzip.compress(lines(*TASK)))
        done = call("replay", str(path), "--at", "2", "--format", "json")
        assert done.exit_code == 0
        assert json.loads(done.output)["states"] == {"task": {"t1": "running"}}

    def test_standard_input_and_exit_codes(self):
        done = call("replay", "-", input=lines(*TASK))
        assert (done.exit_code, done.output.splitlines()[0]) == (0, "- (agent-runtime/0.3) after line 3 of 3")
        assert call("replay", "-", input=b"").exit_code == 3
        assert call("replay", "-", input=b"\xff\n").exit_code == 4

    def test_bad_input_is_one_message(self):
        done = process("replay", str(SEVERAL), "--at", "2")
        assert done.returncode == 2
        assert done.stderr.startswith(
            "error: the capture has 9 streams, so a sequence alone names no place\n  hint: say"
        )
        assert process("replay", "nowhere.ndjson").returncode == 2
