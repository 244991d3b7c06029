"""The platform over HTTP: whole flows, clear refusals that change nothing, and a capture without fault."""

import json

import httpx
import pytest

from reference_runtime.lifecycles.runagents.collector import HecCollector
from tests.runtime.judging import findings
from tests.runtime.runagents.reading import disagreements
from tests.runtime.runagents.serving import Running, until
from tests.runtime.runagents.splunk import TOKEN as SPLUNK_TOKEN
from tests.runtime.runagents.splunk import Splunk

RUN = {"agent_id": "refund-agent", "user_id": "user_ines", "initial_message": "Refund order 1042"}
FOREIGN = {"agent_id": "foreign-agent", "user_id": "user_ines"}
APPROVER = {"approver_id": "user_marta"}
BLOCK = {"tool_id": "stripe", "capability": "POST /v1/refunds", "payload_hash": "a" * 64}


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """One server for all; in the end its capture is without fault, and both readings agree on it."""
    with Running(tmp_path_factory.mktemp("http")) as server:
        yield server
    assert findings(server.capture()) == []
    assert disagreements(server.capture()) == []


@pytest.fixture
def client(running):
    with running.client() as found:
        yield found


def begun(client, **more):
    answer = client.post("/runs", json={**RUN, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def blocked(client):
    """A run of somebody else's agent that waits for approval, and its action."""
    run_id = begun(client, **FOREIGN)
    answer = client.post(f"/runs/{run_id}/actions", json=BLOCK)
    assert answer.status_code == 201, answer.text
    return run_id, answer.json()


def test_an_approved_run_goes_on_by_itself(client):
    run_id = begun(client)
    action_id = until(client, run_id, "PAUSED_APPROVAL")["blocked_action_id"]
    pending = client.get("/approvals/requests", params={"status": "PENDING", "run_id": run_id}).json()
    assert [request["action_id"] for request in pending] == [action_id]
    action = client.post(f"/runs/{run_id}/actions/{action_id}/approve", json={**APPROVER, "reason": "Lost."}).json()
    assert action["status"] == "APPROVED"
    until(client, run_id, "COMPLETED")
    assert client.get(f"/runs/{run_id}/actions/{action_id}").json()["status"] == "EXECUTED"
    types = [event["type"] for event in client.get(f"/runs/{run_id}/events").json()]
    assert types[-6:] == [
        "RESUMED", "TOOL_CALLED", "TOOL_RESPONSE", "AGENT_MESSAGE", "INVOKE_COMPLETED", "COMPLETED",
    ]  # fmt: skip
    assert client.get(f"/runs/{run_id}/view").json()["status"] == "COMPLETED"
    assert client.get(f"/runs/{run_id}/actions/{action_id}/view").json()["payload_match"] is True


def test_a_rejection_by_its_request_ends_the_run(client):
    run_id, action = blocked(client)
    place = f"/approvals/requests/{action['request_id']}"
    assert client.get(place).json()["status"] == "PENDING"
    assert client.post(f"{place}/reject", json={**APPROVER, "reason": "No."}).json()["status"] == "REJECTED"
    assert client.get(f"/runs/{run_id}").json()["status"] == "FAILED"
    again = client.post(f"{place}/approve", json=APPROVER)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "already_decided")


@pytest.mark.parametrize(("completed", "status"), [(True, "PAUSED_APPROVAL"), (False, "FAILED")])
def test_consent_is_settled_apart_from_approval(client, completed, status):
    # Consent is kept for a user; each case has a user of its own.
    run_id = begun(client, agent_id="calendar-agent", user_id=f"user_{completed}")
    until(client, run_id, "PAUSED_CONSENT")
    assert client.get("/approvals/requests", params={"run_id": run_id}).json() == []
    assert client.post(f"/runs/{run_id}/consent", json={"completed": completed}).status_code == 200
    until(client, run_id, status)


def test_a_governed_call_is_answered_or_says_what_it_waits_for(client):
    run_id = begun(client, **FOREIGN)
    ask = {"tool_id": "shop", "capability": "GET /orders", "payload": {"order": 1}}
    answer = client.post(f"/runs/{run_id}/tool-calls", json=ask)
    assert (answer.status_code, answer.json()["status_code"]) == (200, 200)
    denied = client.post(f"/runs/{run_id}/tool-calls", json={**ask, "capability": "DELETE /orders"})
    assert (denied.status_code, denied.json()["error"]["code"]) == (403, "DENIED")
    waits = client.post(f"/runs/{run_id}/tool-calls", json={**ask, "tool_id": "stripe"})
    assert (waits.status_code, waits.json()["error"]["code"]) == (403, "APPROVAL_REQUIRED")
    assert client.get(f"/runs/{run_id}").json()["blocked_action_id"] == waits.json()["action_id"]


def test_a_changed_payload_is_refused_at_every_door(client, running):
    run_id, action = blocked(client)
    place = f"/runs/{run_id}/actions/{action['action_id']}"
    before = running.position()
    wrong = client.post(f"{place}/approve", json={**APPROVER, "payload_hash": "b" * 64})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (409, "payload_changed")
    assert running.position() == before
    client.post(f"{place}/approve", json={**APPROVER, "payload_hash": "sha256:" + "a" * 64})
    told = {"type": "TOOL_CALLED", "data": {"action_id": action["action_id"], "tool_id": "stripe"}}
    for _ in range(2000):
        refused = client.post(f"/runs/{run_id}/events", json={**told, "payload_hash": "b" * 64})
        if refused.json()["error"]["code"] != "not_again":
            break
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "payload_changed")
    assert client.post(f"/runs/{run_id}/events", json={**told, "payload_hash": "a" * 64}).status_code == 201
    twice = client.post(f"/runs/{run_id}/events", json={**told, "payload_hash": "a" * 64})
    assert (twice.status_code, twice.json()["error"]["code"]) == (409, "not_again")


def test_a_checkpoint_that_was_changed_is_not_taken_up(client):
    run_id = begun(client)
    action_id = until(client, run_id, "PAUSED_APPROVAL")["blocked_action_id"]
    changed = {"action_id": action_id, "payload": {"order": 1042, "amount": 9999}}
    assert client.post(f"/runs/{run_id}/checkpoint", json=changed).status_code == 200
    client.post(f"/runs/{run_id}/actions/{action_id}/approve", json=APPROVER)
    until(client, run_id, "FAILED")
    assert client.get(f"/runs/{run_id}/view").json()["reason"] == "payload_changed"
    assert client.get(f"/runs/{run_id}/actions/{action_id}").json()["status"] == "FAILED"


def test_the_same_key_takes_effect_once(client, running):
    headers = {"Idempotency-Key": "a-key"}
    first = client.post("/runs", json=FOREIGN, headers=headers)
    before = running.position()
    assert client.post("/runs", json=FOREIGN, headers=headers).json() == first.json()
    assert running.position() == before
    other = client.post("/runs", json={**FOREIGN, "user_id": "somebody"}, headers=headers)
    assert (other.status_code, other.json()["error"]["code"]) == (409, "key_reused")
    run_id, ask = first.json()["id"], {"tool_id": "shop", "capability": "GET /orders"}
    answers = [client.post(f"/runs/{run_id}/tool-calls", json=ask, headers=headers).json() for _ in range(2)]
    assert answers[0] == answers[1]
    calls = [event for event in client.get(f"/runs/{run_id}/events").json() if event["type"] == "TOOL_REQUEST"]
    assert len(calls) == 1


def test_runs_and_events_are_listed_and_read_on(client):
    ids = [begun(client, **FOREIGN, conversation_id="conv_list") for _ in range(3)]
    listed = client.get("/runs", params={"conversation_id": "conv_list"}).json()
    assert [run["id"] for run in listed] == ids
    behind = client.get("/runs", params={"conversation_id": "conv_list", "after": ids[0], "limit": "1"}).json()
    assert [run["id"] for run in behind] == [ids[1]]
    for word in ("one", "two"):
        client.post(f"/runs/{ids[0]}/events", json={"type": "AGENT_MESSAGE", "data": {"content": word}})
    rest = client.get(f"/runs/{ids[0]}/events", params={"after_seq": "1"}).json()
    assert [(event["seq"], event["data"]["content"]) for event in rest] == [(2, "one"), (3, "two")]
    assert len(client.get(f"/runs/{ids[0]}/events", params={"limit": "1"}).json()) == 1


@pytest.mark.parametrize(
    ("wanted", "status", "code"),
    [
        ({"status": "RUNNING"}, 409, "invalid_transition"),
        ({"status": "COMPLETED"}, 409, "invalid_transition"),
        ({"status": "PAUSED_CONSENT"}, 400, "invalid_request"),
        ({"status": "PAUSED_APPROVAL"}, 200, None),
    ],
)
def test_a_status_without_an_edge_is_refused(client, running, wanted, status, code):
    run_id, _ = blocked(client)
    before = running.position()
    answer = client.patch(f"/runs/{run_id}", json=wanted)
    assert answer.status_code == status
    assert answer.json().get("error", {}).get("code") == code
    assert running.position() == before


def test_the_export_has_three_forms_with_the_same_events(client):
    run_id = begun(client, agent_id="shop-agent")
    until(client, run_id, "COMPLETED")
    place, events = f"/runs/{run_id}/audit/export", client.get(f"/runs/{run_id}/events").json()
    assert client.get(place).json()["events"] == events
    lines = client.get(place, params={"format": "ndjson"})
    assert lines.headers["content-type"].startswith("application/x-ndjson")
    assert [json.loads(line) for line in lines.text.splitlines()][:-1] == events
    hec = client.get(place, params={"schema": "splunk_hec"}).text
    assert [json.loads(line)["event"] for line in hec.splitlines()] == events
    assert findings(hec, "complete") == findings(lines.text, "complete") == []
    assert client.get(place, params={"format": "json", "schema": "splunk_hec"}).text == hec


def told(client, run_id, **body):
    return client.post(f"/runs/{run_id}/events", json=body)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"type": "APPROVED", "data": {"action_id": "a"}}, 409, "not_yours_to_tell"),
        ({"type": "LLM_CALL"}, 409, "other_vocabulary"),
        ({"type": "TOOL_REQUEST", "data": {"tool_id": "x", "arguments": {}}}, 400, "raw_payload"),
        ({"type": "AGENT_MESSAGE", "data": {"deep": [{"Authorization": "x"}]}}, 400, "raw_payload"),
        ({"type": "TOOL_REQUEST"}, 400, "tool_missing"),
        ({"type": "TOOL_RESPONSE", "data": {"tool_id": "x", "status_code": "200"}}, 400, "invalid_request"),
        ({"type": "TOOL_CALLED", "data": {"tool_id": "x", "action_id": "nobody"}}, 404, "unknown_blocked_action"),
        ({"type": "AGENT_MESSAGE", "seq": 7}, 400, "invalid_request"),
        ({}, 400, "invalid_request"),
    ],
)
def test_an_event_that_is_not_the_agents_to_tell_is_refused(client, running, body, status, code):
    run_id = begun(client, **FOREIGN)
    before = running.position()
    answer = told(client, run_id, **body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert running.position() == before


def test_nothing_is_told_after_the_end_and_no_work_during_a_pause(client):
    run_id, _ = blocked(client)
    work = {"type": "TOOL_REQUEST", "data": {"tool_id": "stripe"}}
    assert told(client, run_id, **work).json()["error"]["code"] == "run_waits"
    assert told(client, run_id, type="FAILED").status_code == 201
    assert told(client, run_id, type="FAILED").json()["error"]["code"] == "run_over"
    assert client.get(f"/runs/{run_id}/actions").json()[0]["status"] == "FAILED"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/runs/nobody"),
        ("GET", "/runs/nobody/events"),
        ("GET", "/runs/nobody/view"),
        ("GET", "/runs/nobody/audit/export"),
        ("GET", "/approvals/requests/nobody"),
        ("GET", "/runs?after=nobody"),
        ("GET", "/nowhere"),
        ("GET", "/runs/nobody/actions/%2e%2e%2f%2e%2e"),
    ],
)
def test_what_is_not_there_is_said_not_to_be_there(client, method, path):
    assert client.request(method, path).status_code in {400, 404}


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"{", {"content-type": "application/json"}, 400),
        (b"[]", {"content-type": "application/json"}, 400),
        (b'{"agent_id":"a","user_id":"u","x":NaN}', {"content-type": "application/json"}, 400),
        (b"agent_id=a", {"content-type": "text/plain"}, 415),
        (b"x" * (2 << 20), {"content-type": "application/json"}, 413),
        (b"{}", {"content-type": "application/json", "authorization": "Bearer wrong"}, 401),
        (b'{"agent_id":"a","user_id":"u"}', {"content-type": "application/json", "idempotency-key": ""}, 400),
    ],
)
def test_a_request_that_is_none_changes_nothing(client, running, content, headers, status):
    before = running.position()
    answer = client.post("/runs", content=content, headers=headers)
    assert (answer.status_code, answer.json()["outcome"]) == (status, "rejected")
    assert running.position() == before


def test_without_a_token_nothing_is_shown(running):
    answer = httpx.get(f"{running.address}/runs")
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "token_missing")


def test_what_happens_is_forwarded_while_it_happens(tmp_path):
    with Splunk("busy", "hang up", "index, then hang up", "wrong token") as splunk:
        places = {"siem": HecCollector(splunk.url, SPLUNK_TOKEN)}
        with Running(tmp_path, destinations=places) as server, server.client() as client:
            run_id = begun(client, agent_id="shop-agent")
            until(client, run_id, "COMPLETED")
            events, place = client.get(f"/runs/{run_id}/events").json(), f"/runs/{run_id}/audit/forward"
            while client.post(place, json={"destination_id": "siem"}).json()["unconfirmed"]:
                pass
            assert client.post(place, json={"destination_id": "nobody"}).status_code == 404
        assert splunk.events() == events
