"""Following: files that grow, rotate or shrink, commands that exit, crash or hang; findings at once, one verdict."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.cli.support import BAD, CREATED, GOOD, PROGRAM, STARTED, call, capture, environment, event, lines
from validator import follow as following
from validator.engine import Validator

MORE = lines([event(3, "task.created", {"objective": "T"}, task_id="t2"), event(4, "task.completed", task_id="t2")])


class Script:
    """Stands for waiting: each wait does the next thing to the file."""

    def __init__(self, *acts):
        self.acts = list(acts)

    def __call__(self, _seconds):
        if self.acts:
            self.acts.pop(0)()


def followed(path, *acts, idle=0.5):
    """What is told, in order, while a file goes through these acts."""
    told = []
    source = following.tail(path, Script(*acts), 0.2, idle)
    validator = Validator(path.name)
    done = following.follow(source, validator, lambda found: told.append((found.rule, found.line)), told.append)
    return done.report, told


def appending(path, data):
    def act():
        with path.open("ab") as file:
            file.write(data)

    return act


def offline(data, name):
    validator = Validator(name)
    validator.feed(data)
    return validator.close()


def test_a_growing_file_is_judged_as_it_grows(tmp_path):
    path = capture(tmp_path, "x.ndjson", [CREATED])
    first, rest = lines([BAD[1]]), MORE
    seen = []
    acts = (
        appending(path, first[:10]),
        appending(path, first[10:]),
        lambda: seen.append(list(told)),
        appending(path, rest),
    )
    told = []
    source = following.tail(path, Script(*acts), 0.2, 0.5)
    done = following.follow(source, Validator("x.ndjson"), lambda found: told.append(found.line), lambda text: None)
    assert seen == [[2]], "the finding was told before the file grew on"
    assert told == [2, 4]
    assert done.report == offline(path.read_bytes(), "x.ndjson")


def test_a_rotated_file_goes_on_in_the_new_one(tmp_path):
    path = capture(tmp_path, "x.ndjson", BAD)

    def rotate():
        path.rename(tmp_path / "x.1")
        path.write_bytes(MORE)

    report, told = followed(path, rotate)
    assert [entry for entry in told if isinstance(entry, tuple)] == [("STA001", 2), ("STA001", 4)]
    assert "rotated" in told[1]
    assert report == offline((tmp_path / "x.1").read_bytes() + path.read_bytes(), "x.ndjson")


def test_what_came_between_the_last_look_and_the_rotation_is_not_lost(tmp_path):
    path = capture(tmp_path, "x.ndjson", [CREATED])

    def rotate():
        appending(path, lines([BAD[1]]))()
        path.rename(tmp_path / "x.1")
        path.write_bytes(MORE)

    report, _ = followed(path, rotate)
    assert [found.line for found in report.findings] == [2, 4]


def test_a_truncated_file_is_read_anew_and_half_a_line_is_not_glued_on(tmp_path):
    path = capture(tmp_path, "x.ndjson", BAD)
    cut = (appending(path, b'{"type":"task.cut'), lambda: path.write_bytes(MORE))
    report, told = followed(path, *cut)
    assert next(entry for entry in told if isinstance(entry, str)).startswith("the file was truncated")
    assert report == offline(lines(BAD) + b'{"type":"task.cut\n' + MORE, "x.ndjson")


def test_a_file_that_goes_away_for_a_moment_is_waited_for(tmp_path):
    path = capture(tmp_path, "x.ndjson", BAD)
    away = tmp_path / "away"
    report, _ = followed(path, lambda: path.rename(away), lambda: path.write_bytes(MORE))
    assert [found.line for found in report.findings] == [2, 4]


@pytest.mark.parametrize(
    ("program", "code", "said"),
    [
        ("print(GOOD)", 0, "the command exited with 0"),
        ("print(GOOD); raise SystemExit(7)", 0, "the command exited with 7"),
        ("print(BAD)", 1, "the command exited with 0"),
        (
            "import os, sys; print(CUT); sys.stdout.flush(); os.kill(os.getpid(), 11)",
            3,
            "the command was ended by SIGSEGV",
        ),
    ],
)
def test_a_command_that_ends_somehow_gets_the_verdict_of_what_it_printed(program, code, said, tmp_path):
    texts = {"GOOD": GOOD, "BAD": BAD, "CUT": [CREATED, STARTED]}
    for name, documents in texts.items():
        program = program.replace(name, repr(lines(documents).decode().rstrip("\n")))
    done = call("follow", "--command", "--", sys.executable, "-c", program, cwd=tmp_path)
    assert (done.returncode, said in done.stderr) == (code, True)
    assert ("STA001" in done.stdout) == (code == 1)


def test_a_command_that_hangs_is_stopped(tmp_path):
    text = lines(BAD).decode().rstrip("\n")
    program = f"import sys, time; print({text!r}); sys.stdout.flush(); time.sleep(600)"
    words = ("follow", "--command", "--idle", "5", "--poll", "0.1", "--", sys.executable, "-c", program)
    done = call(*words, cwd=tmp_path)
    assert done.returncode == 1
    assert "nothing came for 5 seconds" in done.stderr
    assert "the command" in done.stderr.splitlines()[-1]


def test_a_command_that_does_not_exist_is_bad_usage(tmp_path):
    done = call("follow", "--command", "--", "no-such-program", cwd=tmp_path)
    assert (done.returncode, "cannot be started" in done.stderr) == (2, True)
    assert call("follow", "no-such-file", cwd=tmp_path).returncode == 2
    assert "one file is followed at a time" in call("follow", "a", "b", cwd=tmp_path).stderr


def test_reports_at_the_end_equal_those_of_check(tmp_path):
    capture(tmp_path, "x.ndjson", BAD)
    (tmp_path / "runtime-validate.toml").write_text('[[suppress]]\nrule = "FRM"\nreason = "never needed at all"\n')
    checked = call("x.ndjson", "--out", "json=check.json", cwd=tmp_path)
    done = call("follow", "x.ndjson", "--idle", "0", "--out", "json=follow.json", "--format", "ndjson", cwd=tmp_path)
    assert done.returncode == checked.returncode == 1
    assert (tmp_path / "follow.json").read_text() == (tmp_path / "check.json").read_text()
    kinds = [json.loads(line)["kind"] for line in done.stdout.splitlines()]
    assert kinds == ["finding", "capture", "note", "run"]


@pytest.fixture
def running(tmp_path):
    """A real process that follows a file which never ends."""
    path = capture(tmp_path, "x.ndjson", [CREATED])
    words = [*PROGRAM, "follow", "x.ndjson", "--poll", "0.05", "--out", "json=report.json"]
    process = subprocess.Popen(
        words, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    yield process, path
    process.kill()
    process.communicate()


def test_a_file_that_never_ends_is_told_live_and_left_by_ctrl_c(running):
    process, path = running
    appending(path, lines([BAD[1]]))()
    assert process.stdout.readline().startswith("x.ndjson:2: STA001 MUST TASK-20")
    assert process.poll() is None, "it was told while the program still follows"
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted: this report is partial; so far fails: 1 finding" in rest
    report = json.loads((path.parent / "report.json").read_text())
    assert (report["partial"], report["exit_code"]) == (True, 130)


def test_who_stops_reading_stops_the_following(running):
    process, path = running
    process.stdout.close()
    appending(path, lines([BAD[1]]))()
    assert process.wait(timeout=60) == 130
    assert os.path.exists(path.parent / "report.json")
