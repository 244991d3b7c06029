"""How far a replay may be trusted."""

from __future__ import annotations

from typing import Any

from validator.replay.readmodels.agent_runtime.records import as_record
from validator.replay.step import Step


class Freshness:
    """Gaps, repairs and reconstructions of a session's stream."""

    def __init__(self, world: Any):
        self._world = world
        self._ids: dict[str, str] = {}
        self._repaired_at = -1
        self._degraded: str | None = None

    def learn(self, step: Step) -> None:
        """Notes what makes a replay less than current, and what ends a gap."""
        payload, self._ids = as_record(step.line.get("payload")), step.scope or self._ids
        if self._is_marker(step, payload):
            if self._open_since() is not None:
                self._degraded = self._degraded or "events are missing, and a repair covers them"
            self._repaired_at = step.number
            if payload.get("stale_facts") or payload.get("unavailable_facts"):
                self._degraded = self._degraded or "a repair named facts that are stale or unavailable"
        elif step.type == "history.reconstructed" and payload.get("degraded") is True:
            self._degraded = self._degraded or "the history was rebuilt in part"

    def _is_marker(self, step: Step, payload: dict[str, Any]) -> bool:
        words = self._world.protocol.order["repair"]
        return step.type in words and (step.type == words[0] or payload.get("recovery_mode") is not None)

    def _open_since(self) -> int | None:
        since = self._world.lost(self._ids)
        return since if since is not None and since > self._repaired_at else None

    def shown(self) -> dict[str, str]:
        """The freshness of every model, with its reason."""
        if self._open_since() is not None:
            return {"freshness": "stale", "freshness_reason": "events are missing and nothing has repaired that"}
        reason = self._degraded
        if reason is None and self._world.midway(self._ids):
            reason = "the capture began in the middle of the stream"
        return {"freshness": "degraded", "freshness_reason": reason} if reason else {"freshness": "current"}
