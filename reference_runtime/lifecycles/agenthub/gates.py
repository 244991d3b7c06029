"""The gates: what happens to an action, by the contract's table and the approval policy of the run.

A policy may be stricter than the table everywhere; it is laxer only where the table says `unless`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from validator.protocol.protocol import Protocol

TOOLS = {
    "read_file": "file_read",
    "write_file": "file_write",
    "shell": "shell",
    "fetch_url": "network",
    "git_commit": "commit",
    "git_push": "push",
    "publish": "publish",
    "deploy": "deploy",
    "get_secret": "secret_access",
}
"""The action that each tool of an Edge performs; a patch is proposed and not called."""
HARMLESS = frozenset({"search_index", "list_routes", "check_links"})
"""Tools that only look at what the run has been shown already."""
_STRICTNESS = ("allow", "ask", "deny")


@dataclass(frozen=True, slots=True)
class Gate:
    """What becomes of an action, and why."""

    id: str
    verdict: str
    text: str
    """The table's own words for the gate."""

    @property
    def asks(self) -> bool:
        return self.verdict == "ask"


UNKNOWN = Gate("unknown_tool", "deny", "The Edge does not know this tool")
FREE = Gate("no_gate", "allow", "The tool performs no gated action")
OUTSIDE = Gate("outside_workspace", "deny", "The path is outside the allowlisted workspace")


def tool_gate(protocol: Protocol, tool: str, policy: dict[str, str], *, admitted: bool, owned_secret: bool) -> Gate:
    """The gate that a call of a tool meets.

    `admitted` tells whether a path lies in the allowlisted workspace, `owned_secret` whether a server-side flow of the
    product owns the secret that is asked for.
    """
    kind = TOOLS.get(tool)
    if kind is None:
        return FREE if tool in HARMLESS else UNKNOWN
    if not admitted and kind != "file_read":
        return OUTSIDE
    return gate_for(protocol, kind, policy, admitted=admitted, owned_secret=owned_secret)


def gate_for(
    protocol: Protocol, kind: str, policy: dict[str, str], *, admitted: bool = True, owned_secret: bool = False
) -> Gate:
    """The gate that an action meets."""
    row = _row(protocol, kind, admitted)
    verdict = _verdict(row["values"], policy.get(kind), owned_secret)
    return Gate(row["id"], verdict, row["text"]["en"]["gate"])


def effect_of(protocol: Protocol, kind: str) -> str:
    """Whether allowing an action changes anything: `review` or `apply`."""
    return _row(protocol, kind, admitted=True)["values"]["effect"]


def _row(protocol: Protocol, kind: str, admitted: bool) -> dict[str, Any]:
    scope = "inside_workspace" if admitted else "outside_workspace"
    for row in protocol.tables["gates"]["rows"]:
        if kind in row["values"]["actions"] and row["values"].get("scope", scope) == scope:
            return row
    raise AssertionError(f"no gate for {kind}")


def _verdict(values: dict[str, Any], named: str | None, owned_secret: bool) -> str:
    unless = values.get("unless")
    if unless == "policy_allows":
        return named or values["gate"]
    default = "allow" if unless == "server_side_flow" and owned_secret else values["gate"]
    verdict = max(default, named or default, key=_STRICTNESS.index)
    # What the table allows or denies outright is never put to a reviewer (AH-87).
    return "deny" if verdict == "ask" and values["gate"] != "ask" else verdict
