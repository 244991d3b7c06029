"""The pre-commit hook run by pre-commit itself, and the GitHub Action's script run as its step would; red and green."""

import os
import subprocess
import sys

import pytest
import yaml

from tests.cli.support import BAD, GOOD, ROOT, capture, environment

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
MANIFEST = ROOT / ".pre-commit-hooks.yaml"


@pytest.fixture
def programs(tmp_path):
    """A folder with `runtime-validate` as the first thing on the path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "runtime-validate"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -c "from validator.cli import main; main()" "$@"\n')
    program.chmod(0o755)
    return environment(PATH=f"{folder}{os.pathsep}{os.environ['PATH']}")


def run(*words, cwd, env):
    return subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True)


@pytest.fixture
def repository(tmp_path, programs):
    """A git repository that uses our hook, with the program of this checkout instead of an installed one."""
    folder = tmp_path / "repository"
    folder.mkdir()
    (hook,) = yaml.safe_load(MANIFEST.read_text())
    config = {"repos": [{"repo": "local", "hooks": [{**hook, "language": "system"}]}]}
    (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    programs.update(PRE_COMMIT_HOME=str(tmp_path / "cache"), HOME=str(tmp_path))
    run("git", "init", "-q", cwd=folder, env=programs)
    return folder


def pre_commit(folder, env):
    run("git", "add", "-A", cwd=folder, env=env)
    return run(sys.executable, "-m", "pre_commit", "run", "--all-files", "--color=never", cwd=folder, env=env)


def test_the_hook_runs_in_real_pre_commit(repository, programs):
    (repository / "notes.txt").write_text("no capture\n")
    capture(repository, "captures/good.ndjson", GOOD)
    green = pre_commit(repository, programs)
    assert (green.returncode, "Passed" in green.stdout) == (0, True), green.stdout + green.stderr
    capture(repository, "captures/bad.ndjson", BAD)
    red = pre_commit(repository, programs)
    assert red.returncode == 1
    assert "fails: 1 finding at or above MUST in 1 capture; the first is STA001 illegal-move" in red.stdout


def test_the_manifest_is_one_that_pre_commit_accepts(tmp_path):
    words = (sys.executable, "-m", "pre_commit", "validate-manifest", str(MANIFEST))
    assert run(*words, cwd=tmp_path, env=environment(HOME=str(tmp_path))).returncode == 0


def step(folder, env, **inputs):
    """The judging step, with inputs given as the platform gives them."""
    judge = next(entry for entry in ACTION["runs"]["steps"] if entry.get("id") == "judge")
    given = {name: entry.get("default", "") for name, entry in ACTION["inputs"].items()} | inputs
    variables = {
        name: given[text.removeprefix("${{ inputs.").removesuffix(" }}")] for name, text in judge["env"].items()
    }
    (folder / "output").write_text("")
    (folder / "summary").write_text("")
    files = {"GITHUB_OUTPUT": str(folder / "output"), "GITHUB_STEP_SUMMARY": str(folder / "summary")}
    env = {**env, **variables, **files, "GITHUB_ACTIONS": "true"}
    return run("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", judge["run"], cwd=folder, env=env)


def test_the_action_is_red_and_green_and_leaves_what_it_promises(tmp_path, programs):
    capture(tmp_path, "captures/good.ndjson", GOOD)
    green = step(tmp_path, programs, paths="captures/*.ndjson", sarif="report.sarif", junit="report.xml")
    assert green.returncode == 0, green.stderr
    assert (tmp_path / "output").read_text() == "exit-code=0\n"
    assert (tmp_path / "report.sarif").exists()
    assert (tmp_path / "report.xml").exists()
    capture(tmp_path, "captures/bad.ndjson", BAD)
    red = step(tmp_path, programs, paths="captures/*.ndjson", arguments="--select STA --expect prefix")
    assert (red.returncode, (tmp_path / "output").read_text()) == (1, "exit-code=1\n")
    assert "::error file=captures/bad.ndjson,line=2,title=STA001" in red.stdout
    assert (tmp_path / "summary").read_text().startswith("# runtime-validate\n\n**fails: 1 finding")


def test_an_input_cannot_run_a_program(tmp_path, programs):
    step(tmp_path, programs, paths="x; touch stolen", arguments="$(touch stolen) `touch stolen`")
    assert not (tmp_path / "stolen").exists()


def test_the_action_file_has_the_shape_the_platform_documents(tmp_path):
    words = (sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions", ROOT / "action.yml")
    done = run(*map(str, words), cwd=tmp_path, env=environment(HOME=str(tmp_path)))
    assert done.returncode == 0, done.stdout
