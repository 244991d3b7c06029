"""A runtime that is started on what an earlier one left: its store, and a capture that may lack the last lines."""

import json

import pytest

from reference_runtime.__main__ import main
from reference_runtime.booting import boot
from reference_runtime.work.engine import Worker
from tests.runtime.judging import findings

REQUEST = {"session_id": "s", "thread_id": "t", "input_parts": [{"kind": "text", "text": "hi"}]}


def run(folder):
    runtime = boot(folder / "store.db", None, folder / "capture.ndjson")
    assert runtime.handle("submit_turn", REQUEST)["outcome"] == "accepted"
    Worker(runtime).run()
    runtime.store.close()
    runtime.capture.close()


@pytest.mark.parametrize("cut", [1, 40, 900, 2500])
def test_what_a_killed_process_did_not_write_down_is_written_down_by_the_next(tmp_path, cut):
    run(tmp_path)
    path = tmp_path / "capture.ndjson"
    path.write_bytes(path.read_bytes()[:-cut])
    run(tmp_path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    runtime = boot(tmp_path / "store.db", None, None)
    told = [line for line in lines if "record" not in line]
    assert told == list(runtime.store.read())[: len(told)]
    assert [line["record"] for line in lines if line.get("record") in {"header", "restart"}] == ["header", "restart"]
    assert findings(path.read_text()) == []
    runtime.store.close()


def test_scripts_of_a_file_are_known(tmp_path):
    (tmp_path / "scripts.yaml").write_text("mine: []\n")
    runtime = boot(None, tmp_path / "scripts.yaml", None)
    assert runtime.handle("submit_turn", {**REQUEST, "options": {"script": "mine"}})["outcome"] == "accepted"


def test_the_description_of_what_is_served_can_be_printed(capsys):
    assert main(["openapi"]) == 0
    assert json.loads(capsys.readouterr().out)["openapi"] == "3.1.0"
