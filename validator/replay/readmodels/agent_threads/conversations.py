"""What the runs of a thread say together, so that a snapshot of it costs what it shows.

Kept of a thread once somebody has asked about it, and let go of when nobody does any more.
"""

from __future__ import annotations

from collections.abc import Hashable
from heapq import heappop, heappush

from validator.records import dataclass
from validator.replay.readmodels.agent_threads.reducer import Closed, Reducer, Said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from validator.replay.readmodels.agent_threads.runs import RunRecord

KEPT = ("committed", "superseded")
"""Statuses of runs whose messages are part of their thread."""
Counts = dict[Hashable, int]


class Sayers:
    """Runs by a rank, for the question which is the first of them."""

    def __init__(self) -> None:
        self._times: dict[str, int] = {}
        self._ranked: list[tuple[int, str]] = []
        """Those that have left are passed over when they would be the first."""

    def enter(self, run: str, rank: int) -> None:
        """Takes in a run; one that enters twice has to leave twice."""
        if run not in self._times:
            heappush(self._ranked, (rank, run))
        self._times[run] = self._times.get(run, 0) + 1

    def leave(self, run: str) -> None:
        """Lets go of a run."""
        _count(self._times, run, -1)

    def first(self) -> str | None:
        """The run of the lowest rank, if there is any."""
        while self._ranked and self._ranked[0][1] not in self._times:
            heappop(self._ranked)
        return self._ranked[0][1] if self._ranked else None


@dataclass(slots=True)
class _Part:
    """What one run has added to its thread."""

    began: int
    record: RunRecord | None = None
    state: str | None = None
    stream: Reducer | Closed | None = None
    """The stream whose messages were added; None while that is not held as a whole."""
    is_kept: bool = False
    done: int = 0
    """How many of its messages were added that cannot change."""
    open: Said | None = None
    """The one after them."""
    first: int | None = None
    last: int | None = None
    """The contents of the first and of the last message that cannot change."""


class Conversation:
    """The runs of one thread, and what they say together."""

    def __init__(self) -> None:
        self.runs: dict[str, _Part] = {}
        self.kept = 0
        """How many of the runs are part of the thread."""
        self.counted = 0
        """The messages that the records of these count."""
        self.counting: set[str] = set()
        """Those whose records count any, or do not tell."""
        self.silent = 0
        """Those whose streams are not held as a whole; what follows tells of the others."""
        self.total = 0
        self.often: Counts = {}
        """Contents to how often they were said."""
        self.left: Counts = {}
        """Content, place and digest of what a stream left with a message."""
        self.pairs: Counts = {}
        """Contents that follow one another."""
        self.last: Counts = {}
        """Contents that end what a run said."""
        self.forks: Counts = {}
        """Where the runs branch off, those included that are no part of the thread."""
        self._unsaid: dict[int, Sayers] = {}
        self._answers: dict[str, Sayers] = {}

    def unsaid(self, content: int) -> str | None:
        """The first run that said something and is no part of the thread."""
        sayers = self._unsaid.get(content)
        return sayers.first() if sayers else None

    def answer(self, fork: str | None) -> int | None:
        """The first content of the last run that is committed at a message."""
        sayers = self._answers.get(fork or "")
        run = sayers.first() if sayers else None
        part = self.runs[run] if run is not None else None
        return (part.open[0] if part.first is None and part.open else part.first) if part else None

    def miscounted(self, shown: dict[str, int]) -> int:
        """How many of the runs that are part of the thread have records that count other messages than are shown."""
        parts = ((self.runs.get(run), count) for run, count in shown.items())
        wrong = sum(part.record.get("messageCount") != count for part, count in parts if part and part.is_kept)
        return wrong + len(self.counting) - sum(run in self.counting for run in shown)

    def take(self, run: str, began: int, record: RunRecord, state: str | None, stream: Reducer | Closed | None) -> None:
        """Learns how a run of the thread stands."""
        part = self.runs.setdefault(run, _Part(began))
        self._place(run, part, -1)
        stream, is_kept = stream if stream and stream.whole else None, state in KEPT
        if part.stream is not stream or part.is_kept != is_kept:
            self._unsay(run, part)
            part.stream, part.is_kept = stream, is_kept
        part.record, part.state = record, state
        if stream is not None:
            self._say(run, part, stream)
        self._place(run, part, 1)

    def drop(self, run: str) -> None:
        """Lets go of a run that has left the thread."""
        part = self.runs.pop(run)
        self._place(run, part, -1)
        self._unsay(run, part)

    def _place(self, run: str, part: _Part, by: int) -> None:
        """Counts what the record of a run says, or takes it back."""
        if part.record is None:
            return
        fork, count = part.record.word("forkFromMessageId"), part.record.get("messageCount")
        _count(self.forks, fork, by)
        if part.is_kept:
            self.kept += by
            self.counted += by * count if isinstance(count, int) else 0
            self.silent += by if part.stream is None else 0
            if count != 0:
                (self.counting.add if by > 0 else self.counting.discard)(run)
        if part.state == "committed" and fork is not None and part.stream is not None and (part.done or part.open):
            sayers = self._answers.setdefault(fork, Sayers())
            sayers.enter(run, -part.began) if by > 0 else sayers.leave(run)

    def _say(self, run: str, part: _Part, stream: Reducer | Closed) -> None:
        """Adds what a stream has come to say since it was last asked."""
        if part.open is not None:
            self._tell(run, part, [part.open], part.last, -1)
        said, part.open = stream.said_since(part.done)
        if said:
            self._tell(run, part, said, part.last, 1)
            part.first = said[0][0] if part.first is None else part.first
            part.last, part.done = said[-1][0], part.done + len(said)
        if part.open is not None:
            self._tell(run, part, [part.open], part.last, 1)

    def _unsay(self, run: str, part: _Part) -> None:
        """Takes back all that a run said."""
        if part.stream is not None:
            if part.open is not None:
                self._tell(run, part, [part.open], part.last, -1)
            # A stream that is no longer held as a whole still tells what it told.
            said, _ = part.stream.said_since(0)
            self._tell(run, part, said[: part.done], None, -1)
        part.done, part.open, part.first, part.last = 0, None, None, None

    def _tell(self, run: str, part: _Part, said: list[Said], before: int | None, by: int) -> None:
        """Counts messages that follow another one, or takes them back."""
        if not part.is_kept:
            for content, *_ in said:
                sayers = self._unsaid.setdefault(content, Sayers())
                sayers.enter(run, part.began) if by > 0 else sayers.leave(run)
            return
        self.total += by * len(said)
        if before is not None and said:
            _count(self.last, before, -by)
        for content, *left in said:
            _count(self.often, content, by)
            for place, digest in enumerate(left):
                _count(self.left, (content, place, digest), by)
            if before is not None:
                _count(self.pairs, (before, content), by)
            before = content
        if said:
            _count(self.last, said[-1][0], by)


class Conversations:
    """Those that somebody has asked about."""

    def __init__(self) -> None:
        self.known: dict[str, Conversation] = {}
        self.asked: dict[str, int] = {}
        """The line at which each was asked about last."""
        self.stale: set[str] = set()
        """Runs of which something was heard since."""
        self._thread_of: dict[str, str] = {}

    def hear(self, run: str, thread: str | None = None) -> None:
        """Something was told of a run, perhaps that it is in a thread."""
        if run in self._thread_of or thread in self.known:
            self.stale.add(run)

    def settle(
        self, run: str, record: RunRecord, state: str | None, stream: Reducer | Closed | None, began: int
    ) -> None:
        """Learns how a run stands."""
        before, thread = self._thread_of.get(run), record["threadId"]
        if before is not None and before != thread:
            self.known[before].drop(run)
            del self._thread_of[run]
        if thread in self.known:
            self._thread_of[run] = thread
            self.known[thread].take(run, began, record, state, stream)

    def forget(self, line: int) -> None:
        """Lets go of those that nobody has asked about since a line."""
        for thread in [thread for thread, last in self.asked.items() if last < line]:
            del self.asked[thread]
            for run in self.known.pop(thread).runs:
                del self._thread_of[run]


def _count(counts: Counts, key: Hashable, by: int) -> None:
    left = counts.get(key, 0) + by
    if left:
        counts[key] = left
    else:
        del counts[key]
