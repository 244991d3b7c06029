"""A host: whoever asks for runs in a thread, does their work, and reads what became of it."""

from __future__ import annotations

from typing import Any

from reference_runtime.lifecycles.agent_threads.ledger import Ledger

Event = dict[str, Any]


def event(kind: str, **payload: Any) -> Event:
    """An event as it is handed to the ledger."""
    return {"kind": kind, "payload": payload}


def step(index: int, *inside: Event | str, reason: str = "stop") -> list[Event]:
    """One step of a model; a word inside it is a piece of text."""
    said = [event("text-delta", delta=entry) if isinstance(entry, str) else entry for entry in inside]
    usage = {"inputTokens": 40 + index, "outputTokens": len(inside)}
    finished = event("step-finished", stepIndex=index, finishReason=reason, usage=usage)
    return [event("step-started", stepIndex=index), *said, finished]


def call(identity: str, tool: str, **arguments: Any) -> Event:
    return event("tool-call", toolCallId=identity, toolName=tool, input=arguments)


def result(identity: str, output: Any, **more: Any) -> Event:
    return event("tool-result", toolCallId=identity, output=output, **more)


class Host:
    """Drives the runs of one thread."""

    def __init__(self, ledger: Ledger, thread: str):
        self.ledger, self.thread = ledger, thread

    def ask(self, question: str, fork: str | None = None) -> str:
        """A run that begins with a question of the user."""
        run = self.answer(fork)
        self.ledger.append(run, [event("user-message", content=question)])
        return run

    def answer(self, fork: str | None) -> str:
        """A run that answers at a message, without a question of its own."""
        return self.ledger.start(self.thread, fork)["runId"]

    def says(self, run: str, *words: Event | str) -> None:
        """One whole step on a run's stream, in one append."""
        self.ledger.append(run, step(0, *words))

    def commits(self, run: str) -> list[str]:
        """Commits a run; the runs that it superseded."""
        return self.ledger.finalize(run, "committed")["supersededRunIds"]

    def exchange(self, question: str, answer: str, fork: str | None = None) -> tuple[str, str]:
        """A question and its answer, committed; the ids of both messages."""
        run = self.ask(question, fork)
        self.says(run, answer)
        self.commits(run)
        return tuple(node["messageId"] for node in self.ledger.tree(self.thread)["nodes"] if node["runId"] == run)

    def regenerate(self, fork: str, answer: str) -> str:
        """Another answer at the same place, committed; its run."""
        run = self.answer(fork)
        self.says(run, answer)
        self.commits(run)
        return run

    def shows(self) -> None:
        """Everything a reader can ask about the thread."""
        self.ledger.tree(self.thread)
        self.ledger.transcript(self.thread)
        self.ledger.transcript(self.thread, "all")
        for record in self.ledger.runs(self.thread):
            self.ledger.view(record["runId"])
