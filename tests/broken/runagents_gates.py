"""Faults of RunAgents about gates: payloads, decisions, pauses, and what may happen before they are settled."""

from reference_runtime.lifecycles.runagents import gates, gateway, runs
from reference_runtime.lifecycles.runagents.desk import Desk
from reference_runtime.lifecycles.runagents.lines import Change, Event
from tests.broken.platform import PlatformFault, is_event, is_record


class ResumesWithAnotherPayload(PlatformFault):
    """What was approved is one request; what runs is another."""

    rule = "RAG005"

    def play(self, scene):
        run_id = scene.begin("refund-agent")
        (action,) = scene.platform.actions(run_id)
        scene.platform.keep_checkpoint(run_id, {"action_id": action["action_id"], "payload": {"amount": 9999}})
        scene.approve()

    def patch(self, patcher):
        patcher.setattr(gates, "same", lambda one, other: True)


class TakesSilenceForAYes(PlatformFault):
    """Nobody decided in time, and the run goes on as if somebody had."""

    rule = "RAG007"
    expect = "prefix"

    def play(self, scene):
        scene.begin("refund-agent")
        scene.clock.advance(25 * 3600 * 1000)
        scene.worker.step()

    def patch(self, patcher):
        def time_out(desk, action_id):
            run_id = desk.record("blocked_action", action_id)["run_id"]
            yield Change("blocked_action", action_id, {"status": "EXPIRED"})
            yield Change("run", run_id, {"status": "RUNNING", "blocked_action_id": None})
            desk.close("checkpoint", action_id)

        patcher.setattr(gates, "time_out", time_out)


class ResumesBeforeAnybodyDecided(PlatformFault):
    """The record says RUNNING while the action is still blocked, and no grant ever follows."""

    rule = "RAG008"

    def play(self, scene):
        run_id = scene.begin("refund-agent")
        scene.platform.set_status(run_id, {"status": "RUNNING"})
        scene.platform.tell(run_id, {"type": "AGENT_MESSAGE", "data": {"content": "On it."}})

    def patch(self, patcher):
        def set_status(desk, run_id, request):
            yield Change("run", run_id, {"status": "RUNNING", "blocked_action_id": None})

        patcher.setattr(runs, "set_status", set_status)


class CallsWhileItWaits(PlatformFault):
    """The call leaves although its question is open."""

    rule = "STA001"
    expect = "prefix"

    def play(self, scene):
        scene.begin("refund-agent")

    def tamper(self, draft, page):
        yield draft
        if is_record(draft, "run", "PAUSED_APPROVAL"):
            yield Event(draft.id, "TOOL_RESPONSE", "refund-agent", {"tool_id": "stripe", "status_code": 200})


class ExecutesWithoutApproval(PlatformFault):
    """An action is executed that nobody approved."""

    rule = "STA001"
    expect = "prefix"

    def play(self, scene):
        scene.begin("refund-agent")

    def tamper(self, draft, page):
        yield draft
        if is_record(draft, "blocked_action", "BLOCKED"):
            yield Change("blocked_action", draft.id, {"status": "EXECUTED"})


class ServesTwoActionsWithOneApproval(PlatformFault):
    """An approval of scope once is used again for the next action, about which nobody is asked."""

    rule = "RAG006"
    expect = "prefix"
    asked = None

    def play(self, scene):
        run_id = scene.begin("twice-agent")
        scene.approve()
        *_, action = scene.platform.actions(run_id)

        def again(desk):
            told = {"action_id": action["action_id"], "request_id": self.asked, "approver_id": "user_marta"}
            yield Event(run_id, "APPROVED", "user_marta", {**told, "scope": "once"}, action["payload_hash"])

        scene.platform.decide(again)

    def tamper(self, draft, page):
        if is_record(draft, "approval_request", "PENDING"):
            if self.asked:
                return []
            self.asked = draft.id
        return [draft]

    def line(self, line):
        if self.asked and line.get("type") == "APPROVAL_REQUIRED":
            del line["data"]["request_id"]
        if self.asked and line.get("model") == "blocked_action" and line["snapshot"]["status"] == "BLOCKED":
            del line["snapshot"]["request_id"]
        return line


class CallsAfterTheApprovalEnded(PlatformFault):
    """The grant was for five minutes; the call comes after six."""

    rule = "RAG021"

    def play(self, scene):
        scene.begin("refund-agent")
        scene.platform.approve(scene.pending(), {"approver_id": "user_marta", "duration": "5m"})
        scene.clock.advance(6 * 60 * 1000)
        scene.worker.run()

    def patch(self, patcher):
        patcher.setattr(Desk, "passed", lambda self, moment: False)


class LogsTheGrantAfterTheCall(PlatformFault):
    """The call is retried before the log says that it may be."""

    rule = "RAG024"
    vocabulary = "operations"
    grant = None

    def tamper(self, draft, page):
        if is_event(draft, "APPROVAL_GRANTED"):
            self.grant = draft
            return []
        if self.grant and is_event(draft, "TOOL_CALL"):
            return [draft, self.grant]
        return [draft]


class StaysPausedAfterARejection(PlatformFault):
    """The action is rejected, and its run waits on."""

    rule = "RAG009"
    vocabulary = "operations"
    expect = "prefix"

    def play(self, scene):
        scene.begin("refund-agent")
        scene.reject()

    def tamper(self, draft, page):
        if is_event(draft, "APPROVAL_REJECTED"):
            return []
        if is_record(draft, "run", "FAILED"):
            return [Change("run", draft.id, {})]
        return [draft]


class GoesOnWithoutConsent(PlatformFault):
    """Consent was never given, and the run is completed all the same."""

    rule = "STA001"

    def play(self, scene):
        run_id = scene.begin("calendar-agent")
        scene.platform.set_status(run_id, {"status": "COMPLETED"})

    def patch(self, patcher):
        def set_status(desk, run_id, request):
            yield from desk.words(run_id).completed(desk.record("run", run_id))

        patcher.setattr(runs, "set_status", set_status)


class TellsALostCallAsDone(PlatformFault):
    """After a restart it calls its pending question answered."""

    rule = "STA001"
    expect = "prefix"

    def play(self, scene):
        run_id = scene.begin("refund-agent")
        scene.restart()
        scene.platform.decide(lambda desk: gateway.lost(desk, run_id))

    def patch(self, patcher):
        def lost(desk, run_id):
            yield Event(run_id, "TOOL_CALLED", "refund-agent", {"tool_id": "stripe"})

        patcher.setattr(gateway, "lost", lost)
