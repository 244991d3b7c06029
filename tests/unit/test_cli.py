"""The commands a person types: what they print, what they refuse, and how they exit."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from validator.cli.group import cli


def call(*words, input=None):
    return CliRunner().invoke(cli, list(words), input=input)


def process(*words):
    command = [sys.executable, "-c", "from validator.cli import main; main()", *words]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "COLUMNS": "100"})


@pytest.mark.parametrize("words", [(), ("schema",), ("spec",), ("selftest",), ("schema", "bundle"), ("schema", "lock")])
def test_help_says_what_it_is_for(words):
    done = call(*words, "--help")
    assert done.exit_code == 0
    assert "Usage:" in done.output


def test_leaf_commands_show_an_example():
    for words in (
        ("replay",),
        ("selftest",),
        ("spec", "build"),
        ("spec", "check"),
        ("schema", "list"),
        ("schema", "show"),
        ("schema", "bundle"),
        ("schema", "lock"),
    ):
        assert "Example: runtime-validate" in call(*words, "--help").output, words


def test_the_version_is_told():
    assert "runtime-validate, version" in call("--version").output


def test_selftest_sums_up_and_lists_what_is_missing():
    done = call("selftest", "agenthub", "--missing")
    assert done.exit_code == 0
    assert "agenthub/1" in done.output
    assert done.output.strip().endswith("0 failures")


def test_schema_list_counts_and_lists():
    assert "119 event types, 43 commands, 13 read models, 17 state tables" in call("schema", "list").output
    assert "events/task.created" in call("schema", "list", "agent-runtime").output


def test_schema_show_prints_one_schema():
    done = call("schema", "show", "agent-runtime", "task.created")
    assert json.loads(done.output)["properties"]["type"] == {"const": "task.created"}


def test_schema_bundle_prints_or_writes(tmp_path):
    printed = call("schema", "bundle", "agenthub")
    assert json.loads(printed.stdout)["$id"].endswith("/agenthub/1/bundle.schema.json")
    done = call("schema", "bundle", "--out", str(tmp_path))
    assert done.exit_code == 0
    assert len(list(tmp_path.glob("*.schema.json"))) == 4
    assert call("schema", "bundle", "agent-runtime", "--casing", "camelCase", "--out", str(tmp_path)).exit_code == 0
    assert (tmp_path / "agent-runtime-0.3.camelCase.schema.json").exists()


def test_schema_lock_freezes_and_then_watches(contract):
    root = str(contract / "schemas")
    assert call("schema", "lock", "--check", "--root", root).output.startswith("0 locked versions")
    done = call("schema", "lock", "agenthub/1", "--root", root)
    assert done.output.startswith("locked agenthub/1: ")
    assert call("schema", "lock", "--check", "--root", root).exit_code == 0
    with (contract / "schemas" / "agenthub" / "1" / "protocol.yaml").open("a") as file:
        file.write("# a remark\n")
    changed = call("schema", "lock", "--check", "--root", root)
    assert changed.exit_code == 1
    assert changed.output == "agenthub/1: protocol.yaml has changed\n"


def test_spec_check_is_clean():
    assert call("spec", "check").exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("selftest", "agent-hub"), "there is no protocol 'agent-hub'\n  hint: known: agent-runtime/0.3"),
        (
            ("schema", "show", "agent-runtime", "task.exploded"),
            "has no 'task.exploded'\n  hint: near it: events/task.created",
        ),
        (("schema", "bundle"), "several bundles need a folder"),
        (("schema", "bundle", "agenthub", "--casing", "camelCase"), "agenthub/1 has no casing 'camelCase'"),
        (("schema", "lock"), "name the version to freeze"),
        (("schema", "lock", "agenthub/7"), "is not a version below schemas/"),
        (("schema", "lock", "agenthub/1", "--check"), "is not a locked version below schemas/"),
    ],
)
def test_a_wrong_request_is_one_message_and_exit_code_two(words, message):
    done = process(*words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
