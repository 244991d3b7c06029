"""A command ends its process at once, when all is said; a process that is watched ends as any other."""

import os
import subprocess
import sys

import pytest

from validator import cli, resources
from validator.cli import entry

LAST = "import sys, atexit; atexit.register(print, 'at exit');"
LEFT = "type('Left', (), {'__del__': lambda self: print('taken apart')})()"
MAIN = f"{LAST} left = {LEFT}; from validator.cli import main; main()"
ASKED = "import os, sys; os._exit = lambda code: print('at once');"
THREAD = "import threading; threading.Thread(target=sys.stdin.read, daemon=True).start();"


def run(code, *words, **more):
    environment = {**os.environ, "PYTHONPATH": str(resources.root())}
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, **more)


@pytest.mark.parametrize("words", [("--version",), (str(resources.fixtures() / "README.md"),)])
def test_what_waits_for_the_end_runs_and_nothing_is_taken_apart(words):
    done = run(MAIN, *words)
    assert done.stdout.splitlines()[-1] == "at exit"
    ordinary = run(MAIN.replace("main()", "from validator.cli.entry import run; run()"), *words)
    assert ordinary.stdout == f"{done.stdout}taken apart\n"
    assert ordinary.returncode == done.returncode == (0 if words == ("--version",) else 4)


@pytest.mark.parametrize(
    ("watch", "at_once"),
    [
        ("", True),
        ("sys.settrace(lambda *_: None);", False),
        ("sys.setprofile(lambda *_: None);", False),
        (THREAD, False),
    ],
)
def test_who_is_watched_ends_as_any_other(watch, at_once):
    with subprocess.Popen(["sleep", "60"], stdout=subprocess.PIPE) as silent:  # nothing comes for the thread to read
        done = run(f"{ASKED} {watch} from validator.cli import main; main()", "--version", stdin=silent.stdout)
        silent.kill()
    assert done.stdout.endswith("at once\n") is at_once
    assert done.returncode == 0


class Broken:
    def flush(self):
        raise OSError


def test_what_could_not_be_said_is_left_to_the_interpreter(monkeypatch):
    monkeypatch.setattr(cli.atexit, "_run_exitfuncs", lambda: None)
    monkeypatch.setattr(os, "_exit", lambda code: pytest.fail("left"))
    monkeypatch.setattr(sys, "stdout", Broken())
    cli._leave(0)


def test_a_code_that_is_no_number_is_told_by_the_interpreter(monkeypatch):
    def refuse():
        sys.exit("words")

    monkeypatch.setattr(entry, "run", refuse)
    monkeypatch.setattr(cli, "_leave", lambda code: pytest.fail("left"))
    monkeypatch.setattr(cli, "_is_watched", lambda: False)
    monkeypatch.setattr(cli.gc, "set_threshold", lambda *_: None)
    with pytest.raises(SystemExit, match="words"):
        cli.main()
