"""The tool in a real terminal, behind a pipe, interrupted, and where nothing can be written."""

import json
import os
import resource
import signal
import subprocess
import sys

import pytest

from tests.cli.support import BAD, CREATED, GOOD, PROGRAM, call, capture, environment, event, lines, process
from tests.cli.terminal import Terminal

BIG = "x" * 60_000
RED = "\x1b[1;31m"


def big(folder, name="big.ndjson", size=24):
    """More than a mebibyte in a few lines."""
    progress = [event(n, "task.progress", {"note": BIG}, task_id="t1") for n in range(3, size)]
    started = event(2, "task.started", task_id="t1")
    return capture(folder, name, [CREATED, started, *progress, event(size, "task.completed", task_id="t1")])


def test_a_terminal_gets_colours_its_own_width_and_a_progress_bar(tmp_path):
    big(tmp_path)
    capture(tmp_path, "bad.ndjson", BAD)
    terminal = Terminal("big.ndjson", "bad.ndjson", cwd=tmp_path, columns=60)
    assert terminal.end() == 1
    assert "judging" in terminal.text
    assert "100%" in terminal.text
    assert f"{RED}fails: 1 finding" in terminal.text
    shown = [line for line in terminal.text.replace("\r", "").splitlines() if line.startswith(("  spec", "    "))]
    assert shown
    assert max(len(line) for line in shown) <= 60


def test_no_color_keeps_the_terminal_and_drops_the_colours(tmp_path):
    capture(tmp_path, "bad.ndjson", BAD)
    plain = Terminal("bad.ndjson", cwd=tmp_path, NO_COLOR="1")
    assert plain.end() == 1
    assert "fails: 1 finding" in plain.text
    assert "\x1b[" not in plain.text
    assert "judging" not in plain.text, "a short input needs no progress bar"


def test_without_a_terminal_there_is_neither(tmp_path):
    capture(tmp_path, "x.ndjson", GOOD)
    done = process("x.ndjson", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b[" not in done.stdout
    assert "\x1b[1;32mconforms" in call("x.ndjson", "--color", "always", cwd=tmp_path).stdout


def test_ctrl_c_leaves_a_report_that_says_it_is_partial(tmp_path):
    capture(tmp_path, "bad.ndjson", BAD)
    words = [*PROGRAM, "bad.ndjson", "-", "--format", "json", "--out", "text=report.txt"]
    running = subprocess.Popen(
        words, cwd=tmp_path, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    # The pipe is full once the program waits for more, so it has begun to read standard input.
    running.stdin.write(
        lines([CREATED, *(event(n, "task.progress", {"note": BIG}, task_id="t1") for n in range(2, 7))])
    )
    running.stdin.flush()
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert running.returncode == 130
    document = json.loads(out)
    assert (document["partial"], document["exit_code"]) == (True, 130)
    assert document["captures"][0]["verdict"] == "violations"
    assert (tmp_path / "report.txt").read_text().startswith("interrupted: this report is partial; so far fails:")
    assert json.loads(err.splitlines()[-1])["error"] == "interrupted"


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    capture(tmp_path, "x.ndjson", BAD)
    program = " ".join([sys.executable, "-c", "'from validator.cli import main; main()'"])
    script = f"{program} x.ndjson --format json | head -c 100; echo code ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert done.stdout.endswith("code 1\n"), "the verdict is known all the same"
    assert "Traceback" not in done.stderr
    assert "Broken" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
@pytest.mark.parametrize("words", [["x.ndjson"], ["rules"], ["explain", "TRM001"], ["schema", "list"], ["--help"]])
def test_a_full_disk_behind_standard_output_is_told(tmp_path, words):
    capture(tmp_path, "x.ndjson", GOOD)
    with open("/dev/full", "w") as full:
        done = subprocess.run([*PROGRAM, *words], cwd=tmp_path, env=environment(), stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert b"standard output cannot be written: No space left on device" in done.stderr


def test_a_disk_that_fills_up_leaves_the_old_report_and_no_part_of_the_new(tmp_path):
    capture(tmp_path, "x.ndjson", BAD)
    (tmp_path / "report.json").write_text("old\n")
    done = subprocess.run(
        [*PROGRAM, "x.ndjson", "--out", "json=report.json", "--out", "sarif=new.sarif"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )
    assert done.returncode == 2
    assert "report.json cannot be written: File too large" in done.stderr
    assert (tmp_path / "report.json").read_text() == "old\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.json", "x.ndjson"]


def test_a_place_that_takes_no_file_is_told_before_anything_is_lost(tmp_path):
    capture(tmp_path, "x.ndjson", GOOD)
    (tmp_path / "file").write_text("here\n")
    done = call("x.ndjson", "--out", "json=file/report.json", cwd=tmp_path)
    assert done.returncode == 2
    assert "report.json cannot be written: Not a directory" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_report_or_folder_is_respected(tmp_path):
    capture(tmp_path, "x.ndjson", GOOD)
    report = tmp_path / "report.json"
    report.write_text("old\n")
    report.chmod(0o444)
    assert "Permission denied" in call("x.ndjson", "--out", "json=report.json", cwd=tmp_path).stderr
    assert report.read_text() == "old\n"
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    assert "Permission denied" in call("x.ndjson", "--out", "json=locked/r.json", cwd=tmp_path).stderr


@pytest.mark.skipif(not os.path.exists("/proc/self"), reason="the system has no /proc")
def test_a_read_only_file_system_is_told(tmp_path):
    capture(tmp_path, "x.ndjson", GOOD)
    done = call("x.ndjson", "--out", "json=/proc/self/report.json", cwd=tmp_path)
    assert (done.returncode, "report.json cannot be written" in done.stderr) == (2, True)


def test_reports_keep_mode_and_link_and_go_to_devices(tmp_path):
    capture(tmp_path, "x.ndjson", GOOD)
    real = tmp_path / "real.json"
    real.write_text("old\n")
    real.chmod(0o640)
    (tmp_path / "link.json").symlink_to(real)
    assert call("x.ndjson", "--out", "json=link.json", "--out", "text=/dev/null", cwd=tmp_path).returncode == 0
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads(real.read_text())["exit_code"] == 0
    assert real.stat().st_mode & 0o777 == 0o640
    assert not os.path.isfile("/dev/null")


def test_shells_learn_commands_options_and_names(tmp_path):
    for shell in ("bash", "zsh", "fish"):
        assert "_RUNTIME_VALIDATE_COMPLETE" in call("completion", shell, cwd=tmp_path).stdout
    asked = {"_RUNTIME_VALIDATE_COMPLETE": "bash_complete"}
    for words, number, wanted in (
        ("runtime-validate ba", "1", "plain,baseline"),
        ("runtime-validate check --fail-on ", "3", "plain,should"),
        ("runtime-validate check --protocol agenth", "3", "plain,agenthub/1"),
    ):
        done = process(cwd=tmp_path, COMP_WORDS=words, COMP_CWORD=number, **asked)
        assert wanted in done.stdout.splitlines(), words


def test_an_error_of_our_own_is_told_without_what_a_capture_said(tmp_path, monkeypatch):
    capture(tmp_path, "x.ndjson", GOOD)

    def broken(*_):
        raise KeyError("/home/alice/secret")

    monkeypatch.setattr("validator.cli.judge.judge", broken)
    done = call("x.ndjson", "--format", "json", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: internal: KeyError in tests.cli.test_tour, line")
    assert json.loads(done.stderr.splitlines()[-1])["error"] == "internal"
    assert "alice" not in done.stderr
