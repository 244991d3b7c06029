"""AgentHub lifecycles with exactly one fault each.

A fault is a small class: what it does wrong, the story that brings it out, and the rule that catches it. A broken Hub
asks no state table and no schema; everything else it does right.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from reference_runtime.capture import LineCapture
from reference_runtime.contract import Contract
from reference_runtime.errors import IllegalMove
from reference_runtime.lifecycles.agenthub.acts import Action
from reference_runtime.lifecycles.agenthub.facts import learn
from reference_runtime.lifecycles.agenthub.lines import Draft, stamp
from reference_runtime.lifecycles.agenthub.stage import JON, MIRA, Stage
from reference_runtime.lifecycles.book import Book, Page
from reference_runtime.log.memory import MemoryStore


class HubFault:
    """What a Hub does wrong; by itself it does nothing wrong."""

    rule = ""

    def story(self, stage: Stage) -> None:
        """A run that patches a page and completes."""
        run = stage.run("Refresh the page")
        stage.say(run, "Reading.")
        stage.hub.propose(run, {"docs/faq.md": "Because.\n"}, "Answer the question")
        stage.allow(stage.waiting(run)[0])
        stage.hub.complete(run, "The page is refreshed.")

    def tamper(self, draft: Draft, page: Page) -> Iterable[Draft]:
        """What is written instead of a draft."""
        return [draft]

    def event(self, event: dict[str, Any]) -> dict[str, Any]:
        """What an event becomes after it was stamped."""
        return event

    def view(self, view: dict[str, Any]) -> dict[str, Any]:
        """What is served instead of a view."""
        return view


class BrokenBook(Book):
    """A book that writes down whatever it is given."""

    fault: HubFault

    def _run(self, page: Page, decision: Any) -> tuple[Any, set[str]]:
        drafts = decision(page)
        while True:
            try:
                draft = next(drafts)
            except StopIteration as end:
                return end.value or {}, set()
            for written in self.fault.tamper(draft, page):
                self._write(page, self.fault.event(stamp(page, written)))

    def _write(self, page: Page, line: dict[str, Any]) -> None:
        try:
            learn(page, line, page.write(line))
        except IllegalMove:
            page.events.append(line)
            page.edit("stream", line["runId"]).data["sequence"] = line["sequence"]

    def snapshot(self, model: str, document: dict[str, Any], stream: str | None = None) -> dict[str, Any]:
        self.capture.snapshot(model, self.fault.view(document), document["lastEventAt"])
        return document


class BrokenStage(Stage):
    """A stage whose Hub has a fault."""

    def __init__(self, fault: HubFault, capture: LineCapture):
        self.fault, store = fault, MemoryStore()
        super().__init__(lambda: store, capture)

    def boot(self, habits: Any = None) -> Any:
        hub = super().boot(habits)
        hub.book.__class__ = type("Broken", (BrokenBook,), {"fault": self.fault})
        return hub


def capture_of(fault: HubFault) -> str:
    """What a broken Hub leaves behind after its story."""
    text = io.StringIO()
    stage = BrokenStage(fault, LineCapture(text, Contract("agenthub/1"), completeness="prefix"))
    fault.story(stage)
    stage.close()
    return text.getvalue()


def told(draft: Draft, **changes: Any) -> Draft:
    return replace(draft, payload={**draft.payload, **changes})


class Asking:
    """A run that asks for a command; nobody has answered yet."""

    def story(self, stage):
        stage.ask(stage.run("Build the docs"), "shell", command="make docs")


class Lapsing(Asking):
    """A run whose question nobody answers."""

    def story(self, stage):
        super().story(stage)
        stage.clock.advance(400_000)
        stage.hub.tick()


class Slow:
    """A run that uses up its time."""

    def story(self, stage):
        stage.say(stage.run("Index the pages"), "Indexing.")
        stage.clock.advance(700_000)
        stage.hub.tick()


class Silent:
    """A run of which nothing is heard."""

    def story(self, stage):
        stage.hub.complete(stage.run("Summarise"), "Four changes.")


class Reading:
    """A run that reads a page."""

    path = "docs/faq.md"

    def story(self, stage):
        run = stage.run("Read the page")
        stage.hub.act(run, Action("read_file", {"path": self.path}))
        stage.hub.complete(run, "It is read.")


class ApprovesByTimeout(Lapsing, HubFault):
    """Nobody answers, and that counts as consent."""

    rule = "AHB011"

    def tamper(self, draft, page):
        if draft.type == "run.approval.resolved":
            return [told(draft, decision="approved", basis=None, reason=None)]
        return [] if draft.type == "run.cancelled" else [draft]


class AppliesWithoutConsent(HubFault):
    """It applies under an approval that nobody was asked for."""

    rule = "AHB007"

    def tamper(self, draft, page):
        return [told(draft, approvalId="apr_none")] if draft.type == "run.apply.started" else [draft]


class AppliesAnotherPatch(HubFault):
    """One patch was reviewed, and another is applied."""

    rule = "AHB014"

    def tamper(self, draft, page):
        return [told(draft, affectedFiles=["docs/faq.md", "scripts/build.py"])] if "apply" in draft.type else [draft]


class RunsBeforeTheDecision(Asking, HubFault):
    """The command is back before anybody decided about it."""

    rule = "AHB013"

    def tamper(self, draft, page):
        yield draft
        if draft.type == "run.approval.requested":
            result = {"callId": "call_1", "toolName": "shell", "content": "Built.", "isError": False}
            yield Draft("run.tool.result", draft.run, result)


class NeverAsks(Asking, HubFault):
    """It runs a command and asks nobody."""

    rule = "AHB015"

    def tamper(self, draft, page):
        if draft.type == "run.approval.requested":
            result = {"callId": "call_1", "toolName": "shell", "content": "Built.", "isError": False}
            return [Draft("run.tool.result", draft.run, result)]
        return [draft]

    def story(self, stage):
        stage.hub.act(stage.run("Build the docs"), Action("shell", {"command": "make docs"}))


class AsksForAnything(Asking, HubFault):
    """It asks for a command behind a word that names nothing."""

    rule = "AHB012"

    def tamper(self, draft, page):
        return [told(draft, summary="Continue?")] if draft.type == "run.approval.requested" else [draft]


class CompletesWithoutAStart(Silent, HubFault):
    """It says that a run is done which never started."""

    rule = "STA001"

    def tamper(self, draft, page):
        return [] if draft.type == "run.started" else [draft]


class EndsTwice(HubFault):
    """A run that is completed is cancelled as well."""

    rule = "TRM001"

    def tamper(self, draft, page):
        yield draft
        if draft.type == "run.completed":
            yield Draft("run.cancelled", draft.run, {"actor": MIRA, "reason": "user_requested"})


class GoesOnAfterARejection(HubFault):
    """The reviewer said no, and the run works on."""

    rule = "TRM001"

    def story(self, stage):
        run = stage.run("Push it")
        stage.hub.decide(stage.ask(run, "git_push", destination="origin"), "rejected", JON)

    def tamper(self, draft, page):
        if draft.type == "run.cancelled":
            text = {"messageId": "msg_on", "text": "Going on."}
            return [draft, Draft("run.message.delta", draft.run, text)]
        return [draft]


class HidesThinEvidence(Silent, HubFault):
    """A run that shows nothing passes for a whole one."""

    rule = "AHB008"

    def tamper(self, draft, page):
        return [told(draft, degraded=None, degradedReason=None)] if draft.type == "run.completed" else [draft]


class DegradedForNoReason(Silent, HubFault):
    """It says that a run is degraded and not what is missing."""

    rule = "AHB009"

    def tamper(self, draft, page):
        return [told(draft, degradedReason="Degraded")] if draft.type == "run.completed" else [draft]


class StartsOnAFailedCheck(HubFault):
    """The workspace is not allowed, and the run starts in it."""

    rule = "AHB005"

    def story(self, stage):
        stage.hub.launch(stage.run("Tidy up", "Created", workspace="ws_private"))

    def tamper(self, draft, page):
        return [] if draft.type == "run.failed" else [draft]


class TimesOutAndCompletes(Slow, HubFault):
    """It reports that the time ran out, and completes."""

    rule = "AHB027"

    def tamper(self, draft, page):
        if draft.type == "run.failed":
            ended = {"finalResponse": "Done.", "artifacts": [], "diffState": {"status": "none"}, "metrics": {}}
            ended |= {"audit": {"refs": ["audit://end"]}, "transcriptRef": "transcript://run"}
            return [Draft("run.completed", draft.run, ended)]
        return [draft]


class BlamesTheReviewer(Slow, HubFault):
    """It puts a timeout down to a reviewer who was never asked."""

    rule = "AHB022"

    def tamper(self, draft, page):
        return [] if draft.type == "runtime.timeout" else [
            told(draft, code="approval_rejected") if draft.type == "run.failed" else draft
        ]  # fmt: skip


class ReadsOutside(Reading, HubFault):
    """It reads beyond the allowlist, and says so."""

    rule = "AHB016"

    def tamper(self, draft, page):
        return [told(draft, path="private/notes.md")] if draft.type == "run.file.read" else [
            told(draft, input={"path": "private/notes.md"}) if draft.type == "run.tool.call" else draft
        ]  # fmt: skip


class ReadsInSecret(Reading, HubFault):
    """It reads a page and keeps no record of it."""

    rule = "AHB017"

    def tamper(self, draft, page):
        return [] if draft.type == "run.file.read" else [draft]


class LosesAnArtifact(HubFault):
    """The end does not list what the run had announced."""

    rule = "AHB021"

    def story(self, stage):
        run = stage.run("Report")
        stage.hub.report(run, "run.artifact.ready", {"artifactId": "a", "kind": "report", "path": "docs/report.md"})
        stage.hub.complete(run, "It is reported.")

    def tamper(self, draft, page):
        return [told(draft, artifacts=[])] if draft.type == "run.completed" else [draft]


class LeaksAPath(HubFault):
    """A path of the machine stands in a message."""

    rule = "RED002"

    def event(self, event):
        if event["type"] == "run.message.completed":
            return event | {"payload": event["payload"] | {"text": "Reading /home/mira/docs/faq.md"}}
        return event


class CountsBackwards(HubFault):
    """Sequences fall."""

    rule = "ORD001"

    def event(self, event):
        return event | {"sequence": 1} if event["type"] == "run.completed" else event


class FailsForNothing(Slow, HubFault):
    """A failure that names neither what broke nor what to do."""

    rule = "AHB025"

    def tamper(self, draft, page):
        return [told(draft, safeMessage="Something went wrong.")] if draft.type == "run.failed" else [draft]


class ShowsWhatIsNotSo(HubFault):
    """Its view shows a run as read only that applies a change."""

    rule = "SNP024"

    def story(self, stage):
        stage.ask(stage.run("Build the docs"), "shell", command="make docs")

    def view(self, view):
        return view | {"reviewMode": "read_only"}
