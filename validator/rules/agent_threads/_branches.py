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
    for run in world.ledger(Runs).of_thread(thread):
        stream = world.ledger(Runs).reducer(run)
        if stream and stream.whole and world.state("run", run) in KEPT:
            found[run] = [content for content, *_ in stream.said()]
    return found


def forks(world: Any, thread: Any, messages: list[dict[str, Any]], chosen: dict[str, str]) -> Iterator[Fork]:
    """The forks along a walk at which it is known which child has to follow."""
    said, names = said_by(world, thread), [word(message, "id") for message in messages]
    taken, heard = _taken(world, said), set().union(*said.values())
    above: set[str | None] = set()
    for at, name in enumerate(names):
        below = messages[at + 1] if at + 1 < len(messages) else None
        parent = word(messages[at], "parentMessageId")
        above.update(names[at - 2 : at - 1] if at > 1 else ())
        if parent is not None and parent in above:
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
                passed = _counts_less(content_of(below), taken[name], heard)
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


def _counts_less(content: int, taken: list[int], heard: set[int]) -> bool:
    """True for what another run of the thread said than the one that took the place."""
    return content != taken[0] and content in heard


def witness(world: Any, thread: Any) -> Iterator[int]:
    """The records and streams of a thread: all of them together say what a transcript may hold."""
    runs = world.ledger(Runs)
    for run in runs.of_thread(thread):
        yield runs.last[run][1]
        yield from runs.lines.get(f"run:{run}", ())
        yield from world.subjects("run")[run].history if run in world.subjects("run") else ()
