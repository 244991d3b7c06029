"""Somebody else's tool reads the served description and tries what its answers do not keep."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode

from reference_runtime.lifecycles.runagents.operations import OPERATIONS
from tests.runtime.judging import findings
from tests.runtime.runagents.reading import disagreements
from tests.runtime.runagents.serving import TOKEN, Running

HEADERS = {"Authorization": f"Bearer {TOKEN}"}
BOUNDED = settings(max_examples=4, derandomize=True, deadline=None, database=None, suppress_health_check=HealthCheck)
CASES = {
    "fits": (GenerationMode.POSITIVE, True),
    "fits-a-stranger": (GenerationMode.POSITIVE, False),
    "does-not-fit": (GenerationMode.NEGATIVE, False),
}
"""How a request is drawn, and whether it is about what is there."""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The description as it is served, and ids of what is there; in the end the capture is in order."""
    with Running(tmp_path_factory.mktemp("schemathesis")) as running:
        with running.client() as client:
            made = {"agent_id": "foreign-agent", "user_id": "user_ines"}
            run_id = client.post("/runs", json=made).json()["id"]
            blocked = {"tool_id": "stripe", "capability": "POST /v1/refunds", "payload": {}}
            action = client.post(f"/runs/{run_id}/actions", json=blocked).json()
        ids = {"run_id": run_id, "action_id": action["action_id"], "request_id": action["request_id"]}
        yield schemathesis.openapi.from_url(f"{running.address}/openapi.json", headers=HEADERS), ids
    assert findings(running.capture()) == []
    assert disagreements(running.capture()) == []


@pytest.mark.parametrize("drawn", CASES)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_every_answer_is_one_that_is_described(served, operation, drawn):
    (schema, ids), (mode, known) = served, CASES[drawn]

    @BOUNDED
    @given(case=schema[operation.path][operation.method].as_strategy(generation_mode=mode))
    def ask(case):
        if known:
            case.path_parameters = {name: ids[name] for name in case.path_parameters or {}}
        response = case.call(headers=HEADERS)
        # A schema cannot say how large a number may be in a property that it does not name.
        unread = response.status_code == 400 and response.json()["error"]["code"] == "not_json"
        left_out = [schemathesis.checks.positive_data_acceptance] if unread else []
        case.validate_response(response, headers=HEADERS, excluded_checks=left_out)

    ask()
