"""Every command the guide and the README show is run, in order, with the files they show, and ends as they say."""

import re
import shlex

import pytest
import yaml

from tests.cli.support import ROOT, call

BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"\s+# exit code ([0-9]+)$")
GUIDE = (ROOT / "spec" / "guide.md").read_text()


def section(text, title):
    """One section of a page."""
    return re.search(rf"^## {title}\n(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL).group(1)


def play(text, folder):
    """Writes the files and runs the commands of a page; yields each command with how it ended and what it promised."""
    for kind, name, body in BLOCK.findall(text):
        if name:
            (folder / name).write_text(body)
        if kind != "console":
            continue
        for shown in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
            command, *promised = shown.rstrip("\n").split("\n")
            wanted = EXIT.search(command)
            words = shlex.split(EXIT.sub("", command))
            assert words[0] == "runtime-validate", command
            yield command, call(*words[1:], cwd=folder), int(wanted.group(1)) if wanted else 0, promised


def check(text, folder):
    commands = 0
    for command, done, code, promised in play(text, folder):
        commands += 1
        assert done.returncode == code, f"{command}\n{done.stdout}{done.stderr}"
        for line in promised:
            assert any(told.startswith(line) for told in done.stdout.splitlines()), f"{command}\n{done.stdout}"
    return commands


def test_the_guide_does_what_it_says(tmp_path):
    assert check(GUIDE, tmp_path) >= 17
    for name in ("report.sarif", "report.xml", "quality.json", "summary.md", "statement.md"):
        assert (tmp_path / name).stat().st_size > 0


def test_the_readme_does_what_it_says(tmp_path):
    for _, name, body in BLOCK.findall(GUIDE):
        if name.endswith(".ndjson"):
            (tmp_path / name).write_text(body)
    assert check(section((ROOT / "README.md").read_text(), "Five minutes to a pipeline"), tmp_path) == 6


def test_a_promise_that_is_not_kept_is_noticed(tmp_path):
    with pytest.raises(AssertionError):
        check("```console\n$ runtime-validate explain STA001 # exit code 1\n```\n", tmp_path)


def test_the_snippets_name_what_exists():
    files = {name: body for _, name, body in BLOCK.findall(GUIDE) if name}
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (job,) = yaml.safe_load(files["workflow.yml"])["jobs"].values()
    assert set(job["steps"][-1]["with"]) <= set(action["inputs"])
    assert {name for name, entry in action["inputs"].items() if entry.get("required")} <= set(job["steps"][-1]["with"])
    hooks = {entry["id"] for entry in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    assert {hook["id"] for hook in yaml.safe_load(files["pre-commit.yml"])["repos"][0]["hooks"]} <= hooks
    names = {}
    exec(files["test_runtime.py"], names)
    names["test_events_conform"]()


def test_every_command_has_a_purpose_and_an_example(tmp_path):
    commands = [
        line.split()[0] for line in call("--help", cwd=tmp_path).stdout.split("Commands:")[1].splitlines() if line
    ]
    assert len(commands) >= 12
    for name in commands:
        told = call(name, "--help", cwd=tmp_path).stdout
        nested = re.findall(r"^  (\w+)  ", told.split("Commands:")[1], re.MULTILINE) if "Commands:" in told else []
        for words in [(name,), *((name, inner) for inner in nested)]:
            text = call(*words, "--help", cwd=tmp_path).stdout
            first = text.splitlines()[2].strip()
            assert len(first) > 20, words
            assert "Example: runtime-validate " in text, words
