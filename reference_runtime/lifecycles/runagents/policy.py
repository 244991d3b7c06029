"""What may be called: tools that are registered, rules over them, and the call that is asked about.

Deny wins over approval_required, that over allow, and what nobody allowed is denied.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

EFFECTS = ("deny", "approval_required", "allow")
"""From the strongest to the weakest."""


@dataclass(frozen=True, slots=True)
class Call:
    """One governed call, as an agent asks for it."""

    tool_id: str
    capability: str
    payload: Any = None
    tool_url: str | None = None

    @property
    def tool_method(self) -> str:
        return self.capability.partition(" ")[0]

    @property
    def payload_hash(self) -> str:
        return digest(self.payload)

    def details(self) -> dict[str, Any]:
        """What an event may tell of the call; never its payload (RA-130)."""
        said = {"tool_id": self.tool_id, "tool_method": self.tool_method, "tool_url": self.tool_url}
        return {name: value for name, value in said.items() if value is not None} | {"capability": self.capability}

    def kept(self) -> dict[str, Any]:
        """The call as a checkpoint keeps it, beside the log and never in it."""
        return {name: getattr(self, name) for name in ("tool_id", "capability", "payload", "tool_url")}


def digest(payload: Any) -> str:
    """The hash that stands for a payload in events and records (RA-85)."""
    body = json.dumps(payload, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(body.encode()).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answered: a status, and a safe sentence where it failed."""

    status_code: int
    error: str | None = None

    @property
    def failed(self) -> bool:
        return self.status_code >= 400


@dataclass(frozen=True, slots=True)
class Tool:
    """A registered tool, and the door to it."""

    tool_id: str
    perform: Callable[[Call], Answer] = lambda call: Answer(200)
    authorization_url: str | None = None
    """Where a user gives consent; None for a tool that acts for nobody."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a policy; an asterisk covers everything."""

    effect: str
    tool_id: str = "*"
    capability: str = "*"
    agent_id: str = "*"

    def covers(self, agent_id: str, call: Call) -> bool:
        asked = ((self.agent_id, agent_id), (self.tool_id, call.tool_id), (self.capability, call.capability))
        return all(wanted in ("*", given) for wanted, given in asked)


@dataclass(frozen=True, slots=True)
class Policy:
    """The tools and the rules over them."""

    tools: tuple[Tool, ...] = ()
    rules: tuple[Rule, ...] = ()

    def tool(self, tool_id: str) -> Tool | None:
        return next((tool for tool in self.tools if tool.tool_id == tool_id), None)

    def effect(self, agent_id: str, call: Call) -> str:
        """The strongest effect of the rules that cover a call; a tool that nobody registered is denied."""
        if self.tool(call.tool_id) is None:
            return "deny"
        effects = [rule.effect for rule in self.rules if rule.covers(agent_id, call)]
        return min(effects, key=EFFECTS.index, default="deny")
