"""The gate table: a policy may be stricter everywhere, and laxer only where the table says so."""

import pytest

from reference_runtime.contract import Contract
from reference_runtime.lifecycles.agenthub.folder import covered, inside
from reference_runtime.lifecycles.agenthub.gates import HARMLESS, TOOLS, gate_for, tool_gate

HUB = Contract("agenthub/1").protocol
ASKED = ("file_write", "patch_apply", "shell", "network", "commit", "push", "publish", "deploy")


def met(tool, policy=None, admitted=True, owned_secret=False):
    return tool_gate(HUB, tool, policy or {}, admitted=admitted, owned_secret=owned_secret).verdict


@pytest.mark.parametrize("kind", ASKED)
def test_what_acts_is_asked_about(kind):
    assert gate_for(HUB, kind, {}).verdict == "ask"
    assert gate_for(HUB, kind, {kind: "deny"}).verdict == "deny"


@pytest.mark.parametrize("kind", ASKED)
def test_only_the_network_can_be_allowed_by_policy(kind):
    assert gate_for(HUB, kind, {kind: "allow"}).verdict == ("allow" if kind == "network" else "ask")


def test_every_action_of_the_table_has_a_tool_or_is_a_patch():
    actions = {kind for row in HUB.tables["gates"]["rows"] for kind in row["values"]["actions"]}
    assert set(TOOLS.values()) | {"patch_apply"} == actions


def test_a_read_is_allowed_inside_and_denied_outside():
    assert met("read_file") == "allow"
    assert met("read_file", admitted=False) == "deny"
    assert met("write_file", admitted=False) == "deny"


@pytest.mark.parametrize("tool", ["read_file", "get_secret"])
def test_what_is_allowed_or_denied_outright_is_never_asked(tool):
    kind = TOOLS[tool]
    assert met(tool, {kind: "ask"}, owned_secret=True) == "deny"


def test_a_secret_is_denied_unless_a_flow_of_the_product_owns_it():
    assert met("get_secret") == "deny"
    assert met("get_secret", {"secret_access": "allow"}) == "deny"
    assert met("get_secret", owned_secret=True) == "allow"
    assert met("get_secret", {"secret_access": "deny"}, owned_secret=True) == "deny"


def test_a_tool_that_nobody_knows_is_denied():
    assert met("summon") == "deny"
    assert {met(tool) for tool in HARMLESS} == {"allow"}


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../x", "docs/../../x", "~/x", "C:/x", "docs\\x", "docs/%2e%2e/x", "docs/\0", "", None, 7, "src/x"],
)
def test_a_path_that_is_not_plainly_inside_is_not_covered(path):
    assert not covered(path, ("docs",))


def test_a_path_below_an_entry_is_covered():
    assert covered("docs/a/b.md", ("docs/a",))
    assert covered("docs/./a.md", ("docs",))
    assert covered("anything", (".",))
    assert not covered("docs2/a.md", ("docs",))
    assert inside("src/x")
