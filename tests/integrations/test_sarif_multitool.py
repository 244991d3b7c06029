"""Our SARIF goes through the validator that the SARIF project itself publishes."""

import json
import shutil
import subprocess

import jsonschema_rs
import pytest

from tests.cli.support import BAD, GOOD, call, capture


@pytest.fixture(scope="module")
def multitool(tmp_path_factory):
    """The npm package, installed away from everything else."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("multitool")
    install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "@microsoft/sarif-multitool"]
    done = subprocess.run(install, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("the npm registry does not offer @microsoft/sarif-multitool here")
    return folder / "node_modules"


def complaints(modules, path):
    """What the tool's rules and the schema that it ships say against a file."""
    found = path.with_suffix(".validated")
    program = modules / ".bin" / "sarif-multitool"
    command = [str(program), "validate", str(path), "--output", str(found), "--log", "ForceOverwrite"]
    subprocess.run(command, capture_output=True, text=True, cwd=path.parent)
    (run,) = json.loads(found.read_text(encoding="utf-8-sig"))["runs"]
    (schema,) = modules.glob("@microsoft/sarif-multitool-*/sarif-2.1.0.json")
    validator = jsonschema_rs.validator_for(json.loads(schema.read_text(encoding="utf-8-sig")))
    document = json.loads(path.read_text())
    told = [f"{entry['ruleId']} {entry['message']}" for entry in run["results"] if entry.get("level") == "error"]
    return told + [error.message for error in validator.iter_errors(document)]


def test_reports_are_accepted(multitool, tmp_path):
    capture(tmp_path, "captures/bad one.ndjson", BAD)
    capture(tmp_path, "captures/good.ndjson", GOOD)
    done = call("captures", "--out", "sarif=report.sarif", cwd=tmp_path)
    assert done.returncode == 1
    assert complaints(multitool, tmp_path / "report.sarif") == []
    call("captures/good.ndjson", "--out", "sarif=green.sarif", cwd=tmp_path)
    assert complaints(multitool, tmp_path / "green.sarif") == []


def test_the_validator_can_refuse(multitool, tmp_path):
    capture(tmp_path, "bad.ndjson", BAD)
    call("bad.ndjson", "--out", "sarif=report.sarif", cwd=tmp_path)
    for member, value, word in (("ruleIndex", 7, "SARIF1009"), ("level", "dreadful", "dreadful")):
        document = json.loads((tmp_path / "report.sarif").read_text())
        document["runs"][0]["results"][0][member] = value
        (tmp_path / "broken.sarif").write_text(json.dumps(document))
        assert word in "".join(complaints(multitool, tmp_path / "broken.sarif"))
