"""Faults of RunAgents: about gates and payloads, about the log and the records, about what is shown."""

from dataclasses import replace

from reference_runtime.lifecycles.runagents import export, gates, gateway, lines, reading, runs
from reference_runtime.lifecycles.runagents.desk import Desk
from reference_runtime.lifecycles.runagents.lines import Change, Event
from tests.broken.platform import PlatformFault


def is_event(draft, *kinds):
    return isinstance(draft, Event) and draft.type in kinds


def is_record(draft, model, status):
    return isinstance(draft, Change) and draft.model == model and draft.fields.get("status") == status


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


class EndsTwice(PlatformFault):
    """A run that is completed fails afterwards."""

    rule = "TRM001"

    def tamper(self, draft, page):
        yield draft
        if is_record(draft, "run", "COMPLETED"):
            yield Event(draft.id, "FAILED", "refund-agent", {"error": "After all."})


class CompletesByRecordAlone(PlatformFault):
    """The record says COMPLETED, and the log never does."""

    rule = "RAG010"

    def tamper(self, draft, page):
        return [] if is_event(draft, "COMPLETED") else [draft]


class LeavesTheEndToTheRejection(PlatformFault):
    """The log says REJECTED and not that the run failed."""

    rule = "RAG011"

    def play(self, scene):
        scene.begin("refund-agent")
        scene.reject()

    def tamper(self, draft, page):
        return [] if is_event(draft, "FAILED") else [draft]


class LogsTheArguments(PlatformFault):
    """The payload travels in the event that should only hash it."""

    rule = "RAG017"

    def tamper(self, draft, page):
        if is_event(draft, "TOOL_REQUEST"):
            return [replace(draft, data={**draft.data, "arguments": {"order": 1042}})]
        return [draft]


class MixesTheVocabularies(PlatformFault):
    """A log that begins in one vocabulary and ends in the other."""

    rule = "RAG004"

    def tamper(self, draft, page):
        return [replace(draft, type="APPROVAL_GRANTED")] if is_event(draft, "APPROVED") else [draft]


class ForgetsTheHash(PlatformFault):
    """A block without the hash of what was blocked."""

    rule = "RAG016"

    def line(self, line):
        line.pop("payload_hash", None)
        line.get("snapshot", {}).pop("payload_hash", None)
        return line


class PausesForNoAction(PlatformFault):
    """The record waits for approval and does not say of what."""

    rule = "RAG003"

    def tamper(self, draft, page):
        if is_record(draft, "run", "PAUSED_APPROVAL"):
            return [Change("run", draft.id, {"status": "PAUSED_APPROVAL"})]
        return [draft]


class AsksTwice(PlatformFault):
    """A second request for an action whose first one is pending."""

    rule = "RAG022"
    expect = "prefix"

    def play(self, scene):
        scene.begin("refund-agent")

    def tamper(self, draft, page):
        yield draft
        if is_record(draft, "approval_request", "PENDING"):
            yield Change("approval_request", f"{draft.id}_again", draft.fields)


class SkipsANumber(PlatformFault):
    """The log of a run has a hole."""

    rule = "ORD006"

    def line(self, line):
        return line | {"seq": line["seq"] + 2} if line.get("seq", 0) == 4 else line


class CountsBackwards(PlatformFault):
    """Two events of a run have the same number."""

    rule = "ORD001"

    def play(self, scene):
        scene.begin("shop-agent")

    def line(self, line):
        return line | {"seq": 3} if line.get("type") == "COMPLETED" else line


class LetsARecordGrowYounger(PlatformFault):
    """The record of a run was changed before it was changed."""

    rule = "RAG002"

    def line(self, line):
        return line | {"updated_at": line["created_at"]} if line.get("status") == "COMPLETED" else line


class LeaksAHomePath(PlatformFault):
    """What a user wrote goes into the log as it stands, path and all."""

    rule = "RED002"

    def play(self, scene):
        scene.begin("shop-agent", initial_message="It is in /home/ada/orders.csv")

    def patch(self, patcher):
        patcher.setattr(lines, "clean", lambda line, free: line)


class ShowsARunAsDone(PlatformFault):
    """The view is ahead of the log."""

    rule = "RAG025"
    expect = "prefix"

    def play(self, scene):
        scene.look(scene.begin("refund-agent"), "PAUSED_APPROVAL")

    def patch(self, patcher):
        build = reading.run_view
        patcher.setattr(reading, "run_view", lambda *told: build(*told) | {"status": "COMPLETED"})


class ExportsLessThanItHas(PlatformFault):
    """The export leaves out what the agent said."""

    rule = "RAG013"

    def patch(self, patcher):
        whole = export.document

        def document(history, exported_at):
            made = whole(history, exported_at)
            return made | {"events": [event for event in made["events"] if event["type"] != "AGENT_MESSAGE"]}

        patcher.setattr(export, "document", document)


class ExportsAnotherStory(PlatformFault):
    """The export names another approver than the log."""

    rule = "RAG014"

    def patch(self, patcher):
        whole = export.document

        def document(history, exported_at):
            made = whole(history, exported_at)
            told = [
                event | {"actor": "user_mallory"} if event["type"] == "APPROVED" else event for event in made["events"]
            ]
            return made | {"events": told}

        patcher.setattr(export, "document", document)


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
