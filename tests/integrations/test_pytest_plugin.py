"""The pytest plugin in a throwaway project, red and green; and the few names of the Python interface."""

import os
import subprocess
import sys

import pytest

import validator
from tests.cli.support import BAD, CREATED, GOOD, ROOT, STARTED, capture, lines
from validator import assert_conformant

PROJECT = f"""
from validator import assert_conformant

GOOD, BAD, OPEN = {list(GOOD)!r}, {list(BAD)!r}, {[CREATED, STARTED]!r}


def test_green():
    report = assert_conformant(GOOD, protocol="agent-runtime")
    assert report.events == 3


def test_red():
    assert_conformant(BAD)


def test_open():
    assert_conformant(OPEN)


def test_prefix():
    assert_conformant(OPEN, expect="prefix")


def test_fixture_green(runtime_capture, tmp_path):
    for event in GOOD:
        runtime_capture.add(event)
    runtime_capture.assert_conformant()
    assert_conformant(runtime_capture.save(tmp_path / "x.ndjson"))


def test_fixture_red_though_nobody_asked(runtime_capture):
    runtime_capture.configure(expect="prefix")
    runtime_capture.add(*BAD)


def test_fixture_unused(runtime_capture):
    assert runtime_capture.lines == []
"""


def test_a_throwaway_project_is_red_and_green_where_it_should(tmp_path):
    (tmp_path / "test_runtime.py").write_text(PROJECT)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    words = [sys.executable, "-m", "pytest", "-p", "validator.pytest_plugin", "-q", "-rA", "--color=no"]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    told = {line.split("::")[1].split(" ")[0]: line.split()[0] for line in done.stdout.splitlines() if "py::" in line}
    assert told == {
        "test_green": "PASSED",
        "test_red": "FAILED",
        "test_open": "FAILED",
        "test_prefix": "PASSED",
        "test_fixture_green": "PASSED",
        "test_fixture_red_though_nobody_asked": "ERROR",
        "test_fixture_unused": "PASSED",
    }
    assert "MUST STA001 illegal-move" in done.stdout
    assert "fix       Emit the missing move first" in done.stdout


def test_events_may_come_in_any_form(tmp_path):
    for form in (GOOD, list(GOOD), (entry for entry in GOOD), lines(GOOD), lines(GOOD).decode().splitlines()):
        assert assert_conformant(form).verdict == "conformant"
    assert assert_conformant(capture(tmp_path, "x.ndjson", GOOD)).file == "x.ndjson"
    with pytest.raises(AssertionError, match="fails: 1 finding at or above MUST"):
        assert_conformant(BAD, select=["STA"], expect="prefix", fail_on="must")


def test_the_interface_is_a_few_names_that_all_exist():
    assert len(validator.__all__) <= 8
    for name in validator.__all__:
        assert getattr(validator, name), name
    with pytest.raises(AttributeError):
        _ = validator.nothing
