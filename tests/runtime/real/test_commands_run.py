"""Real commands: asked about first, then run, streamed, spilled, bounded and ended."""

import hashlib
import sys

import pytest

from reference_runtime.errors import StoreFull
from reference_runtime.log.memory import MemoryStore
from tests.runtime.judging import disagreements
from tests.runtime.real.floor import alive, shell


def test_a_command_waits_for_its_approval_and_then_really_runs(floor):
    one = floor().submit(shell("echo made > made.txt; cat made.txt", None))
    one.worker.run()
    assert one.files() == set()
    assert one.runtime.state().state("tool_call", "call_1") == "waiting_permission"
    assert "process.started" not in one.types()
    one.runtime.handle("respond_action", {"action_id": "action_1", "decision": "approved"})
    one.worker.run()
    assert one.files() == {"made.txt"}
    assert one.said("tool.result")["preview"] == "made\n"
    assert one.judged() == []


def test_a_denied_command_leaves_no_trace_on_disk(floor):
    one = floor().run(shell("echo made > made.txt", {"decision": "denied"}))
    assert one.files() == set()
    assert one.bench.live == {}
    assert one.said("tool.failed")["status"] == "denied"
    assert not {"process.started", "sandbox.applied"} & set(one.types())
    assert one.judged() == []


def test_what_a_person_made_of_a_command_is_what_runs(floor):
    changed = {"decision": "modified", "answer": {"command": "echo two > two.txt"}}
    one = floor().run(shell("echo one > one.txt", changed))
    assert one.files() == {"two.txt"}
    assert one.judged() == []


def test_lines_are_told_while_the_command_still_runs(floor):
    one = floor().submit(shell("echo first; read go; echo last", interactive=True))
    assert one.until("process.output")["payload"]["text"] == "first\n"
    assert one.runtime.state().state("process", "process_1") == "running"
    one.runtime.handle("write_process_stdin", {"process_id": "process_1", "input": "go\n"})
    one.worker.run()
    told = [event["payload"] for event in one.events("process.output")]
    assert [(line["stream"], line["text"], line["offset"]) for line in told][-1] == ("stdout", "last\n", 6)
    assert one.judged() == []


def test_both_streams_and_the_exit_code_are_told(floor):
    one = floor().run(shell("echo good; echo bad >&2; exit 3"))
    told = {event["payload"]["stream"]: event["payload"]["text"] for event in one.events("process.output")}
    assert told == {"stdout": "good\n", "stderr": "bad\n"}
    assert one.said("process.completed")["exit_code"] == 3
    assert one.said("tool.failed")["error"]["message"] == "The command ended with exit code 3."
    assert one.judged() == []


def test_output_over_the_budget_is_stored_whole_before_it_is_named(floor):
    one, seen = floor(output_budget=40), []

    def look(event):
        if reference := event["payload"].get("output_ref"):
            seen.append(one.bench.contents.read(reference))

    one.runtime.subscribers.append(look)
    one.run(shell("seq 1 500"))
    whole = "".join(f"{number}\n" for number in range(1, 501))
    spilled = one.said("output.spilled")
    assert seen
    assert set(seen) == {whole}
    assert spilled["sha256"] == hashlib.sha256(whole.encode()).hexdigest()
    assert one.runtime.content(one.said("tool.result")["output_ref"]) == whole
    assert one.bench.contents.path(spilled["sha256"]).read_text() == whole
    assert one.judged() == []
    assert disagreements(one.text.getvalue()) == []


def test_output_over_the_limit_is_cut_and_the_cut_is_told(floor):
    one = floor(output_budget=40).run(shell("yes | head -c 90000", max_output_bytes=1000))
    cut = one.said("output.truncated")
    assert (cut["size_bytes"], cut["kept_bytes"], cut["truncation"]) == (90000, 1000, "tail")
    assert one.bench.contents.path(cut["sha256"]).stat().st_size == 1000
    assert one.judged() == []


def test_input_that_comes_with_a_call_is_on_record_by_size_only(floor):
    one = floor().run(shell("tr a-z A-Z", stdin="quiet words"))
    assert one.said("tool.result")["preview"] == "QUIET WORDS"
    assert one.said("process.input")["size_bytes"] == 11
    assert one.said("tool.started")["safe_args"] == {"command": "tr a-z A-Z", "stdin_bytes": 11}
    assert "quiet" not in str(one.events())
    assert one.judged() == []


def test_nothing_is_written_to_a_process_whose_input_has_ended(floor):
    one = floor({"limits": {"grace": 0.1}}).submit(shell("cat; sleep 600", stdin="all of it"))
    one.until("process.input")
    answer = one.runtime.handle("write_process_stdin", {"process_id": "process_1", "input": "more"})
    assert (answer["outcome"], answer["error"]["code"]) == ("rejected", "stdin_closed")
    assert len(one.events("process.input")) == 1


@pytest.mark.parametrize("command", ["", "   ", "# nothing", ";"])
def test_a_command_that_says_nothing_ends_like_any_other(floor, command):
    one = floor().run(shell(command))
    assert one.events("tool.result", "tool.failed")
    assert one.judged() == []


def test_a_command_gets_a_terminal_when_it_is_asked_for(floor):
    probe = "test -t 0 && test -t 1 && echo terminal || echo pipe"
    one = floor().run(shell(probe, tty=True), shell(probe))
    told = [event["payload"] for event in one.events("process.output")]
    assert [(line["stream"], line["text"]) for line in told] == [("pty", "terminal\n"), ("stdout", "pipe\n")]
    assert [event["payload"]["tty"] for event in one.events("process.started")] == [True, False]
    assert one.judged() == []


def test_a_terminal_is_written_to_and_its_input_ends(floor):
    one = floor().submit(shell("read name; echo Hello $name; cat", tty=True, interactive=True))
    one.until("process.started")
    one.runtime.handle("write_process_stdin", {"process_id": "process_1", "input": "Ada\n"})
    assert one.until("process.output")["payload"]["text"] == "Hello Ada\n"
    one.runtime.handle("write_process_stdin", {"process_id": "process_1", "input": "", "close": True})
    one.worker.run()
    assert one.said("process.completed")["exit_code"] == 0


MOVES = "import os, time; os.setpgid(0, 0); print(os.getpid(), flush=True); time.sleep(600)"
FAMILIES = {  # how many numbers each tells: everybody who would be left
    "children": (2, "sleep 600 & echo $!; sleep 600 & echo $!; wait"),
    "deaf": (1, "trap '' TERM; sh -c \"trap '' TERM; echo \\$\\$; while :; do sleep 600; done\" & wait; wait"),
    "another group": (1, f"{sys.executable} -c '{MOVES}' & wait"),
    "another session": (1, "setsid sh -c 'echo $$; exec sleep 600' & wait; sleep 600"),
    "nobody waits": (1, "(sleep 600 & echo $!)& wait; exec sleep 600"),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_command_over_its_time_is_ended_with_everybody_it_started(floor, family):
    count, command = FAMILIES[family]
    one = floor({"limits": {"grace": 0.1}}).submit(shell(command))
    started = [int(one.until("process.output")["payload"]["text"]) for _ in range(count)]
    assert all(alive(pid) for pid in started)
    one.bench.live["process_1"].process._deadline = 0  # its time is up now, and not a moment before
    one.worker.run()
    assert not [pid for pid in started if alive(pid)]
    assert one.said("process.failed")["failure_category"] == "timeout"
    assert one.said("tool.failed")["status"] == "timed_out"
    assert one.judged() == []


def test_a_command_has_the_time_it_asks_for_and_no_more_than_the_host_gives(floor):
    one = floor({"limits": {"timeout": 0.2, "grace": 0.1}})
    one.run(shell("sleep 600"), shell("sleep 600", timeout_ms=100), shell("sleep 600", timeout_ms=60_000))
    assert [event["payload"]["limits"]["timeout_ms"] for event in one.events("process.started")] == [200, 100, 200]
    assert [event["payload"]["status"] for event in one.events("tool.failed")] == ["timed_out"] * 3
    assert one.judged() == []


def test_whoever_a_command_leaves_behind_is_ended_when_it_ends(floor):
    one = floor().run(shell("sleep 600 & echo $!; setsid sleep 600 & echo $!"))
    left = [int(event["payload"]["text"]) for event in one.events("process.output")]
    assert len(left) == 2
    assert not [pid for pid in left if alive(pid)]
    assert one.said("process.completed")["exit_code"] == 0


@pytest.mark.parametrize("command", ["terminate_process", "interrupt_turn"])
def test_ending_a_process_by_a_command_ends_everybody_at_once(floor, command):
    one = floor({"limits": {"grace": 0.1}}).submit(shell("sleep 600 & echo $!; wait"))
    pid = int(one.until("process.output")["payload"]["text"])
    assert alive(pid)
    names = {"terminate_process": {"process_id": "process_1"}, "interrupt_turn": {"session_id": "s"}}
    assert one.runtime.handle(command, {**names[command], "reason": "Enough."})["outcome"] == "accepted"
    assert not alive(pid)
    one.worker.run()
    assert one.bench.live == {}
    assert one.runtime.state().state("process", "process_1") == "terminated"
    assert one.runtime.state().state("tool_call", "call_1") == "cancelled"
    assert one.judged() == []


def test_what_was_left_in_a_buffer_is_told_as_drained(floor):
    one = floor({"limits": {"grace": 0.1}}).submit(shell("printf 'one\\ntwo\\n'; sleep 600"))
    one.until("process.output")
    one.runtime.handle("interrupt_turn", {"session_id": "s", "reason": "Enough."})
    one.worker.run()
    told = [event["payload"] for event in one.events("process.output")]
    assert [(line["text"], line.get("drained")) for line in told] == [("one\n", None), ("two\n", True)]
    assert one.judged() == []


def test_a_process_whose_turn_ends_without_it_is_ended(floor):
    one = floor({"limits": {"grace": 0.1}}).submit(shell("sleep 600 & printf '%s\\ntwo\\n' $!; wait"))
    event = one.until("process.output")
    ids = {name: event[name] for name in ("session_id", "thread_id", "turn_id")}
    failed = {
        "category": "timeout",
        "message": "The turn took too long.",
        "retryable": True,
        "recovery": "Ask for less.",
    }
    call = {**ids, "tool_call_id": "call_1"}
    one.runtime.fact("tool.failed", call, {"status": "timed_out", "error": failed})
    one.runtime.fact("turn.failed", ids, {"status": "timed_out", "reason": "timeout", "error": failed})
    one.worker.run()
    assert not alive(int(event["payload"]["text"]))
    assert one.bench.live == {}
    assert one.runtime.state().state("process", "process_1") == "terminated"
    assert one.events("process.output")[-1]["payload"]["drained"] is True


def test_a_command_whose_start_cannot_be_told_never_runs(floor, monkeypatch):
    """It waits at its gate until its start is kept; the gate of one that is not kept never opens."""
    one, commit = floor(), MemoryStore.commit

    def full(self, change):
        if any(event["type"] == "process.started" for event in change.events):
            raise StoreFull("the disk took no more")
        commit(self, change)

    monkeypatch.setattr(MemoryStore, "commit", full)
    with pytest.raises(StoreFull):
        one.run(shell("echo ran > ran.txt"))
    assert one.files() == set()
    assert one.bench.live == {}
    assert "process.started" not in one.types()


@pytest.mark.parametrize(("where", "said"), [("nowhere", "No such file"), ("plain.txt", "Not a directory")])
def test_a_folder_to_work_in_has_to_be_there(floor, where, said):
    one = floor({"files": {"plain.txt": "x"}}).run(shell("pwd", cwd=where))
    assert said in one.said("tool.failed")["reason"]
    assert one.judged() == []
