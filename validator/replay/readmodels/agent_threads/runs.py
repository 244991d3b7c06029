"""Runs as both planes show them: their records, and their streams reduced to messages.

Memory grows with what is open. Of a record only the facts that are asked for are kept, and of a stream whose run ended
long ago only digests (`reducer.Closed`).
"""

from __future__ import annotations

import sys
from array import array

from validator.capture.encode import unpack
from validator.records import dataclass
from validator.replay import world as worlds
from validator.replay.readmodels.agent_threads.conversations import KEPT, Conversation, Conversations
from validator.replay.readmodels.agent_threads.places import Places
from validator.replay.readmodels.agent_threads.reducer import Closed, Reducer
from validator.replay.readmodels.words import word
from validator.replay.step import Step, Stretch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ABSENT = object()
_NO_ROWS: dict[str, Any] = {"rows": ()}


def unknown(reason: str) -> dict[str, str]:
    """The honest value for what the capture does not tell."""
    return {"honest": "unknown", "reason": reason}


class RunRecord:
    """What a run record says, as far as anybody asks."""

    __slots__ = ("createdAt", "finishedAt", "forkFromMessageId", "messageCount", "status", "streamId", "threadId")

    def __init__(self, line: dict[str, Any], before: RunRecord | None = None):
        """What is as in the record before is the same string."""
        for name in self.__slots__:
            value = line.get(name, _ABSENT)
            if isinstance(value, str) and name in _REPEATED:
                value = sys.intern(value)
            elif before is not None and value == getattr(before, name):
                value = getattr(before, name)
            setattr(self, name, value)

    def get(self, name: str) -> Any:
        """A field, or None."""
        value = getattr(self, name)
        return None if value is _ABSENT else value

    __getitem__ = get

    def word(self, name: str) -> str | None:
        """A field that is text, or None."""
        value = self.get(name)
        return value if isinstance(value, str) else None

    def number(self, name: str) -> int | None:
        """A field that is a whole number, or None."""
        value = self.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def __contains__(self, name: str) -> bool:
        return getattr(self, name) is not _ABSENT


Told = tuple[RunRecord, int]
"""A record and its line."""
_REPEATED = frozenset({"forkFromMessageId", "status", "streamId", "threadId"})
"""Fields that have the same value in many records."""


@dataclass(slots=True)
class _Run:
    """What became of one run besides what its records say."""

    committed_at: Any = None
    """finishedAt of the record that showed the run committed."""
    superseded_by: str | None = None
    idle: bool = False
    """It was seen created and never at work since, so its stream is empty."""


class Runs:
    """Builds `run_view` for the runs of a capture; in another protocol it hears nothing."""

    hears = (
        *("step-*", "text-delta", "reasoning", "tool-call", "tool-result", "file", "error", "user-message"),
        *("unlisted", "record:run"),
    )

    def __init__(self, world: Any):
        self._world = world
        self._kinds = {row["id"]: row["values"] for row in world.protocol.tables.get("kinds", _NO_ROWS)["rows"]}
        self._runs: dict[str, _Run] = {}
        self._kept: dict[str, None] = {}
        self.first: dict[str, Told] = {}
        self.last: dict[str, Told] = {}
        self.before: dict[str, Told] = {}
        """The record of the run at hand before the present one."""
        self.committed: dict[str, Told] = {}
        """The first record that showed a run committed."""
        self.superseded: set[str] = set()
        """Runs of which a record said superseded."""
        self._threads: dict[str, list[str]] = {}
        """Runs of which a record named a thread; they may have left it."""
        self._places: Places | None = None
        self._conversations = Conversations()
        self._swept = 0
        self.streams: dict[str, Reducer | Closed] = {}
        self._growing: dict[str, Reducer] = {}
        """Those of which everything is kept."""
        self.lines: dict[str, array[int]] = {}
        """The lines of each stream's events."""

    def apply(self, step: Step) -> None:
        """Learns from one step."""
        if step.kind == "event":
            self._event(step)
        elif step.kind == "run":
            self._record(step)

    def echo(self, told: list[Stretch]) -> None:
        """Learns from events that repeat others."""
        for stretch in told:
            stream = stretch.like.place.stream
            for number, line in enumerate(stretch.lines, stretch.number):
                self._append(stream, unpack(line), number)

    def _event(self, step: Step) -> None:
        stream = step.line.get("streamId")
        if isinstance(stream, str):
            self._append(stream, step.line, step.number)

    def _append(self, stream: str, event: dict[str, Any], number: int) -> None:
        if number - self._swept >= worlds.RECENT:
            self._sweep(number)
        if stream not in self.streams:
            self.streams[stream] = self._growing[stream] = Reducer(self._kinds)
            self.lines[stream] = array("I")
        self.streams[stream].apply(event)
        self.lines[stream].append(number)
        if self._conversations.known:
            self._conversations.hear(stream.removeprefix("run:"))

    def _sweep(self, number: int) -> None:
        """Keeps digests of the streams that are over and were not heard of lately."""
        old, self._swept = number - worlds.RECENT, number
        machine = self._world.protocol.machines["run"]
        self._conversations.forget(old)
        for stream in [stream for stream in self._growing if self.lines[stream][-1] < old]:
            run = stream.removeprefix("run:")
            state = self._world.state("run", run)
            if state and machine.is_terminal(state):
                self.streams[stream] = self._growing.pop(stream).closed()
                self._conversations.hear(run)

    def runs(self) -> list[str]:
        """Every run that a record or an event speaks about."""
        seen = {stream.removeprefix("run:"): None for stream in self.streams if stream.startswith("run:")}
        return list({**dict.fromkeys(self._runs), **seen})

    def threads(self) -> list[str]:
        """Every thread that a record names."""
        return list(dict.fromkeys(record["threadId"] for record, _ in self.last.values()))

    def reducer(self, run: str) -> Reducer | Closed | None:
        """The reduced stream of a run, or None when no event of it was seen."""
        return self.streams.get(f"run:{run}")

    def record(self, run: str) -> RunRecord | None:
        """The last record of a run."""
        return self.last[run][0] if run in self.last else None

    def of_thread(self, thread: Any) -> list[str]:
        """The runs whose last record names a thread, in the order of their first records."""
        runs = dict.fromkeys(self._threads.get(thread, ())) if isinstance(thread, str) else ()
        found = sorted([run for run in runs if self.last[run][0]["threadId"] == thread], key=self._began)
        if runs:
            self._threads[thread] = found
        return list(found)

    def conversation(self, thread: Any) -> Conversation:
        """What the runs of a thread say together."""
        if not isinstance(thread, str):
            return Conversation()
        kept = self._conversations
        kept.asked[thread] = self._world.last_line
        if thread not in kept.known:
            kept.known[thread] = Conversation()
            kept.stale.update(self.of_thread(thread))
        for run in kept.stale:
            kept.settle(run, self.last[run][0], self._world.state("run", run), self.reducer(run), self._began(run))
        kept.stale.clear()
        return kept.known[thread]

    @property
    def places(self) -> Places:
        """Where every run stands."""
        if self._places is None:
            self._places = Places()
            for run in self.last:
                self._enter(self._places, run)
        return self._places

    def _enter(self, places: Places, key: str) -> None:
        record, run = self.last[key][0], self._runs[key]
        thread, fork = record.get("threadId"), record.get("forkFromMessageId")
        places.enter(key, thread, fork, run.committed_at, record.get("status") in KEPT)

    def _began(self, key: str) -> int:
        return self.first[key][1]

    def run_view(self, key: str) -> dict[str, Any]:
        """A run as both planes show it."""
        run, reducer = self._runs.get(key), self.reducer(key)
        absent = unknown("No record of the run was captured.")
        view: dict[str, Any] = {"runId": key, "streamId": f"run:{key}"}
        if run is None:
            names = ("threadId", "forkFromMessageId", "createdAt", "finishedAt", "messageCount", "supersededBy")
            view |= {"status": "unknown", **dict.fromkeys(names, absent)}
        else:
            subject, record = self._world.subjects("run").get(key), self.last[key][0]
            view |= {name: record.get(name) for name in ("threadId", "forkFromMessageId", "createdAt")}
            view["status"] = "stale" if subject and subject.doubted else subject.state if subject else "unknown"
            view |= self._end(key, run, view["status"])
        silent = None if run and run.idle else unknown("The capture holds no events of the stream.")
        view["lastSeq"] = reducer.last if reducer else silent or 0
        view["pendingToolCallIds"] = list(reducer.pending) if reducer else silent or []
        return view

    def _record(self, step: Step) -> None:
        key, status = word(step.line, "runId"), word(step.line, "status")
        if key is None or word(step.line, "threadId") is None:
            return
        self._keep(key, status, step)
        record, run = self.last[key][0], self._runs.setdefault(key, _Run(idle=status == "created"))
        run.idle = run.idle and status not in {"streaming", *KEPT}
        if status in KEPT:
            self._kept.setdefault(key)
        if status == "committed":
            run.committed_at = run.committed_at or record.get("finishedAt")
        if self._places is not None:
            self._enter(self._places, key)
        self._conversations.hear(key, word(step.line, "threadId"))
        for move in step.moves:
            other = self._runs.get(move.subject) if move.machine == "run" and move.subject != key else None
            if other is not None and move.target == "superseded" != move.source:
                other.superseded_by = key
                self._conversations.hear(move.subject)

    def _keep(self, key: str, status: str | None, step: Step) -> None:
        before = self.last.get(key)
        self.before = {key: before} if before else {}
        self.last[key] = told = RunRecord(step.line, before[0] if before else None), step.number
        self.first.setdefault(key, told)
        if before is None or before[0]["threadId"] != told[0]["threadId"]:
            self._threads.setdefault(told[0]["threadId"], []).append(key)
        if status == "committed":
            self.committed.setdefault(key, told)
        elif status == "superseded":
            self.superseded.add(key)

    def _end(self, key: str, run: _Run, status: str) -> dict[str, Any]:
        record = self.last[key][0]
        finished, successor = record.get("finishedAt"), None
        if status == "superseded":
            successor = run.superseded_by or self.places.successor(key, record.get("finishedAt"))
            if record.get("status") != "superseded" and successor in self._runs:
                finished = self._runs[successor].committed_at
            successor = successor or unknown("The run that superseded it was not seen.")
        return {"finishedAt": finished, "messageCount": record.get("messageCount"), "supersededBy": successor}
