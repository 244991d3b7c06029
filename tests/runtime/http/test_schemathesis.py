"""Somebody else's tool reads the served description and tries what its answers do not keep."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode

from reference_runtime.transports.http import openapi
from reference_runtime.transports.http.stream import Pace
from tests.runtime.http.serving import TOKEN, Running, runtime, submit
from tests.runtime.http.view import View
from tests.runtime.judging import findings

HEADERS = {"Authorization": f"Bearer {TOKEN}"}
OPERATIONS = [(method, path) for path, item in openapi.document(*openapi.core())["paths"].items() for method in item]
BOUNDED = settings(max_examples=4, derandomize=True, deadline=None, database=None, suppress_health_check=HealthCheck)
MODES = {"fits": GenerationMode.POSITIVE, "does-not-fit": GenerationMode.NEGATIVE}


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    """The description as it is served; in the end, what the server wrote down is in order."""
    folder = tmp_path_factory.mktemp("schemathesis")
    with Running(lambda: runtime(folder), Pace(stream_seconds=0.02, grace_seconds=1)) as running:
        with running.client() as client:
            furnish(client)
        yield schemathesis.openapi.from_url(f"{running.address}/openapi.json", headers=HEADERS)
    assert findings((folder / "capture.ndjson").read_text()) == []


def furnish(client):
    """One subject of each kind that a command can make, under the id that is drawn most often."""
    where = {"session_id": "0", "thread_id": "0"}
    submit(client, "0", **where, options={"script": "ask"})
    View("0", "0").read(client)
    task = {"command": "create_task", "task_id": "0", "objective": "o"}
    parent = {"parent_session_id": "0", "parent_thread_id": "0", "isolation": {"workspace": "copy"}}
    child = {"command": "spawn_subagent", "subagent_id": "0", **parent}
    items = [{"job_item_id": "0", "status": "pending"}]
    job = {"command": "create_job", "job_id": "0", "instruction": "i", "items": items}
    for request in ({**task, **where}, {"command": "start_task", "task_id": "0"}, child, {**job, **where}):
        answer = client.post(f"/commands/{request.pop('command')}", json=request)
        assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=lambda word: word.strip("/"))
def test_every_answer_is_one_that_is_described(schema, method, path, mode):
    @BOUNDED
    @given(case=schema[path][method].as_strategy(generation_mode=MODES[mode]))
    def ask(case):
        response = case.call(headers=HEADERS)
        # A schema cannot say how large a number may be in a property that it does not name.
        unread = response.status_code == 400 and response.json()["error"]["code"] == "not_json"
        left_out = [schemathesis.checks.positive_data_acceptance] if unread else []
        case.validate_response(response, headers=HEADERS, excluded_checks=left_out)

    ask()
