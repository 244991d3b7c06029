"""What a served transcript shows of its branch by itself, where no tree of the thread is at hand."""

from __future__ import annotations

from collections.abc import Iterator

from validator.replay.readmodels.agent_threads import Runs, content_of
from validator.replay.readmodels.words import word
from validator.rules.agent_threads.message_changed import Shown, form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Fork = tuple[int, str | None, tuple[int, ...]]
"""The place of the message that has to follow, what is wrong with it, and lines that prove it beside the thread's."""


def forks(world: Any, thread: Any, messages: list[dict[str, Any]], chosen: dict[str, str]) -> Iterator[Fork]:
    """The forks along a walk at which it is known which child has to follow."""
    told, names = world.ledger(Runs).conversation(thread), [word(message, "id") for message in messages]
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
        elif (answer := told.answer(name)) is not None:
            if below is None:
                yield at + 1, "the walk ends where an answer is committed", ()
            else:
                # Another run of the thread said it than the one that took the place.
                passed = answer != content_of(below) in told.often
                yield at + 1, "another child than the last one that is committed" if passed else None, ()


def _child(world: Any, fork: str, child: Any) -> int | None:
    """The line that first served a message as a child of another."""
    found = world.ledger(Shown).first(child, "parentMessageId")
    return found[1] if found is not None and found[0] == form(fork) else None


def witness(world: Any, thread: Any) -> Iterator[int]:
    """The records and streams of a thread: all of them together say what a transcript may hold."""
    runs = world.ledger(Runs)
    for run in runs.of_thread(thread):
        yield runs.last[run][1]
        yield from runs.lines.get(f"run:{run}", ())
        yield from world.subjects("run")[run].history if run in world.subjects("run") else ()
