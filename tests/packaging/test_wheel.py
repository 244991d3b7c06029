"""A wheel, installed away from the checkout, finds all its data."""

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

LOADED = "import sys, atexit; atexit.register(lambda: print('yaml' in sys.modules, file=sys.stderr))"
ROOT = Path(__file__).resolve().parents[2]


def run(*command, cwd):
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(folder):
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT), cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(built):
    """The command of a clean virtual environment that holds only the built wheel."""
    folder = built.parent
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(built), cwd=folder)
    return folder / "env" / "bin" / "runtime-validate"


def test_the_selftest_passes_away_from_the_checkout(installed, tmp_path):
    assert ", 0 failures" in run(installed, "selftest", cwd=tmp_path)


def test_pages_and_schemas_come_along(installed, tmp_path):
    assert "every page is fresh" in run(installed, "spec", "check", cwd=tmp_path)
    assert "agent-runtime/0.3" in run(installed, "schema", "list", cwd=tmp_path)
    assert run(installed, "--version", cwd=tmp_path).startswith("runtime-validate, version ")


def test_pytest_finds_the_plugin(installed, tmp_path):
    code = (
        "from importlib.metadata import entry_points; print([entry.value for entry in entry_points(group='pytest11')])"
    )
    assert "validator.pytest_plugin" in run(installed.with_name("python"), "-c", code, cwd=tmp_path)


def test_the_first_check_finds_the_contract_compiled(installed, tmp_path):
    capture = installed.parents[1] / "capture.ndjson"
    capture.write_bytes((ROOT / "fixtures" / "agent-runtime" / "0.3" / "golden" / "hooks.ndjson").read_bytes())
    look = f"{LOADED}; from validator.cli import main; main()"
    own, said = tmp_path / "empty", {}
    for folder in ("off", str(own)):
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        environment["RUNTIME_VALIDATE_CACHE"] = folder
        command = [installed.with_name("python"), "-c", look, "check", "--format", "json", str(capture)]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        said[folder] = (json.loads(done.stdout), done.stderr.strip())
    assert said["off"][0] == said[str(own)][0]
    assert (said["off"][1], said[str(own)][1]) == ("True", "False")
    assert {path.name.partition("-")[2] for path in own.iterdir()} == {"modules", "modules-0", "written"}


def test_what_commands_keep_for_themselves_is_in_no_wheel(built):
    kept = [name for name in zipfile.ZipFile(built).namelist() if "/compiled/" in name]
    assert kept
    assert not [name for name in kept if "-modules" in name or "-written" in name]


def test_two_builds_give_the_same_bytes(built, tmp_path):
    assert build(tmp_path).read_bytes() == built.read_bytes()
