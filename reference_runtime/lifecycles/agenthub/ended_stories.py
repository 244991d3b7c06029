"""Stories of runs that fail, are cancelled, are thin on evidence, or outlive their process."""

from __future__ import annotations

from reference_runtime.lifecycles.agenthub import applying
from reference_runtime.lifecycles.agenthub.acts import Action
from reference_runtime.lifecycles.agenthub.stage import JON, MIRA, PHASES, Stage


def failures_and_recovery(stage: Stage) -> None:
    """A runtime that is not logged in, a shape that is wrong, a time that runs out; the next try is another run."""
    hub = stage.hub
    stage.adapter.trouble = "not_logged_in"
    run = stage.run("Rebuild the search index", "Preparing")
    stage.adapter.trouble = None
    again = hub.again(run)["runId"]
    for step in (hub.plan, hub.accept, hub.prepare, hub.start):
        step(again)
    hub.report(again, "run.message.delta", {"messageId": "msg_1"})
    slow = hub.again(again)["runId"]
    for step in (hub.plan, hub.accept, hub.prepare, hub.start):
        step(slow)
    hub.act(slow, Action("check_links", {}, result="Half of them work"))
    stage.clock.advance(700_000)
    hub.tick()


def refused_before_the_start(stage: Stage) -> None:
    """A workspace that the Edge was not allowed, credentials that are not apart, an action that policy denies."""
    stage.run("Tidy the drafts", "Preparing", workspace="ws_private")
    stage.edge.credentials_apart = False
    stage.run("Tidy the pages", "Preparing")
    stage.edge.credentials_apart = True
    run = stage.run("Bill the customers", gates={"secret_access": "deny"})
    stage.hub.act(run, Action("get_secret", {"name": "billing-key"}, needed=True))


def ends_outside_the_diagram(stage: Stage) -> None:
    """An Edge that is lost fails its runs in every phase; one that was never there fails them before they start."""
    for phase in PHASES:
        stage.run(f"Lost while {phase}", phase)
    waiting, applied = stage.run("Lost while waiting"), stage.run("Lost while applying")
    stage.ask(waiting, "shell", command="make docs")
    _begin(stage, applied)
    stage.hub.lose("edge_studio")
    stage.run("Never accepted", "Accepted")


def cancelled_in_every_phase(stage: Stage) -> None:
    """A run can be cancelled in every phase before its end."""
    for phase in PHASES:
        stage.hub.cancel(stage.run(f"Cancelled while {phase}", phase), MIRA, message="Not needed any more.")
    waiting, applied = stage.run("Cancelled while waiting"), stage.run("Cancelled while applying")
    stage.ask(waiting, "shell", command="make docs")
    stage.hub.cancel(waiting, MIRA)
    _begin(stage, applied)
    stage.hub.cancel(applied, MIRA, "superseded")


def thin_evidence(stage: Stage) -> None:
    """A run that shows too little completes as degraded, and says which evidence is missing."""
    stage.hub.complete(stage.run("Summarise the changelog"), "Four changes since the last release.")
    run = stage.run("Index the pages")
    stage.hub.decide(stage.ask(run, "shell", command="make index"), "approved", JON)
    stage.hub.complete(run, "The index is built.")


def stopped_in_the_middle(stage: Stage) -> None:
    """A process is killed: files show what was applied, what waits goes on waiting, and the rest has failed."""
    written, half, waiting = (stage.run(title) for title in ("Add a page", "Start the build", "Deploy the build"))
    stage.run("Read the pages")
    stage.hub.propose(written, {"docs/new.md": "New.\n"}, "Add a page")
    (approval,) = stage.waiting(written)
    stage.hub.decide(approval, "approved", JON)
    _intend(stage, approval)
    stage.files.write("docs/new.md", b"New.\n")
    _begin(stage, half)
    asked = stage.ask(waiting, "deploy", destination="staging")
    stage.restart("kill")
    stage.hub.decide(asked, "approved", JON)
    stage.hub.apply(asked)
    stage.hub.complete(waiting, "The build is deployed.")


def _begin(stage: Stage, run: str) -> None:
    """An approved command is about to be run."""
    approval = stage.ask(run, "shell", command="make docs")
    stage.hub.decide(approval, "approved", JON)
    _intend(stage, approval)


def _intend(stage: Stage, approval: str) -> None:
    """The Edge says what it is about to do, and does not get to do it."""
    stage.hub.book.take(lambda page: applying.begin(page, page.need("approval", approval)))


STORIES = (
    failures_and_recovery,
    refused_before_the_start,
    ends_outside_the_diagram,
    cancelled_in_every_phase,
    thin_evidence,
    stopped_in_the_middle,
)
