"""The check command as a person or a pipeline calls it: what it says first, how it exits, what it refuses."""

import json

import pytest

from tests.cli.support import BAD, CREATED, GOOD, STARTED, call, capture, event, lines
from validator import resources
from validator.protocol.schemas import load_store


@pytest.mark.parametrize(
    ("documents", "code", "start"),
    [
        (GOOD, 0, "conforms: 1 capture, 3 events"),
        (BAD, 1, "fails: 1 finding at or above MUST in 1 capture; the first is STA001 illegal-move, x.ndjson:2"),
        ([CREATED, STARTED], 3, "incomplete: x.ndjson: task t1 is still running"),
        ([], 3, "incomplete: x.ndjson: the capture is empty"),
    ],
)
def test_the_first_line_says_why_and_the_exit_code_agrees(documents, code, start, tmp_path):
    capture(tmp_path, "x.ndjson", documents)
    done = call("x.ndjson", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.splitlines()[0].startswith(start)


@pytest.mark.parametrize(
    ("data", "guess"),
    [
        (b'event: message\ndata: {"type":"x"}\n\n', "server-sent events"),
        (json.dumps(GOOD, indent=2).encode(), "one JSON array"),
        (json.dumps(CREATED, indent=2).encode(), "JSON spread over several lines"),
        (b"PK\x03\x04....", "a zip archive"),
        (b"<!DOCTYPE html><p>", "XML or HTML"),
        (b"type: task.created\nid: e1\n", "YAML"),
        (b"type,event_id,sequence\ntask.created,e1,1\n", "comma-separated values"),
        (b"2026-05-08T09:00:00Z INFO hello\n", "a log"),
        (b"\x7fELF\x00\x00", "binary data"),
        (b"SQLite format 3\x00", "an SQLite database"),
    ],
)
def test_what_is_no_capture_gets_a_guess(data, guess, tmp_path):
    (tmp_path / "x.dat").write_bytes(data)
    done = call("x.dat", cwd=tmp_path)
    assert done.returncode in {3, 4}
    assert f"this looks like {guess}" in done.stdout.splitlines()[0]


def test_a_wrong_name_lists_the_right_ones(tmp_path):
    capture(tmp_path, "x.ndjson", GOOD)
    done = call("x.ndjson", "--protocol", "agent-runtim", cwd=tmp_path)
    assert done.returncode == 2
    assert "hint: known: agent-runtime/0.3, agent-threads/1" in done.stderr
    assert "known: control, core, default" in call("x.ndjson", "--profile", "stern", cwd=tmp_path).stderr
    assert "runtime-validate rules lists them" in call("x.ndjson", "--select", "XYZ", cwd=tmp_path).stderr


@pytest.mark.parametrize(
    ("words", "word", "code"),
    [
        (("bad.ndjson",), "violations", 1),
        (("open.ndjson",), "incomplete", 3),
        (("noise.txt",), "unreadable", 4),
        (("good.ndjson", "--protocol", "nothing"), "bad-usage", 2),
        (("good.ndjson", "--no-such-option"), "bad-usage", 2),
        (("good.ndjson", "--baseline", "none.json"), "bad-baseline", 2),
        (("good.ndjson", "--config", "none.toml"), "bad-configuration", 2),
        (("good.ndjson", "--out", "json=no/such/folder.json"), "cannot-write", 2),
        ((), "bad-usage", 2),
    ],
)
@pytest.mark.parametrize("form", ["json", "sarif"])
def test_a_machine_hears_of_every_bad_end_in_one_line(words, word, code, form, tmp_path):
    capture(tmp_path, "good.ndjson", GOOD)
    capture(tmp_path, "bad.ndjson", BAD)
    capture(tmp_path, "open.ndjson", [CREATED, STARTED])
    (tmp_path / "noise.txt").write_text("noise\n")
    done = call("check", *words, "--format", form, cwd=tmp_path)
    line = json.loads(done.stderr.splitlines()[-1])
    assert load_store(resources.schemas().resolve()).errors("report/1/error.schema.json", line) == []
    assert (line["error"], line["exit_code"], done.returncode) == (word, code, code)


def test_people_are_spared_that_line(tmp_path):
    capture(tmp_path, "bad.ndjson", BAD)
    assert call("bad.ndjson", cwd=tmp_path).stderr == ""


def test_under_actions_the_format_is_github_and_the_summary_is_added_to(tmp_path):
    capture(tmp_path, "bad.ndjson", BAD)
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    done = call("bad.ndjson", cwd=tmp_path, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))
    assert "::error file=bad.ndjson,line=2,title=STA001" in done.stdout
    assert summary.read_text().startswith("before\n# runtime-validate\n")
    told = call("bad.ndjson", "--format", "concise", cwd=tmp_path, GITHUB_ACTIONS="true")
    assert "::error" not in told.stdout


def test_several_processes_give_the_same_bytes(tmp_path):
    for number in range(4):
        capture(tmp_path, f"c/{number}.ndjson", BAD if number % 2 else GOOD)
    capture(tmp_path, "c/noise.jsonl", [])
    one, many = (call("c", "--format", "json", "--jobs", jobs, cwd=tmp_path) for jobs in ("1", "3"))
    assert one.stdout == many.stdout
    assert one.returncode == many.returncode == 1


def test_statistics_count_what_the_list_leaves_out(tmp_path):
    many = [CREATED, *(event(n, "task.completed", task_id=f"t{n}") for n in range(2, 9))]
    capture(tmp_path, "x.ndjson", many)
    done = call("x.ndjson", "--statistics", "--max-findings-per-rule", "2", cwd=tmp_path)
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    assert ["7", "ORD005", "MUST", "effect-before-cause"] in rows
    listed = json.loads(call("x.ndjson", "--statistics", "--format", "json", cwd=tmp_path).stdout)
    assert {row["rule"]: row["count"] for row in listed}["ORD005"] == 7
    told = json.loads(call("x.ndjson", "--max-findings-per-rule", "2", "--format", "json", cwd=tmp_path).stdout)
    assert sum(found["rule"] == "ORD005" for found in told["captures"][0]["findings"]) == 2
    assert told["captures"][0]["finding_counts"]["ORD005"] == 7


def test_families_may_be_named_in_one_word_and_in_small_letters(tmp_path):
    capture(tmp_path, "x.ndjson", BAD)
    assert "STA001" not in call("x.ndjson", "--select", "frm,TRM", cwd=tmp_path).stdout
    assert "STA001" in call("x.ndjson", "--select", "frm,sta", cwd=tmp_path).stdout


def test_standard_input_is_a_capture(tmp_path):
    assert call("-", cwd=tmp_path, stdin=lines(GOOD)).stdout.startswith("conforms:")


def test_out_refuses_what_it_cannot_mean(tmp_path):
    capture(tmp_path, "x.ndjson", GOOD)
    assert "is not FORMAT=PATH" in call("x.ndjson", "--out", "yaml=x", cwd=tmp_path).stderr
    twice = call("x.ndjson", "--out", "json=x", "--out", "text=x", cwd=tmp_path)
    assert "two reports would be written to x" in twice.stderr
    assert not (tmp_path / "x").exists()


def test_a_stream_cannot_silence_its_judge(tmp_path):
    quiet = {"runtime-validate": "ignore", "suppress": ["STA001"], "x-suppress": "STA001"}
    header = {"record": "header", "capture": "1", "protocol": "agent-runtime", "version": "0.3", **quiet}
    capture(tmp_path, "x.ndjson", [header, *({**entry, **quiet} for entry in BAD)])
    assert call("x.ndjson", "--select", "STA", cwd=tmp_path).returncode == 1
