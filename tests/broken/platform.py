"""RunAgents platforms with exactly one fault each; how a fault is brought out, and what it leaves behind."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

from reference_runtime.capture import LineCapture
from reference_runtime.errors import IllegalMove
from reference_runtime.lifecycles.book import Book, Line, Page
from reference_runtime.lifecycles.runagents import service, stage
from reference_runtime.lifecycles.runagents.history import CONTRACT
from reference_runtime.lifecycles.runagents.lines import Change, Event
from reference_runtime.log.memory import MemoryStore


class PlatformFault:
    """What a platform does wrong; by itself it does nothing wrong."""

    rule = ""
    expect = "complete"
    vocabulary = "api"

    def play(self, scene: stage.Scene) -> None:
        """The story that brings the fault out."""
        run_id = scene.begin("refund-agent")
        scene.approve()
        scene.look(run_id, scene.platform.run(run_id)["status"])

    def tamper(self, draft: Any, page: Page) -> Iterable[Any]:
        """What is written instead of a draft."""
        return [draft]

    def line(self, line: Line) -> Line:
        """What a line becomes after it was stamped."""
        return line

    def patch(self, patcher: Any) -> None:
        """What else is broken."""


class BrokenBook(Book):
    """A book that asks no table and no schema, for nobody who breaks a rule on purpose would."""

    fault: PlatformFault

    def _run(self, page: Page, decision: Any) -> tuple[Any, set[str]]:
        drafts = decision(page)
        while True:
            try:
                draft = next(drafts)
            except StopIteration as end:
                return end.value or {}, set()
            for written in self.fault.tamper(draft, page):
                self._put(page, self.fault.line(self._stamp(page, written)))

    def _put(self, page: Page, line: Line) -> None:
        moves = []
        try:
            moves = page.write(line)
        except IllegalMove:
            page._place(line, page.edit("stream", page.stream(line)).data)
            page.events.append(line)
        self._learn(page, line, moves)


def capture_of(fault: PlatformFault, patcher: Any) -> str:
    """What a broken platform leaves behind after its story."""
    store, text = MemoryStore(), io.StringIO()
    patcher.setattr(service, "Book", type("Broken", (BrokenBook,), {"fault": fault}))
    fault.patch(patcher)
    capture = LineCapture(text, CONTRACT, completeness=fault.expect)
    fault.play(stage.Scene("broken", lambda: store, capture, vocabulary=fault.vocabulary))
    return text.getvalue()


def is_event(draft: Any, *kinds: str) -> bool:
    return isinstance(draft, Event) and draft.type in kinds


def is_record(draft: Any, model: str, status: str) -> bool:
    return isinstance(draft, Change) and draft.model == model and draft.fields.get("status") == status
