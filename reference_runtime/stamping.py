"""Clock and stamps: the only source of time in the runtime."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, Protocol

from reference_runtime.contract import CORE

IDS = (
    *("session_id", "thread_id", "turn_id", "task_id", "parent_task_id", "root_task_id", "run_id", "step_id"),
    *("model_request_id", "tool_call_id", "action_id", "process_id", "hook_run_id", "subagent_id", "artifact_id"),
    *(
        "evidence_id",
        "channel_id",
        "peer_task_id",
        "job_id",
        "job_item_id",
        "queue_id",
        "output_ref",
        "trace_id",
        "span_id",
    ),
)
"""The ids of an envelope, in the order in which they are written."""


_WORDS = {"reason", "source", "objective", "owner", "assignee"}
"""Fields that repeat what a caller said in its own words."""
_UNSAID = {"honest": "unknown", "reason": "The caller left it empty."}


@dataclass(slots=True)  # made for every event, and a frozen one takes several times as long to make
class Draft:
    """An event that was decided and not yet stamped."""

    type: str
    ids: dict[str, Any]
    payload: dict[str, Any] = field(default_factory=dict)
    beside: dict[str, Any] = field(default_factory=dict)
    """Side objects, such as `execution_environment`."""


class Clock(Protocol):
    def now(self) -> datetime:
        """The present moment; it never runs backwards."""


class VirtualClock:
    """Time that passes only when somebody says so, a tick with every look."""

    def __init__(self, start: datetime = datetime(2026, 5, 8, 9, tzinfo=UTC), tick_ms: int = 10):
        self._now, self._tick = start, timedelta(milliseconds=tick_ms)

    def now(self) -> datetime:
        self._now += self._tick
        return self._now

    def advance(self, milliseconds: float) -> None:
        self._now += timedelta(milliseconds=milliseconds)

    def not_before(self, moment: datetime) -> None:
        self._now = max(self._now, moment)


class SystemClock:
    """The machine's clock, kept from running backwards when it is set."""

    def __init__(self) -> None:
        self._last = datetime.min.replace(tzinfo=UTC)

    def now(self) -> datetime:
        self._last = max(self._last, datetime.now(UTC))
        return self._last

    def advance(self, milliseconds: float) -> None:
        """Real time passes by itself."""

    def not_before(self, moment: datetime) -> None:
        self._last = max(self._last, moment)


def written(moment: datetime) -> str:
    """An instant as events carry it."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    # Written for every event, and to format the numbers takes three times as long as to look them up.
    time = f"{_TWO[moment.hour]}:{_TWO[moment.minute]}:{_TWO[moment.second]}.{_THREE[moment.microsecond // 1000]}Z"
    return _day(moment.toordinal()) + time


_TWO = tuple([f"{number:02d}" for number in range(60)])
_THREE = tuple([f"{number:03d}" for number in range(1000)])


@functools.lru_cache(maxsize=64)
def _day(ordinal: int) -> str:
    return date.fromordinal(ordinal).isoformat() + "T"


def read(moment: str) -> datetime:
    """The instant that an event carries."""
    return datetime.fromisoformat(moment.replace("Z", "+00:00"))


def stamped(draft: Draft, *, number: int, sequence: int, moment: datetime, runtime_id: str) -> dict[str, Any]:
    """An event: the draft with its id, its time and its place in the stream."""
    event = {
        "type": draft.type,
        "event_id": f"evt_{number:06d}",
        "timestamp": written(moment),
        "sequence": sequence,
        "schema_version": CORE.version,
        "runtime_id": runtime_id,
    }
    ids = draft.ids
    for name in _in_order(tuple(ids)):
        if (value := ids[name]) is not None:
            event[name] = value
    if draft.beside:
        event.update(draft.beside)
    said = {name: value for name, value in draft.payload.items() if value is not None}
    if not _WORDS.isdisjoint(said):
        for name in _WORDS & said.keys():
            said[name] = _said(said[name])
    event["payload"] = said
    return event


@functools.lru_cache(maxsize=1024)
def _in_order(names: tuple[str, ...]) -> tuple[str, ...]:
    """The ids among some names, in the order in which they are written; the same few come again and again."""
    return tuple(name for name in IDS if name in names)


def _said(value: Any) -> Any:
    """A caller's empty word says nothing, and is told as such (HON-1)."""
    return dict(_UNSAID) if isinstance(value, str) and not value.strip() else value
