"""Settings from a file: what it may say, and what is wrong with what it may not."""

import pytest

from reference_runtime.lifecycles.runagents.configuring import configured
from reference_runtime.lifecycles.runagents.policy import Call

GOOD = """
tools:
  - {tool_id: stripe}
  - {tool_id: bank, status_code: 502}
  - {tool_id: calendar, authorization_url: "https://accounts.example/consent"}
rules:
  - {effect: allow, tool_id: stripe}
  - {effect: approval_required, tool_id: stripe, capability: POST /v1/refunds}
agents:
  refund-agent: [{call: {tool_id: stripe, capability: POST /v1/refunds}}, {say: Done.}]
destinations:
  siem: {url: "http://127.0.0.1:8088", token_env: SIEM}
vocabulary: operations
"""


def read(tmp_path, text, **environment):
    path = tmp_path / "settings.yaml"
    path.write_text(text)
    return configured(path, environment)


def test_a_file_says_everything_but_the_token(tmp_path):
    settings = read(tmp_path, GOOD, SIEM="a-token")
    effect = settings.policy.effect
    assert effect("a", Call("stripe", "POST /v1/refunds")) == "approval_required"
    assert effect("a", Call("stripe", "GET /v1/refunds")) == "allow"
    assert effect("a", Call("bank", "GET /")) == effect("a", Call("nobody", "GET /")) == "deny"
    assert settings.policy.tool("bank").perform(Call("bank", "GET /")).failed
    assert (settings.vocabulary, settings.destinations["siem"].token) == ("operations", "a-token")
    assert "a-token" not in repr(settings)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("rules: [{effect: maybe}]", "effect"),
        ("rules: [{effect: allow, toll_id: x}]", "shape"),
        ("tools: [{name: x}]", "shape"),
        ("agents: {a: [{dance: x}]}", "step"),
        ("agents: {a: [{call: {tool: x}}]}", "shape"),
        ("destinations: {siem: {url: x, token_env: NOBODY}}", "environment"),
    ],
)
def test_a_file_that_is_wrong_is_said_to_be_wrong(tmp_path, text, why):
    with pytest.raises(ValueError, match=why):
        read(tmp_path, text)


def test_an_empty_file_allows_nothing(tmp_path):
    assert read(tmp_path, "").policy.effect("a", Call("stripe", "GET /")) == "deny"
