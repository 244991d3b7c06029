"""A wheel, installed away from the checkout, finds all its data."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*command, cwd):
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The command of a clean virtual environment that holds only the built wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT), cwd=folder)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel), cwd=folder)
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
