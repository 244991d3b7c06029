"""Real work behind HTTP: a command waits for its approval, runs in the workspace, and holds up nobody."""

import sys

import pytest
import yaml

from tests.runtime.http.serving import Child, submit
from tests.runtime.http.view import messages
from tests.runtime.judging import findings

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="real work needs Linux")


@pytest.fixture
def served(tmp_path):
    workspace, scripts = tmp_path / "site", tmp_path / "scripts.yaml"
    workspace.mkdir()
    shell = {
        "tool": "shell",
        "args": {"command": "echo made > made.txt; echo first; read go; echo $go", "interactive": True},
    }
    scripts.write_text(yaml.safe_dump({"build": [{"catalog": {}}, {"use": shell}]}))
    with Child(tmp_path, "--workspace", str(workspace), "--scripts", str(scripts)) as child:
        yield child, workspace


def heard(client, kind):
    """The first event of a kind, as a stream tells it."""
    with client.stream("GET", "/sessions/s/events?after=0&follow=true") as stream:
        events = (message.data for message in messages(stream.iter_lines()) if message.name == "message")
        return next(event for event in events if event["type"] == kind)


def told(client, command, **request):
    answer = client.post(f"/commands/{command}", json=request)
    assert answer.json()["outcome"] == "accepted", answer.text


def test_a_command_is_approved_runs_and_is_spoken_to(served, tmp_path):
    child, workspace = served
    with child.client() as client:
        submit(client, "turn_a", options={"script": "build"})
        action = heard(client, "action.required")["action_id"]
        assert list(workspace.iterdir()) == []
        told(client, "respond_action", action_id=action, decision="approved")
        process = heard(client, "process.output")["process_id"]
        assert (workspace / "made.txt").read_text() == "made\n"
        # The process waits for us; others are served meanwhile.
        told(client, "create_task", session_id="s", task_id="task_1", objective="o")
        told(client, "write_process_stdin", process_id=process, input="go\n")
        assert heard(client, "turn.completed")["turn_id"] == "turn_a"
    assert child.end() == 0
    assert findings((tmp_path / "capture.ndjson").read_text(), "prefix") == []
