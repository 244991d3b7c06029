"""Faults about messages, transcripts, trees and views, and about what stands on a stream."""

import contextlib

from reference_runtime.capture import NoCapture
from reference_runtime.errors import CommandRejected
from reference_runtime.lifecycles.agent_threads import branches, decisions, ledger, pieces, views
from reference_runtime.lifecycles.agent_threads.decisions import Said, Stands
from reference_runtime.lifecycles.agent_threads.host import call, event
from reference_runtime.lifecycles.agent_threads.observer import Observer
from reference_runtime.lifecycles.agent_threads.reducer import reduce
from tests.broken.ledger_faults import becomes
from tests.broken.ledgers import LedgerFault

STRANGER = "01KR3D1BP69CH7EXYMVMFWC73F"


class ForgetsTheFork(LedgerFault):
    """The first message of a forked run hangs under nothing."""

    rule = "ATH024"

    def tamper(self, page, draft):
        if becomes(draft, "committed"):
            for message in page.find("message", run_id=draft.record["runId"]):
                if message.data["parentMessageId"] == draft.record["forkFromMessageId"]:
                    message.data["parentMessageId"] = None
        return [draft]


class RewritesAMessage(LedgerFault):
    """What a superseded answer said is overwritten."""

    rule = "ATH019"

    def tamper(self, page, draft):
        if becomes(draft, "superseded"):
            for message in page.find("message", run_id=draft.record["runId"]):
                page.edit("message", message.id).data["parts"] = [{"type": "text", "text": "(replaced)"}]
        return [draft]


class FollowsTheFirst(LedgerFault):
    """The active transcript keeps to the first answer."""

    rule = "ATH020"

    def patch(self, patcher):
        patcher.setattr(branches, "_next", lambda children, chosen: children[0] if children else None)


class ListsRootsAsBranches(LedgerFault):
    """Two beginnings of a thread are shown as branches of one message."""

    rule = "ATH018"

    def story(self, host):
        host.exchange("q", "a")
        host.exchange("q again", "b")

    def patch(self, patcher):
        honest = branches.Branches.fork_points

        def fork_points(self):
            roots = [one.id for one in self._placed if one.parent is None]
            listed = {"forkMessageId": roots[0], "children": roots, "activeChildId": roots[-1]}
            return [*honest(self), *([listed] if len(roots) > 1 else [])]

        patcher.setattr(branches.Branches, "fork_points", fork_points)


class ServesHalfAnAnswer(LedgerFault):
    """The partial output of a failed run is shown as a message of the thread."""

    rule = "ATH017"

    def story(self, host):
        host.exchange("q", "a")
        run = host.ask("and?")
        host.ledger.finalize(run, "failed")
        host.ledger.transcript("t")

    def patch(self, patcher):
        honest = views.transcript

        def transcript(page, thread, branch="active"):
            served = honest(page, thread, branch)
            for run in page.find("run", thread_id=thread):
                if run.state == "failed":
                    said = reduce(line for line in page.log(run.data["streamId"]) if "record" not in line)
                    served["messages"] += [{"id": STRANGER, "parentMessageId": None, **message} for message in said]
            return served

        patcher.setattr(views, "transcript", transcript)


class ShowsAnOldStatus(LedgerFault):
    """The view of a superseded run says that it is committed."""

    rule = "ATH021"

    def patch(self, patcher):
        honest = views.run_view

        def run_view(page, run):
            view = honest(page, run)
            return view | ({"status": "committed"} if view["status"] == "superseded" else {})

        patcher.setattr(views, "run_view", run_view)


class GuessesAStatus(LedgerFault):
    """A reader that knows only the stream says that the run streams."""

    rule = "ATH021"

    def story(self, host):
        host.ledger.book.capture = NoCapture()
        run = host.ask("q")
        eye = Observer(host.ledger, host.capture)
        eye.follow(run)
        eye.unread(run)

    def patch(self, patcher):
        honest = Observer._show

        def show(self, model, document):
            return honest(self, model, document | {"status": "streaming"})

        patcher.setattr(Observer, "_show", show)


class ReportsARunTwice(LedgerFault):
    """A sweep tries a run again that it has just closed."""

    rule = "ATH022"

    def story(self, host):
        host.answer(None)
        host.ledger.book.clock.advance(6 * 60_000)
        host.ledger.recover_stale()

    def patch(self, patcher):
        honest = ledger.Ledger.stale
        patcher.setattr(ledger.Ledger, "stale", lambda self, older_than: honest(self, older_than) * 2)


class AnnouncesSupersession(LedgerFault):
    """The stream of the new answer says whom it replaces."""

    rule = "ATH023"

    def tamper(self, page, draft):
        if becomes(draft, "committed") and draft.record["forkFromMessageId"]:
            yield Said(draft.record["runId"], event("run-superseded", runId=STRANGER), draft.record["finishedAt"])
        yield draft


class SharesAStream(LedgerFault):
    """A regenerated answer is recorded on the stream of the first."""

    rule = "ATH008"

    def story(self, host):
        question, _ = host.exchange("q", "a")
        self.first = host.ledger.runs("t")[0]["streamId"]
        host.commits(host.answer(question))

    first = None

    def tamper(self, page, draft):
        if isinstance(draft, Stands) and self.first:
            return [Stands(draft.record | {"streamId": self.first})]
        return [draft]


class ForksFromNowhere(LedgerFault):
    """A run branches from a message that the thread does not have."""

    rule = "ATH013"

    def story(self, host):
        host.exchange("q", "a")
        with contextlib.suppress(CommandRejected):
            host.commits(host.answer(STRANGER))
        host.ledger.tree("t")

    def patch(self, patcher):
        honest = decisions.begin

        def begin(thread, fork):
            def decide(page):
                if fork == STRANGER:
                    page.edit("message", fork).thread = thread
                answer = yield from honest(thread, fork)(page)
                page._dirty.pop(("message", STRANGER), None)
                return answer

            return decide

        patcher.setattr(decisions, "begin", begin)


class MakesIdsElsewhere(LedgerFault):
    """The id of a run is made an hour after the run was created."""

    rule = "ATH007"

    def story(self, host):
        host.ledger.finalize(host.answer(None), "failed")

    def tamper(self, page, draft):
        return [Stands(draft.record | {"createdAt": "2026-05-08T08:00:00.000Z"})]


class LeaksAPath(LedgerFault):
    """A tool's input names a file in somebody's home."""

    rule = "RED001"

    def story(self, host):
        run = host.answer(None)
        host.says(run, call("c", "read", path="/home/alice/notes.txt"))
        host.ledger.finalize(run, "cancelled")

    def patch(self, patcher):
        patcher.setattr(ledger, "cleaned", lambda event, before: event)


class LeaksWhereTwoPiecesMeet(LedgerFault):
    """Neither of two deltas tells whose machine it was, and both together do."""

    rule = "RED002"

    def story(self, host):
        run = host.answer(None)
        host.says(run, "It is in /ho", "me/alice/notes.txt.")
        host.commits(run)
        host.ledger.transcript("t")

    def patch(self, patcher):
        patcher.setattr(ledger, "cleaned", lambda event, before: pieces.clean(event))


class LosesAnEvent(LedgerFault):
    """An event is stored, and the one before it is not."""

    rule = "ORD006"

    def line(self, line):
        return line | ({"seq": line["seq"] + 1} if line.get("seq") == 2 else {})


class TurnsTimeBack(LedgerFault):
    """The store's clock goes back between two appends."""

    rule = "ORD008"

    def line(self, line):
        return line | ({"timestamp": "2026-05-08T08:59:59.000Z"} if line.get("seq") == 2 else {})


class CountsAnewAfterARestart(LedgerFault):
    """After a restart a stream begins at one again."""

    rule = "ORD003"

    def story(self, host):
        run = host.ask("q")
        host.restart()
        self.gone = True
        host.says(run, "x")
        host.ledger.finalize(run, "cancelled")

    gone = False

    def line(self, line):
        return line | ({"seq": line["seq"] - 1} if self.gone and "seq" in line else {})
