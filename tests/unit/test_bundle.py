"""Strangers' tools can use the bundles as they are."""

import json
import shutil
import subprocess
import sys

import pytest

from tests.conftest import PROTOCOLS, strangers_validator
from validator import resources
from validator.capture.lines import line_errors, read_lines
from validator.datafile import read_json
from validator.protocol.authority import Validator
from validator.protocol.bundle import bundle
from validator.protocol.protocol import load_protocol
from validator.protocol.schemas import references

FIXTURES = resources.fixtures()


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_bundle_needs_no_other_file_and_passes_every_golden_line(name):
    protocol = load_protocol(name)
    compound = bundle(protocol)
    Validator.check_schema(compound)
    validator = strangers_validator(compound)
    for path in sorted((FIXTURES / name / "golden").glob("*.ndjson")):
        for number, line in read_lines(path):
            assert validator.is_valid(line), f"{path.name}:{number}"


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_bundle_and_the_files_agree_on_every_event_fixture(name):
    protocol = load_protocol(name)
    validator = strangers_validator(bundle(protocol))
    for event in protocol.events:
        for case in read_json(FIXTURES / name / "documents/events" / f"{event}.json")["cases"]:
            if protocol.type_of(case["document"]) == event:
                assert validator.is_valid(case["document"]) == case["valid"], f"{event} {case['id']}"


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_reference_of_a_bundle_stays_inside_it(name):
    compound = bundle(load_protocol(name))
    inside = {compound["$id"], *(schema["$id"] for schema in compound["$defs"].values())}
    for _, reference in references({key: value for key, value in compound.items() if key != "$defs"}):
        assert reference.split("#")[0] in inside


def test_records_and_what_they_carry_are_judged_too(core):
    validator = strangers_validator(bundle(core))
    for line in (
        {"record": "command", "command": "get_task", "command_id": "c", "request": {}},
        {"record": "result", "command": "get_task", "command_id": "c", "result": {"outcome": "rejected"}},
        {"record": "snapshot", "model": "queue_snapshot", "snapshot": {}},
        {"record": "rumour"},
    ):
        assert not validator.is_valid(line)
        assert line_errors(core, line)


def test_check_jsonschema_reads_a_bundle_as_it_is(core, tmp_path):
    (tmp_path / "bundle.json").write_text(json.dumps(bundle(core)))
    good = read_json(FIXTURES / "agent-runtime/0.3/documents/events/task.created.json")["cases"][0]["document"]
    (tmp_path / "good.json").write_text(json.dumps(good))
    (tmp_path / "bad.json").write_text(json.dumps({**good, "payload": {}}))
    command = [sys.executable, "-m", "check_jsonschema", "--schemafile", "bundle.json"]
    assert subprocess.run([*command, "good.json"], cwd=tmp_path, capture_output=True).returncode == 0
    bad = subprocess.run([*command, "bad.json"], cwd=tmp_path, capture_output=True, text=True)
    assert bad.returncode == 1
    assert "'objective' is a required property" in bad.stdout


AJV = """
const Ajv = require("ajv/dist/2020"), fs = require("fs");
const ajv = new Ajv({allErrors: true, logger: false});
ajv.addFormat("date-time", true);
for (const [name, folder] of JSON.parse(process.argv[2])) {
  const check = ajv.compile(JSON.parse(fs.readFileSync(name + ".json")));
  for (const file of fs.readdirSync(folder).filter(file => file.endsWith(".ndjson")))
    for (const line of fs.readFileSync(folder + "/" + file, "utf8").split("\\n").filter(Boolean))
      if (!check(JSON.parse(line))) throw new Error(file + ": " + JSON.stringify(check.errors[0]));
  if (check({type: 7})) throw new Error(name + " accepts anything");
}
console.log("ok");
"""


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed, so Ajv cannot be")
def test_ajv_in_strict_mode_compiles_a_bundle_and_passes_every_golden_line(tmp_path):
    install = subprocess.run(
        ["npm", "install", "--silent", "--no-save", "--no-package-lock", "ajv@8"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert install.returncode == 0, install.stderr
    pairs = []
    for name in PROTOCOLS:
        protocol = load_protocol(name)
        (tmp_path / f"{protocol.name}.json").write_text(json.dumps(bundle(protocol)))
        pairs.append((protocol.name, str(FIXTURES / name / "golden")))
    (tmp_path / "run.js").write_text(AJV)
    done = subprocess.run(["node", "run.js", json.dumps(pairs)], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.strip() == "ok", done.stderr[-2000:]
