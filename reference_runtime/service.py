"""The runtime: commands and observations in, events out.

Theory of operation
-------------------
There are two ways in. `handle` takes a control-plane command from a caller; `report` takes facts from those who do
the work (scripted models, tools, workers and peers). Both run the same way, and nothing else writes:

1. *Read.* A `State` is opened at the position that the log has now.
2. *Decide.* A pure generator yields drafts of events. Each is stamped (id, time, sequence), stripped of machine
   paths, checked against its schema, and driven through the state tables, before the generator goes on. A row that is
   missing ends it.
3. *Keep.* Events, records and the answer are committed in one transaction, at the position at which they were
   decided.
4. *Answer, then publish.* Only what is kept is acknowledged, and only what is acknowledged is shown to subscribers.

Whatever fails before the commit leaves no trace; a decision that was overtaken by another writer is taken again.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

from reference_runtime.capture import Capture, NoCapture
from reference_runtime.contract import CORE, protocol
from reference_runtime.domain.decisions import DECISIONS
from reference_runtime.domain.state import Decision, State
from reference_runtime.errors import CommandRejected, IllegalMove, NoOp, PositionConflict, StoreError, Unavailable
from reference_runtime.facts.learn import learn
from reference_runtime.log.base import Contents, Store
from reference_runtime.log.body import is_text
from reference_runtime.projections import THREAD_MODELS, snapshot
from reference_runtime.redaction import clean
from reference_runtime.settings import Settings
from reference_runtime.stamping import Clock, Draft, VirtualClock, read, stamped, written

Answer = dict[str, Any]
_PATIENCE = 5
"""How often a decision is taken again when another writer was faster."""


class Runtime:
    """One runtime on one store."""

    def __init__(
        self,
        store: Store,
        settings: Settings | None = None,
        clock: Clock | None = None,
        capture: Capture | None = None,
    ):
        self.store, self.settings = store, settings or Settings()
        self.clock = clock or VirtualClock()
        self.capture = capture or NoCapture()
        self.subscribers: list[Callable[[dict[str, Any]], None]] = []
        boots = store.load("counter", "boot")
        self.boot = boots.data["last"] if boots else 0
        """How often the runtime was started again on this store."""
        self.rows: set[str] = set()
        """Rows of the state tables that were taken, for coverage."""
        self.contents: Contents | None = None
        """Where content lies that is too large for the store."""
        self._commands = 0
        self._forward()

    def handle(self, command: str, request: Any, command_id: str | None = None) -> Answer:
        """Answers one command; the answer is durable when it is given."""
        self._commands += 1
        command_id = command_id or f"cmd_{self.boot}_{self._commands}"
        try:
            self._admit(command, request)
        except CommandRejected as refusal:
            # What does not fit its schema is no command, and a capture holds commands (CTL-54).
            return {"outcome": refusal.outcome, "error": refusal.error()}
        self._note(self.capture.command, command, command_id, request)
        events: list[dict[str, Any]] = []
        answer = self._answer(command, request, command_id, events)
        self._publish(events)
        self._note(self.capture.result, command, command_id, answer)
        return answer

    def _note(self, tell: Callable[..., None], *what: Any) -> None:
        """Has something written down with the time; time passes also where nobody writes."""
        moment = self.clock.now()
        if not isinstance(self.capture, NoCapture):
            tell(*what, written(moment))

    def report(self, decision: Callable[[State], Decision]) -> list[dict[str, Any]]:
        """Takes in facts from those who do the work; raises IllegalMove when a table refuses one."""
        for attempt in range(_PATIENCE):
            state = self.state()
            self._run(state, decision(state))
            try:
                self.store.commit(state.change())
            except PositionConflict:
                if attempt + 1 == _PATIENCE:
                    raise
                continue
            self._publish(state.events)
            return state.events
        raise AssertionError("unreachable")

    def fact(self, kind: str, ids: dict[str, Any], payload: dict[str, Any] | None = None, **beside: Any) -> None:
        """Takes in a single fact."""

        def decision(state: State) -> Iterator[Draft]:
            yield Draft(kind, ids, payload or {}, beside)

        self.report(decision)

    def snapshot(self, model: str, session: str, thread: str | None = None) -> dict[str, Any]:
        """A read model as it is now, written into the capture as well."""
        document = snapshot(self.state(), model, session, thread)
        CORE.check_snapshot(model, document)
        self.capture.snapshot(model, document, self._now())
        return document

    def snapshots(self, session: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every read model of a session that exists, each written into the capture."""
        state = self.state()
        threads = [record.id for record in state.find("thread", session_id=session)]
        for model in protocol().snapshots:
            for scope in threads if model in THREAD_MODELS else [session]:
                if state.get("model", f"{model}|{scope}"):
                    yield model, self.snapshot(model, session, scope if model in THREAD_MODELS else None)

    def content(self, reference: str) -> Any:
        """What is kept behind a reference of this runtime, or None."""
        record = self.store.load("blob", reference)
        if record is None and self.contents is not None:
            return self.contents.read(reference)
        return record.data["content"] if record else None

    def state(self, command_id: str | None = None) -> State:
        return State(self.store, self.settings, self.clock.now(), command_id)

    def _answer(self, command: str, request: Any, command_id: str, events: list[dict[str, Any]]) -> Answer:
        try:
            kept = self._kept(command, request)
            return kept or self._decide(command, request, command_id, events)
        except CommandRejected as refusal:
            return {"outcome": refusal.outcome, "error": refusal.error(), **refusal.answer}
        except StoreError as error:
            events.clear()
            said = {"category": "storage", "code": error.code, "message": str(error), "retryable": True}
            return {"outcome": "unavailable", "error": said}

    def _admit(self, command: str, request: Any) -> None:
        if command not in DECISIONS:
            raise CommandRejected("unknown_command", "There is no such command.", category="invalid_request")
        if faults := CORE.request_faults(command, request):
            raise CommandRejected("invalid_request", "; ".join(faults), category="invalid_request")
        if not is_text(request):
            reason = "The request holds half of a surrogate pair, which is no character and cannot be written as UTF-8."
            raise CommandRejected("invalid_request", reason, category="invalid_request")

    def _kept(self, command: str, request: dict[str, Any]) -> Answer | None:
        """The answer that was given before under the same key, if the command is the same (CTL-5, CTL-57)."""
        key = _key(command, request)
        kept = self.store.reply(key) if key else None
        if kept is None:
            return None
        digest, answer = kept
        if digest != _digest(command, request):
            raise CommandRejected("key_reused", "The key belongs to another request.", category="conflict")
        return answer

    def _decide(self, command: str, request: dict[str, Any], command_id: str, events: list[dict[str, Any]]) -> Answer:
        for attempt in range(_PATIENCE):
            state = self.state(command_id)
            answer, state = self._outcome(command, request, state)
            CORE.check_result(command, answer)
            change = state.change()
            if key := _key(command, request):
                change.reply = (key, _digest(command, request), answer)
            try:
                if change.events or change.records or change.reply:
                    self.store.commit(change)
                events += change.events
                return answer
            except PositionConflict:
                if attempt + 1 == _PATIENCE:
                    raise
        raise AssertionError("unreachable")

    def _outcome(self, command: str, request: dict[str, Any], state: State) -> tuple[Answer, State]:
        """What becomes of a command, and the state to keep: the decided one, or an untouched one."""
        try:
            answer = self._run(state, DECISIONS[command](state, request)) or {}
            answer = {"outcome": "accepted", **answer}
            if protocol().commands[command].mutates:
                answer["event_ids"] = _listed(command, state.events)
            return answer, state
        except NoOp as done:
            return {"outcome": "no_op", **done.answer}, self.state()
        except Unavailable as refusal:
            return {"outcome": refusal.outcome, "error": refusal.error(), **refusal.answer}, state
        except CommandRejected as refusal:
            return {"outcome": refusal.outcome, "error": refusal.error(), **refusal.answer}, self.state()
        except IllegalMove as refusal:
            code = f"illegal_{refusal.machine}_move"
            error = {"category": "wrong_state", "code": code, "message": str(refusal), "retryable": False}
            return {"outcome": "rejected", "error": error}, self.state()

    def _run(self, state: State, decision: Decision) -> Answer | None:
        """Drives a decision to its end: every draft becomes an event, and every event a fact, before it goes on."""
        while True:
            try:
                draft = next(decision)
            except StopIteration as end:
                return end.value
            event = self._stamp(state, draft)
            CORE.check_event(event)
            self.rows.update([move.row.id for move in learn(state, event)])

    def _stamp(self, state: State, draft: Draft) -> dict[str, Any]:
        stream = state.get("stream", draft.ids["session_id"])
        return clean(
            stamped(
                draft,
                number=state.position + len(state.events) + 1,
                sequence=(stream.data["sequence"] if stream else 0) + 1,
                moment=self.clock.now(),
                runtime_id=self.settings.runtime_id,
            )
        )

    def _publish(self, events: list[dict[str, Any]]) -> None:
        for event in events:
            self.capture.event(event)
            for subscriber in self.subscribers:
                subscriber(event)

    def _now(self) -> str:
        return written(self.clock.now())

    def _forward(self) -> None:
        """Time goes on where the log ended, also with a clock that begins anew."""
        for stream in self.store.find("stream", {}, None):
            self.clock.not_before(read(stream.data["at"]))


def _key(command: str, request: dict[str, Any]) -> str | None:
    """A key counts for one command; two callers may use the same word for different things."""
    key = request.get("idempotency_key")
    return f"{command}|{key}" if key is not None else None


def _digest(command: str, request: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps([command, request], sort_keys=True).encode()).hexdigest()


@functools.cache
def _told_of(command: str) -> frozenset[str]:
    """The types of events that an answer may list: those of the command's table, and those that move nothing."""
    return frozenset((*protocol().commands[command].writes, *protocol().informational))


def _listed(command: str, events: list[dict[str, Any]]) -> list[str]:
    """The events that an answer may list (CTL-62)."""
    listed = _told_of(command)
    return [event["event_id"] for event in events if event["type"] in listed]
