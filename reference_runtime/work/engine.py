"""The worker: takes the next operation of a plan, one transaction each.

What a plan says is a script, and others act at the same time: a person denies, an operator ends a process, a turn is
interrupted. So an operation that the facts no longer allow is left out, one that a pending question forbids waits,
and what the plan leaves open at its end is settled before the turn is completed.
"""

from __future__ import annotations

from typing import Any

from reference_runtime.domain import queue, settle
from reference_runtime.domain.state import ENDED, Decision, State, about
from reference_runtime.domain.turn import stop, uninterruptible
from reference_runtime.errors import IllegalMove
from reference_runtime.facts.record import Record
from reference_runtime.service import Runtime
from reference_runtime.stamping import Draft
from reference_runtime.work import models, tools  # noqa: F401  they register their steps
from reference_runtime.work.plan import Op, Planner, expand
from reference_runtime.work.real import runs
from reference_runtime.work.real.bench import Bench
from reference_runtime.work.real.calls import PHASES, Call

_RUNS = {"tool.progress", "tool.result", "tool.args", "process.started", "process.output", "process.input"}
_BARRED = {"denied", "timed_out", "cancelled", "unavailable"}


class Worker:
    """Drives every plan of a runtime, oldest first."""

    def __init__(self, runtime: Runtime, bench: Bench | None = None):
        self.runtime, self.bench = runtime, bench
        """Real tools need a bench to work at; scripted ones do not."""

    def run(self, limit: int = 10_000) -> int:
        """Works until nothing can go on; says how many operations were taken."""
        for taken in range(limit):
            if not self.step():
                return taken
        raise RuntimeError("the plans do not come to an end")

    def step(self, patience: float | None = None) -> bool:
        """Takes one operation of the first plan that can go on; waits for a process when nothing else is to be done.

        With patience it waits so many seconds at most.
        """
        state = self.runtime.state()
        while True:
            if self._left_over(state) or any(self._advance(state, plan) for plan in state.find("plan", is_open=True)):
                return True
            if self.bench is None or not self.bench.wait(patience):
                return False
            if self.runtime.store.position() != state.position:
                state = self.runtime.state()

    def _left_over(self, state: State) -> bool:
        """Ends a process whose turn is over, and tells what it still wrote."""
        for running in list(self.bench.live.values()) if self.bench else ():
            if state.get("plan", running.ids["turn_id"]).open or (running.told_ended and not running.ready(0)):
                continue
            ending = runs.aftermath if running.told_ended else runs.outlived
            ending(Call(self.bench, self.runtime, {"ids": running.ids}), running)
            return True
        return False

    def _advance(self, state: State, plan: Record) -> bool:
        turn = state.get("turn", plan.id)
        if turn.state in ENDED | {"lost"}:
            self.runtime.report(lambda state: _close(state, plan.id))
            return True
        if plan.data["ops"] is None:
            return self._begin(state, turn)
        if "interrupt" in plan.data and not uninterruptible(state, turn):
            self.runtime.report(lambda state: stop(state, state.get("turn", turn.id), **plan.data["interrupt"]))
            return True
        ops, at = plan.data["ops"], plan.data["at"]
        if at == len(ops):
            return self._finish(state, turn)
        return self._take(state, plan.id, ops[at])

    def _begin(self, state: State, turn: Record) -> bool:
        others = [one for one in state.find("turn", is_open=True, thread_id=turn.thread) if one.id != turn.id]
        if any(one.state != "queued" for one in others):
            return False
        waiting = queue.order(state, turn.thread)
        if turn.state == "queued" and state.get("place", waiting[0]).data["turn_id"] != turn.id:
            return False
        self.runtime.report(lambda state: _start(state, turn.id))
        return True

    def _take(self, state: State, plan_id: str, op: Op) -> bool:
        if "real" in op:
            return self._really(state, plan_id, op)
        if "wait" in op and state.state("action", op["wait"]) in {"pending", "offered"}:
            return False
        if "delay" in op:
            self.runtime.clock.advance(op["delay"])
        if "command" in op:
            self.runtime.handle(op["command"], op["request"])
        if "event" not in op or not _applies(state, op):
            self.runtime.report(lambda state: _skip(state, plan_id))
            return True
        try:
            self.runtime.report(lambda state: _tell(state, plan_id, op))
        except IllegalMove:
            if state.pending(turn_id=plan_id):
                return False
            self.runtime.report(lambda state: _skip(state, plan_id))
        return True

    def _really(self, state: State, plan_id: str, op: Op) -> bool:
        """Takes an operation that touches the world, once nothing is asked about the turn any more."""
        if self.bench is None:
            raise RuntimeError("the script uses a real tool, and there is no bench to work at")
        if not _chosen(state, op):
            self.runtime.report(lambda state: _skip(state, plan_id))
            return True
        running = self.bench.live.get(op.get("process_id", ""))
        if op["real"] == "pump" and running and not running.ready(0):
            return False
        if op["real"] != "pump" and any(action.state == "pending" for action in state.pending(turn_id=plan_id)):
            return False
        try:
            PHASES[op["real"]](Call(self.bench, self.runtime, op))
        except IllegalMove:  # somebody ended it in between
            self.bench.forget(op.get("process_id", ""))
            self.runtime.report(lambda state: _skip(state, plan_id))
        return True

    def _finish(self, state: State, turn: Record) -> bool:
        if any(action.state == "pending" for action in state.pending(turn_id=turn.id)):
            return False
        self.runtime.report(lambda state: _complete(state, turn.id))
        return True


def _close(state: State, plan_id: str) -> Decision:
    state.edit("plan", plan_id).open = False
    return
    yield  # a decision is a generator, also one that writes nothing


def _skip(state: State, plan_id: str) -> Decision:
    state.edit("plan", plan_id).data["at"] += 1
    return
    yield  # a decision is a generator, also one that writes nothing


def _tell(state: State, plan_id: str, op: Op) -> Decision:
    yield Draft(op["event"], op["ids"], op["payload"], op.get("beside", {}))
    state.edit("plan", plan_id).data["at"] += 1


def _start(state: State, turn_id: str) -> Decision:
    """Lets a turn begin, or go on after it was lost: its script becomes a plan."""
    turn = state.get("turn", turn_id)
    if turn.state == "queued":
        yield from queue.start_next(state, turn.thread)
    if turn.state in {"accepted", "queued"}:
        yield about(turn, "turn.started", {"status": "preparing"})
    plan = state.edit("plan", turn_id)
    ids = {"session_id": turn.session, "thread_id": turn.thread, "turn_id": turn_id}
    script = state.settings.scripts[plan.data["script"]]
    plan.data["ops"] = expand(Planner(state, ids), script)


def _chosen(state: State, op: Op) -> bool:
    """False for the branch of a question that was not taken."""
    action, decisions = op.get("if", (None, ()))
    return action is None or state.state("action", action) in decisions


def _applies(state: State, op: Op) -> bool:
    """False for what a decision ruled out: the wrong branch of a question, or work that was refused."""
    if not _chosen(state, op):
        return False
    if op["event"] not in _RUNS:
        return True
    targets = (op["ids"].get(name) for name in ("tool_call_id", "process_id"))
    return not any(state.state("permission", target) in _BARRED for target in targets if target)


def _complete(state: State, turn_id: str) -> Decision:
    """Settles what the plan left open, and says that the turn is done."""
    turn = state.get("turn", turn_id)
    where: dict[str, Any] = {"turn_id": turn_id}
    yield from settle.actions(state, "The turn is done.", **where)
    yield from settle.permissions(state, "The turn is done.", **where)
    yield from settle.hooks(state, "The turn is done.", **where)
    for process in state.find("process", is_open=True, **where):
        if not process.data.get("retention"):
            yield about(process, "process.terminated", {"reason": "The turn is done.", "terminated_by": "policy"})
    for call in state.find("tool_call", is_open=True, **where):
        barred = call.state == "refused" or state.state("permission", call.id) in _BARRED
        yield settle.call(call, "The call was not to go on.", "denied" if barred else "cancelled")
    yield from settle.requests(state, "The turn is done.", "cancelled", **where)
    yield about(turn, "turn.completed", {"summary": "The script came to its end."})
    state.edit("plan", turn_id).open = False
