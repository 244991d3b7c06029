"""Faults about how runs end, what supersedes them, and what is left of a commit."""

import contextlib
from dataclasses import replace

from reference_runtime.lifecycles.agent_threads import decisions
from reference_runtime.lifecycles.agent_threads.decisions import Said, Stands
from reference_runtime.lifecycles.agent_threads.host import event
from reference_runtime.lifecycles.agent_threads.views import run_record
from tests.broken.ledgers import DiedError, LedgerFault


def becomes(draft, status):
    """True for the record with which a run gets a status."""
    return isinstance(draft, Stands) and draft.record["status"] == status


def others(page, draft, *states):
    """The other runs of the thread that stand like this."""
    found = page.find("run", thread_id=draft.record["threadId"])
    return [run for run in found if run.id != draft.record["runId"] and run.state in states]


def again(page, run, **facts):
    return Stands(run_record(page, run.id) | facts)


class SupersedesWithoutACommit(LedgerFault):
    """A run fails, and the answer that stood there is superseded by nothing."""

    rule = "ATH001"

    def story(self, host):
        question, _ = host.exchange("q", "a")
        host.regenerate(question, "b")
        host.ledger.finalize(host.answer(question), "failed")

    def tamper(self, page, draft):
        yield draft
        if becomes(draft, "failed"):
            for run in others(page, draft, "committed"):
                if run.data["forkFromMessageId"]:
                    yield again(page, run, status="superseded", finishedAt=draft.record["finishedAt"])


class LetsTwoAnswersStand(LedgerFault):
    """A commit supersedes nobody."""

    rule = "ATH002"

    def story(self, host):
        question, _ = host.exchange("q", "a")
        host.regenerate(question, "b")
        host.regenerate(question, "c")

    def tamper(self, page, draft):
        return [] if becomes(draft, "superseded") else [draft]


class SupersedesABeginning(LedgerFault):
    """A run without a fork supersedes another one without."""

    rule = "ATH025"

    def story(self, host):
        host.ledger.finalize(host.answer(None), "committed")
        host.ledger.finalize(host.answer(None), "committed")

    def tamper(self, page, draft):
        yield draft
        if becomes(draft, "committed"):
            for run in others(page, draft, "committed"):
                yield again(page, run, status="superseded")


class BringsAnAnswerBack(LedgerFault):
    """The newer answer fails to please, and the superseded one is committed again."""

    rule = "TRM001"

    def story(self, host):
        question, _ = host.exchange("q", "a")
        host.regenerate(question, "b")
        host.regenerate(question, "c")
        host.ledger.finalize(host.answer(question), "cancelled")

    def tamper(self, page, draft):
        yield draft
        if becomes(draft, "cancelled"):
            for run in others(page, draft, "superseded"):
                yield again(page, run, status="committed")


class EndsTwice(LedgerFault):
    """A failed run is cancelled as well."""

    rule = "TRM001"

    def story(self, host):
        host.ledger.finalize(host.answer(None), "failed")

    def tamper(self, page, draft):
        yield draft
        if becomes(draft, "failed"):
            yield replace(draft, record=draft.record | {"status": "cancelled"})


class MovesTheEnd(LedgerFault):
    """A finalization that is tried again takes effect again."""

    rule = "ATH006"

    def story(self, host):
        run = host.answer(None)
        host.ledger.finalize(run, "failed")
        host.ledger.finalize(run, "failed")

    def patch(self, patcher):
        def finalize(run, status):
            def decide(page):
                yield again(page, page.need("run", run), status=status, finishedAt=page.now())
                return {"committed": True, "supersededRunIds": []}

            return decide

        patcher.setattr(decisions, "finalize", finalize)


class CommitsUnactivated(LedgerFault):
    """A run is committed that was never activated."""

    rule = "STA001"

    def story(self, host):
        host.commits(host.answer(None))

    def tamper(self, page, draft):
        if not becomes(draft, "streaming"):
            return [draft]
        page.edit("run", draft.record["runId"]).state = "streaming"
        return []


class WritesAfterTheEnd(LedgerFault):
    """The last word of an answer comes after the run was finalized."""

    rule = "TRM001"
    last = event("text-delta", delta="!")

    def story(self, host):
        run = host.answer(None)
        host.says(run, "x")
        host.ledger.finalize(run, "failed")

    def tamper(self, page, draft):
        yield draft
        if becomes(draft, "failed"):
            yield Said(draft.record["runId"], self.last, draft.record["finishedAt"])


class NotesAfterTheEnd(WritesAfterTheEnd, LedgerFault):
    """An event of an unknown kind comes after the run was finalized."""

    rule = "ATH003"
    last = event("acme-note", n=1)


class CommitsTheStatusAlone(LedgerFault):
    """The process dies between the status of a commit and its messages."""

    rule = "ATH018"

    def story(self, host):
        with contextlib.suppress(DiedError):
            host.exchange("q", "a")
        host.restart()
        host.looks()

    def keeps(self, change):
        whole = [record for record in change.records if record.kind != "message"]
        cut, change.records = len(whole) < len(change.records), whole
        return not cut


class CommitsBeforeItSupersedes(LedgerFault):
    """The process dies between a commit and the supersession of the answer before."""

    rule = "ATH002"

    def story(self, host):
        question, _ = host.exchange("q", "a")
        host.regenerate(question, "b")
        with contextlib.suppress(DiedError):
            host.regenerate(question, "c")
        host.restart()
        for record in host.ledger.runs("t"):
            host.capture.event({"record": "run", **record})

    def keeps(self, change):
        replaced = {line["runId"] for line in change.events if line.get("status") == "superseded"}
        change.events = [line for line in change.events if line.get("status") != "superseded"]
        change.streams = change.streams[: len(change.events)]
        change.records = [record for record in change.records if record.id not in replaced]
        return not replaced


class Miscounts(LedgerFault):
    """A commit stores one message less than it counts."""

    rule = "ATH004"

    def story(self, host):
        run = host.answer(None)
        host.says(run, "x")
        host.commits(run)

    def tamper(self, page, draft):
        if becomes(draft, "committed"):
            return [replace(draft, record=draft.record | {"messageCount": draft.record["messageCount"] + 1})]
        return [draft]


class CommitsAnOpenCall(LedgerFault):
    """A run commits while a tool call waits for its result."""

    rule = "ATH010"

    def story(self, host):
        run = host.answer(None)
        host.says(run, event("tool-call", toolCallId="c", toolName="look", input={}))
        with contextlib.suppress(decisions.CommandRejected):
            host.commits(run)
        host.ledger.finalize(run, "cancelled")

    def patch(self, patcher):
        patcher.setattr(decisions, "closed", lambda run: None)
