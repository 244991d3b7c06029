"""What whoever runs the platform decides about it."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from reference_runtime.errors import CommandRejected
from reference_runtime.lifecycles.runagents.collector import Collector
from reference_runtime.lifecycles.runagents.policy import Policy

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


@dataclass(frozen=True, slots=True)
class Settings:
    """Fixed for the life of a platform."""

    policy: Policy = field(default_factory=Policy)
    agents: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Scripted agents by name; a run of any other agent is driven from outside."""
    vocabulary: str = "api"
    approval_window: str = "24h"
    """How long a blocked action waits for its decision."""
    destinations: dict[str, Collector] = field(default_factory=dict)
    """Where audit events are forwarded to, by name."""
    new_id: Callable[[], str] = lambda: str(uuid.uuid4())
    host: str = "reference-runtime"


def span(duration: str) -> timedelta:
    """A duration such as `4h` or `30m`."""
    found = re.fullmatch(r"([0-9]{1,4})([smhd])", duration)
    if found is None:
        raise CommandRejected("bad_duration", "A duration is a number and s, m, h or d.", category="invalid_request")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})
