"""Stories of runs that do their work: phases, gates, approvals, patches."""

from __future__ import annotations

from reference_runtime.lifecycles.agenthub.acts import Action
from reference_runtime.lifecycles.agenthub.places import Habits
from reference_runtime.lifecycles.agenthub.stage import JON, MIRA, Stage


def whole_lifecycle(stage: Stage) -> None:
    """A run passes every phase, applies a patch under its approval and completes."""
    hub, run = stage.hub, stage.run("Refresh the quickstart page")
    stage.say(run, "Reading the public docs ", "route map.")
    hub.act(run, Action("search_index", {"query": "install"}, result="Two pages"))
    hub.act(run, Action("read_file", {"path": "docs/quickstart.md"}))
    hub.propose(run, {"docs/quickstart.md": "Install it.\nCheck it.\nRun it.\n"}, "Add the new install step")
    (approval,) = stage.waiting(run)
    hub.remind(approval)
    stage.allow(approval)
    docs = {"kind": "generated_docs", "title": "Quickstart", "path": "docs/build/quickstart.html"}
    built = {"ref": "artifact://quickstart", "sourceRoute": "/en/docs/quickstart", "language": "en"}
    log = {"debugAttachment": {"ref": "debug://build-log", "mediaType": "text/plain"}}
    hub.report(run, "run.artifact.ready", {"artifactId": "docs", **docs, **built, "buildStatus": "succeeded", **log})
    shot = {"kind": "screenshot", "viewport": {"width": 1440, "height": 900}, "route": "/en/docs/quickstart"}
    look = {"theme": "dark", "language": "en", "privacyReview": "passed", "ref": "artifact://shot"}
    hub.report(run, "run.preview.ready", {"artifactId": "shot", **shot, **look})
    usage = {"inputTokens": 9120, "outputTokens": 1340, "costUsd": 0.08}
    hub.complete(run, "The quickstart shows the current install steps.", usage)


def every_gate(stage: Stage) -> None:
    """Every row of the gate table: allowed and recorded, asked about, allowed by policy, or denied."""
    stage.edge.flows = frozenset({"deploy-key"})
    hub, run = stage.hub, stage.run("Release the docs", gates={"network": "allow"})
    hub.act(run, Action("read_file", {"path": "docs/faq.md"}))
    hub.act(run, Action("read_file", {"path": "docs/none.md"}))
    for path in ("../notes.md", "/etc/hosts", "private/notes.md"):
        hub.act(run, Action("read_file", {"path": path}))
    hub.act(run, Action("write_file", {"path": "private/notes.md", "text": "x"}))
    hub.act(run, Action("fetch_url", {"destination": "fonts.example.org"}, result="Two fonts"))
    hub.act(run, Action("get_secret", {"name": "billing-key"}))
    hub.act(run, Action("get_secret", {"name": "deploy-key"}, result="Handed over by the release service"))
    hub.act(run, Action("summon", {}))
    stage.allow(stage.ask(run, "write_file", path="docs/faq.md", text="Why not?\n"))
    stage.allow(stage.ask(run, "shell", command="python scripts/build.py"))
    for tool, place in (("git_commit", "docs"), ("git_push", "origin"), ("publish", "registry"), ("deploy", "staging")):
        stage.allow(stage.ask(run, tool, destination=place))
    hub.complete(run, "The docs are released.")


def approvals_in_parallel(stage: Stage) -> None:
    """A run waits for all of its approvals, and goes on when the last of them is given."""
    hub, run = stage.hub, stage.run("Publish the changelog")
    asked = [stage.ask(run, "git_commit", destination="docs"), stage.ask(run, "git_push", destination="origin")]
    hub.view(run)
    hub.decide(asked[1], "approved", JON)
    hub.view(run)
    hub.decide(asked[0], "approved", MIRA)
    for approval in asked:
        hub.apply(approval)
    hub.complete(run, "One commit is pushed.")


def asked_in_vain(stage: Stage) -> None:
    """An approval that is rejected, withdrawn or never answered ends its run, and closes what else was pending."""
    for decision in ("rejected", "cancelled"):
        run = stage.run("Deploy the build")
        first, _ = stage.ask(run, "git_commit", destination="docs"), stage.ask(run, "deploy", destination="staging")
        stage.hub.decide(first, decision, JON)
        stage.hub.view(run)
    stage.ask(stage.run("Fetch two fonts"), "fetch_url", destination="fonts.example.org")
    stage.clock.advance(400_000)
    stage.hub.tick()
    approval = stage.ask(stage.run("Fetch the last font"), "fetch_url", destination="fonts.example.org")
    stage.clock.advance(400_000)
    stage.hub.decide(approval, "approved", JON, "Too late by a minute")


def rejection_in_other_words(stage: Stage) -> None:
    """A rejection told as a failure, or by the decision alone: the run is Cancelled all the same."""
    for rejection in ("failed", "nothing"):
        stage.hub.book.store.close()
        hub = stage.boot(Habits(rejection=rejection))
        run = stage.run("Push one commit")
        hub.decide(stage.ask(run, "git_push", destination="origin"), "rejected", JON)


def phases_in_silence(stage: Stage) -> None:
    """Phases that a producer leaves out are evidenced at the start."""
    everything = ("planned", "accepted", "preparing")
    for silent in (everything, everything[1:], everything[2:], everything[:1], everything[:2], ("accepted",)):
        stage.hub.book.store.close()
        hub = stage.boot(Habits(silent=frozenset(silent)))
        run = stage.run("Check the links", "Created")
        hub.launch(run)
        hub.act(run, Action("check_links", {}, result="All links work"))
        hub.complete(run, "Every link works.")


def a_patch_that_comes_too_late(stage: Stage) -> None:
    """A patch whose file was changed meanwhile is not applied, and a run that may not write proposes in vain."""
    hub, run = stage.hub, stage.run("Reword the answers")
    hub.propose(run, {"docs/faq.md": "Because.\n", "docs/new.md": "New.\n"}, "Answer the question")
    (approval,) = stage.waiting(run)
    stage.files.write("docs/faq.md", b"Why, indeed?\n")
    stage.allow(approval)
    hub.complete(run, "The page had changed; the patch is still a proposal.")
    closed = stage.run("Look at the answers", access="read_only")
    hub.propose(closed, {"docs/faq.md": "Because.\n"}, "Answer the question")
    hub.complete(closed, "The answer is proposed and may not be applied here.")


STORIES = (
    whole_lifecycle,
    every_gate,
    approvals_in_parallel,
    asked_in_vain,
    rejection_in_other_words,
    phases_in_silence,
    a_patch_that_comes_too_late,
)
