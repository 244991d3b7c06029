"""The worker: resumes what was settled, ends what ran out, and plays scripted agents, one commit per step."""

from __future__ import annotations

from typing import Any

from reference_runtime.facts.record import Record
from reference_runtime.lifecycles.runagents import gates, gateway
from reference_runtime.lifecycles.runagents.desk import Deciding, Desk, ended
from reference_runtime.lifecycles.runagents.lines import stored
from reference_runtime.lifecycles.runagents.policy import Call
from reference_runtime.lifecycles.runagents.service import RunAgents

Step = dict[str, Any]
STEPS = ("call", "say", "think", "stumble", "fail", "undelivered")
"""What an agent's script may say, one of them per step."""


class Worker:
    """Drives every run of a platform, oldest first."""

    def __init__(self, platform: RunAgents):
        self.platform = platform

    def run(self, limit: int = 10_000) -> int:
        """Works until nothing can go on; says how many steps were taken."""
        for taken in range(limit):
            if not self.step():
                return taken
        raise RuntimeError("the agents do not come to an end")

    def step(self) -> bool:
        """Takes one step of the first thing that can go on."""
        page = self.platform.book.page()
        return any(self._settle(checkpoint) for checkpoint in page.find("checkpoint", is_open=True)) or any(
            self._advance(plan) for plan in page.find("plan", is_open=True)
        )

    def _settle(self, checkpoint: Record) -> bool:
        if checkpoint.data["ready"]:
            if self._is_asked(checkpoint.scope["run_id"]):
                return False
            self.platform.resume(checkpoint.id)
            return True
        if Desk(self.platform.book.page(), self.platform.settings).passed(checkpoint.data.get("until")):
            self.platform.decide(lambda desk: gates.time_out(desk, checkpoint.id))
            return True
        return False

    def _is_asked(self, run_id: str) -> bool:
        """True while a run waits at a gate: what was granted before is taken up when that is settled (RA-80)."""
        found = self.platform.book.page().find("checkpoint", is_open=True, run_id=run_id)
        return not all(one.data["ready"] for one in found)

    def sweep(self) -> int:
        """Tells of grants whose time is over; says how many."""
        desk = Desk(self.platform.book.page(), self.platform.settings)
        over = [one for one in desk.page.find("deadline", is_open=True) if desk.passed(one.data["at"])]
        # A grant whose call is still to be made ends with it (see `gates.run_out`).
        over = [one for one in over if not desk.is_open("checkpoint", one.data["action_id"])]
        for deadline in over:
            self.platform.decide(lambda desk, name=deadline.id: gates.lapse(desk, name))
        return len(over)

    def _advance(self, plan: Record) -> bool:
        page = self.platform.book.page()
        run = page.need("run", plan.id)
        if run.state != "RUNNING" or Desk(page, self.platform.settings).is_open("flight", run.id):
            return False
        agent = self.platform.settings.agents.get((stored(run) or {})["agent_id"])
        if agent is None:
            return False
        if not plan.data["begun"]:
            self.platform.decide(lambda desk: _begin(desk, run.id))
        elif plan.data["at"] == len(agent):
            self.platform.decide(lambda desk: _end(desk, run.id))
        else:
            self._take(run.id, agent[plan.data["at"]])
        return True

    def _take(self, run_id: str, step: Step) -> None:
        if "call" in step:
            verdict = self.platform.decide(lambda desk: _call(desk, run_id, Call(**step["call"])))
            self.platform.finish(run_id, verdict)
            return
        self.platform.decide(lambda desk: _tell(desk, run_id, step))


def _next(desk: Desk, run_id: str) -> None:
    desk.page.edit("plan", run_id).data["at"] += 1


def _begin(desk: Desk, run_id: str) -> Deciding:
    yield from desk.words(run_id).dispatched(desk.record("run", run_id))
    desk.page.edit("plan", run_id).data["begun"] = True
    return {}


def _end(desk: Desk, run_id: str) -> Deciding:
    yield from ended(desk, run_id, desk.words(run_id).completed(desk.record("run", run_id)))
    return {}


def _call(desk: Desk, run_id: str, call: Call) -> Deciding:
    verdict = yield from gateway.attempt(desk, run_id, call)
    if verdict["verdict"] in {"consent", "approval"}:
        yield from desk.words(run_id).returned(desk.record("run", run_id))
    _next(desk, run_id)
    return verdict


def _tell(desk: Desk, run_id: str, step: Step) -> Deciding:
    """One step of an agent that is no call."""
    run, words = desk.record("run", run_id), desk.words(run_id)
    ((kind, said),) = step.items()
    ends = {"fail": words.failed, "undelivered": words.undelivered}
    if kind in ends:
        yield from ended(desk, run_id, ends[kind](run, said))
        return {}
    yield from {"say": words.said, "think": words.thought, "stumble": words.stumbled}[kind](run, said)
    _next(desk, run_id)
    return {}
