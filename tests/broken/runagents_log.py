"""Faults of RunAgents about the log and the records, and about what is shown of them."""

from dataclasses import replace

from reference_runtime.lifecycles.runagents import export, lines, reading
from reference_runtime.lifecycles.runagents.lines import Change, Event
from tests.broken.platform import PlatformFault, is_event, is_record


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
