"""The Edges that a Hub knows: where runs are attempted, in which workspaces, by which adapters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reference_runtime.lifecycles.agenthub.folder import Folder


@dataclass(slots=True)
class Adapter:
    """A Runtime Adapter and the runtime behind it."""

    name: str
    version: str = "2.4.1"
    trouble: str | None = None
    """Why the runtime cannot be used: cli_missing, not_logged_in, adapter_unreachable, incompatible."""


@dataclass(slots=True)
class Edge:
    """The process near the workspaces; what it can do decides how far a run gets."""

    id: str
    name: str
    location: str = "local"
    online: bool = True
    workspaces: dict[str, Folder] = field(default_factory=dict)
    allowlist: tuple[str, ...] = ("docs", "scripts")
    adapters: dict[str, Adapter] = field(default_factory=dict)
    credentials_apart: bool = True
    """The runtime gets the credentials it is meant to have, and no others."""
    flows: frozenset[str] = frozenset()
    """Secrets that a server-side flow of the product owns."""

    def told(self) -> dict[str, str]:
        return {"id": self.id, "name": self.name, "location": self.location}

    def actor(self) -> dict[str, str]:
        """The Edge as one that acts in its own name."""
        return {"id": self.id, "kind": "edge", "displayName": self.name}


@dataclass(frozen=True, slots=True)
class Wish:
    """Where and under which rules a run is to be executed."""

    edge: str
    adapter: str
    model: str = "model-large"
    access: str = "read_write"
    gates: dict[str, str] = field(default_factory=dict)
    timeout_ms: int = 600_000
    answer_ms: int = 300_000
    """How long a reviewer has."""

    def told(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class Habits:
    """What the protocol leaves to a producer."""

    silent: frozenset[str] = frozenset()
    """Phases before the start that are passed without an event: planned, accepted, preparing."""
    rejection: str = "cancelled"
    """What follows a rejection: `cancelled`, `failed` (the code table's word for it), or `nothing`."""
