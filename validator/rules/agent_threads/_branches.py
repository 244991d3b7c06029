"""What a served transcript shows of its branch by itself, where no tree of the thread is at hand."""

from __future__ import annotations

from collections.abc import Iterator

from validator.replay.readmodels.agent_threads import Runs, content_of
from validator.replay.readmodels.words import word
from validator.rules.agent_threads._facts import KEPT
from validator.rules.agent_threads.message_changed import Shown, form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Fork = tuple[int, str | None, tuple[int, ...]]
"""The place of the message that has to follow, what is wrong with it, and lines that prove it beside the thread's."""


def said_by(world: Any, thread: Any) -> dict[str, list[int]]:
    """What each kept run of a thread said, in order; only runs whose whole stream the capture holds."""
    found = {}
    for run, (record, _) in world.ledger(Runs).last.items():
        stream = world.ledger(Runs).reducer(run)
        if record.get("threadId") == thread and stream and stream.whole and world.state("run", run) in KEPT:
            found[run] = [content for content, *_ in stream.said()]
    return found


def forks(world: Any, thread: Any, messages: list[dict[str, Any]], chosen: dict[str, str]) -> Iterator[Fork]:
    """The forks along a walk at which it is known which child has to follow."""
    said, names = said_by(world, thread), [word(message, "id") for message in messages]
    taken = _taken(world, said)
    for at, name in enumerate(names):
        below = messages[at + 1] if at + 1 < len(messages) else None
        parent = word(messages[at], "parentMessageId")
        if at > 1 and parent is not None and parent in names[: at - 1]:
            yield at, "a second branch of one fork", ()
        elif name in chosen:
            line = _child(world, name, chosen[name])
            if line is not None:
                follows = below is not None and word(below, "id") == chosen[name]
                yield at + 1, None if follows else "another child than the chosen one", (line,)
        elif name in taken:
            if below is None:
                yield at + 1, "the walk ends where an answer is committed", ()
            else:
                passed = _counts_less(content_of(below), taken[name], said)
                yield at + 1, "another child than the last one that is committed" if passed else None, ()


def _taken(world: Any, said: dict[str, list[int]]) -> dict[str, list[int]]:
    """For each fork, what the run that counts there said; what followed the fork before was stored earlier."""
    found = {}
    for run, contents in said.items():
        fork = world.ledger(Runs).last[run][0].word("forkFromMessageId")
        if fork is not None and contents and world.state("run", run) == "committed":
            found[fork] = contents
    return found


def _child(world: Any, fork: str, child: Any) -> int | None:
    """The line that first served a message as a child of another."""
    found = world.ledger(Shown).first(child, "parentMessageId")
    return found[1] if found is not None and found[0] == form(fork) else None


def _counts_less(content: int, taken: list[int], said: dict[str, list[int]]) -> bool:
    """True for what another run of the thread said than the one that took the place."""
    return content != taken[0] and any(content in contents for contents in said.values())


def witness(world: Any, thread: Any) -> tuple[int, ...]:
    """The records and streams of a thread: all of them together say what a transcript may hold."""
    lines: list[int] = []
    for run, (record, line) in world.ledger(Runs).last.items():
        if record.get("threadId") == thread:
            lines += [line, *world.ledger(Runs).lines.get(f"run:{run}", ())]
            lines += world.subjects("run")[run].history if run in world.subjects("run") else ()
    return tuple(lines)
