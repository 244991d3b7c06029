"""What a Hub does with one run: gates in force, consent for one thing only, honest ends, settled crashes."""

import json

import pytest

from reference_runtime.errors import CommandRejected, IllegalMove
from reference_runtime.lifecycles.agenthub import applying
from reference_runtime.lifecycles.agenthub.acts import Action
from reference_runtime.lifecycles.agenthub.places import Habits, Wish
from reference_runtime.lifecycles.agenthub.stage import JON, MIRA, PHASES, Stage
from reference_runtime.log.memory import MemoryStore


@pytest.fixture
def stage():
    store = MemoryStore()
    return Stage(lambda: store)


def told(stage, run, kind):
    return [line["payload"] for line in stage.hub.events(run) if line["type"] == kind]


def begun(stage, run):
    """An approval under which something is about to be applied."""
    (approval,) = stage.waiting(run)
    stage.hub.decide(approval, "approved", JON)
    stage.hub.book.take(lambda page: applying.begin(page, page.need("approval", approval)))
    return approval


def test_a_write_waits_and_leaves_no_trace_when_it_is_refused(stage):
    run = stage.run("Write")
    before = dict(stage.files.files)
    approval = stage.ask(run, "write_file", path="docs/faq.md", text="Changed.\n")
    assert stage.files.files == before
    stage.hub.decide(approval, "rejected", JON)
    with pytest.raises(CommandRejected):
        stage.hub.apply(approval)
    assert stage.files.files == before
    assert stage.hub.view(run)["state"] == "Cancelled"


def test_consent_is_for_one_action_once(stage):
    run = stage.run("Write")
    approval = stage.ask(run, "write_file", path="docs/faq.md", text="Changed.\n")
    stage.allow(approval)
    assert stage.files.files["docs/faq.md"] == b"Changed.\n"
    with pytest.raises(CommandRejected, match="Nothing approved is left"):
        stage.hub.apply(approval)


def test_an_approval_is_decided_once(stage):
    approval = stage.ask(stage.run("Push"), "git_push", destination="origin")
    stage.hub.decide(approval, "approved", JON)
    with pytest.raises(CommandRejected, match="resolved already"):
        stage.hub.decide(approval, "rejected", JON)


def test_who_asks_does_not_decide(stage):
    approval = stage.ask(stage.run("Push"), "git_push", destination="origin")
    with pytest.raises(CommandRejected, match="does not decide"):
        stage.hub.decide(approval, "approved", {"id": "docs-agent", "kind": "agent"})


def test_a_request_of_the_wrong_shape_changes_nothing(stage):
    approval = stage.ask(stage.run("Push"), "git_push", destination="origin")
    before = stage.hub.book.store.position()
    for act in (
        lambda: stage.hub.create({"task": {}}, Wish("edge_studio", "cli-adapter")),
        lambda: stage.hub.decide(approval, "perhaps", JON),
        lambda: stage.hub.decide(approval, "approved", {"kind": "user"}),
    ):
        with pytest.raises(CommandRejected) as refusal:
            act()
        assert refusal.value.category == "invalid_request"
    assert stage.hub.book.store.position() == before


def test_audit_evidence_tells_who_allowed_what_and_what_the_files_held(stage):
    run = stage.run("Patch")
    stage.hub.propose(run, {"docs/faq.md": "Because.\n"}, "Answer the question")
    stage.allow(stage.waiting(run)[0])
    (reference,) = told(stage, run, "run.apply.completed")[0]["audit"]["refs"]
    evidence = stage.hub.content(reference)
    assert evidence["decidedBy"] == JON
    assert evidence["carriedOutBy"]["kind"] == "edge"
    assert evidence["before"].keys() == evidence["after"].keys() == {"docs/faq.md"}
    assert evidence["before"] != evidence["after"]
    assert reference in stage.hub.view(run)["links"]["audit"]


def test_a_read_outside_discloses_nothing(stage):
    run = stage.run("Read")
    stage.files.write("private/notes.md", b"hush")
    for path in ("private/notes.md", "../private/notes.md", "/private/notes.md"):
        stage.hub.act(run, Action("read_file", {"path": path}))
    assert told(stage, run, "run.file.read") == []
    assert {result["isError"] for result in told(stage, run, "run.tool.result")} == {True}
    assert "hush" not in json.dumps(stage.hub.events(run))


def test_content_of_files_and_paths_of_machines_stay_out_of_events(stage):
    run = stage.run("Read")
    stage.hub.act(run, Action("read_file", {"path": "docs/quickstart.md"}))
    stage.ask(run, "write_file", path="docs/faq.md", text="Secret plan.\n")
    stage.hub.report(run, "run.message.completed", {"messageId": "m", "text": "See /home/mira/notes.md"})
    text = json.dumps(stage.hub.events(run))
    assert not any(word in text for word in ("Install it", "Secret plan", "/home/mira"))
    (read,) = told(stage, run, "run.file.read")
    assert stage.hub.content(read["previewRef"]).startswith("Install it")


@pytest.mark.parametrize("needed", [False, True])
def test_a_denied_action_fails_the_run_only_when_the_run_needs_it(stage, needed):
    run = stage.run("Bill")
    stage.hub.act(run, Action("get_secret", {"name": "billing-key"}, needed=needed))
    assert stage.hub.view(run)["failureCode"] == ("permission_denied" if needed else None)


def test_a_denial_does_not_end_a_run_that_waits(stage):
    run = stage.run("Bill")
    stage.ask(run, "git_push", destination="origin")
    stage.hub.act(run, Action("get_secret", {"name": "billing-key"}, needed=True))
    assert stage.hub.view(run)["state"] == "NeedsApproval"


@pytest.mark.parametrize("phase", ["Preparing", "Running", "NeedsApproval", "Applying"])
def test_time_runs_out_in_every_phase_that_uses_it(stage, phase):
    run = stage.run("Slow", "Preparing" if phase == "Preparing" else "Running", answer_ms=10**9)
    if phase in {"NeedsApproval", "Applying"}:
        stage.ask(run, "shell", command="make")
    if phase == "Applying":
        begun(stage, run)
    assert stage.hub.view(run)["state"] == phase
    assert stage.hub.tick() == []
    stage.clock.advance(601_000)
    assert stage.hub.tick() == [run]
    view = stage.hub.view(run)
    assert (view["state"], view["failureCode"]) == ("Failed", "run_timeout")
    assert [entry["type"] for entry in view["triage"]] == ["runtime.timeout"]
    assert stage.hub.tick() == []


def test_an_answer_that_comes_too_late_is_no_consent(stage):
    run = stage.run("Push")
    approval = stage.ask(run, "git_push", destination="origin")
    stage.clock.advance(300_000)
    assert stage.hub.decide(approval, "approved", JON)["state"] == "Cancelled"
    (decision,) = stage.hub.view(run)["decidedApprovals"]
    assert (decision["decision"], decision["actor"]["kind"]) == ("cancelled", "edge")


@pytest.mark.parametrize("phase", [*PHASES, "NeedsApproval", "Applying"])
def test_a_run_can_be_cancelled_in_every_phase_and_then_stays_so(stage, phase):
    run = stage.run("Stop", phase if phase in PHASES else "Running")
    if phase not in PHASES:
        stage.ask(run, "shell", command="make")
    if phase == "Applying":
        begun(stage, run)
    stage.hub.cancel(run, MIRA)
    assert stage.hub.view(run)["cancellation"] == {"actor": MIRA, "reason": "user_requested"}
    with pytest.raises(IllegalMove):
        stage.hub.cancel(run, MIRA)
    with pytest.raises(IllegalMove):
        stage.hub.start(run)


def test_only_a_decision_ends_a_run_for_a_decision(stage):
    with pytest.raises(CommandRejected, match="Only a decision"):
        stage.hub.cancel(stage.run("Stop"), MIRA, "approval_rejected")


def test_a_run_that_waits_does_not_complete(stage):
    run = stage.run("Push")
    stage.ask(run, "git_push", destination="origin")
    with pytest.raises(IllegalMove):
        stage.hub.complete(run, "Done.")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"online": False}, "target_offline"),
        ({"workspaces": {}}, "workspace_outside_allowlist"),
        ({"adapters": {}}, "runtime_unavailable"),
        ({"credentials_apart": False}, "permission_denied"),
    ],
)
@pytest.mark.parametrize("silent", [(), ("planned", "accepted", "preparing")])
def test_a_run_that_must_not_start_fails_also_when_its_phases_are_silent(stage, change, code, silent):
    for name, value in change.items():
        setattr(stage.edge, name, value)
    stage.hub.habits = Habits(frozenset(silent))
    run = stage.run("Start", "Created")
    assert stage.hub.launch(run)["state"] == "Failed"
    view = stage.hub.view(run)
    assert (view["failureCode"], view["startedAt"]) == (code, None)
    assert view["nextAction"].endswith(".")


def test_trouble_at_the_edge_does_not_end_a_run_that_is_past_it(stage):
    run = stage.run("Run")
    stage.edge.online = False
    for step in (stage.hub.accept, stage.hub.prepare, stage.hub.start):
        with pytest.raises(IllegalMove):
            step(run)
    assert stage.hub.view(run)["state"] == "Running"


@pytest.mark.parametrize(
    ("kind", "payload", "pointer"),
    [
        ("run.message.delta", {"messageId": "m"}, "/payload"),
        ("run.message.delta", {"messageId": "m", "text": 7}, "/payload/text"),
        ("run.artifact.ready", {"artifactId": "a", "kind": "report", "path": "../x"}, "/payload/path"),
        ("run.artifact.ready", {"artifactId": "a", "kind": "screenshot"}, "/payload"),
    ],
)
def test_a_wrong_shape_ends_the_run_and_is_not_repeated(stage, kind, payload, pointer):
    run = stage.run("Talk")
    stage.hub.report(run, kind, payload)
    (fault,) = told(stage, run, "schema.validation_failed")
    assert (fault["eventType"], fault["pointer"]) == (kind, pointer)
    assert told(stage, run, kind) == []
    assert stage.hub.view(run)["failureCode"] == "schema_validation_failed"


def test_an_adapter_does_not_tell_what_the_edge_tells(stage):
    run = stage.run("Talk")
    for kind in ("run.completed", "run.tool.result", "run.approval.resolved", "run.patch.proposed"):
        with pytest.raises(CommandRejected, match="does not tell"):
            stage.hub.report(run, kind, {})


@pytest.mark.parametrize(
    ("before_the_kill", "status"),
    [(lambda files: files.write("docs/new.md", b"New.\n"), "applied"), (lambda files: None, "failed"),
     (lambda files: files.write("docs/new.md", b"Ne"), "unknown")],
)  # fmt: skip
def test_a_crash_while_applying_is_settled_by_what_the_files_show(stage, before_the_kill, status):
    run = stage.run("Patch")
    stage.hub.propose(run, {"docs/new.md": "New.\n"}, "Add a page")
    begun(stage, run)
    before_the_kill(stage.files)
    stage.restart()
    view = stage.hub.view(run)
    assert view["patches"][0]["applyStatus"] == status
    assert (view["state"], view["failureCode"]) == ("Failed", "runtime_unavailable")


@pytest.mark.parametrize(("full_after", "status"), [(0, "failed"), (1, "unknown")])
def test_a_disk_that_takes_no_more_leaves_no_patch_said_to_be_applied(stage, full_after, status):
    run, write, taken = stage.run("Patch"), stage.files.write, []
    stage.hub.propose(run, {"docs/faq.md": "Because.\n", "docs/new.md": "New.\n"}, "Change two pages")

    def full(path, data):
        if len(taken) == full_after:
            raise OSError("The disk is full.")
        taken.append(path)
        write(path, data)

    stage.files.write = full
    stage.allow(stage.waiting(run)[0])
    view = stage.hub.view(run)
    assert (view["state"], view["patches"][0]["applyStatus"]) == ("Running", status)
    stage.hub.complete(run, "The disk was full.")
    view = stage.hub.view(run)
    assert view["diffState"]["status"] == ("proposed" if status == "failed" else "unknown")
    assert view["degraded"] == (status == "unknown")


def test_a_run_that_is_ended_while_it_applies_leaves_evidence_all_the_same(stage):
    run, write = stage.run("Patch"), stage.files.write
    stage.hub.propose(run, {"docs/faq.md": "Because.\n"}, "Answer the question")
    (approval,) = stage.waiting(run)

    def overtaken(path, data):
        write(path, data)
        stage.hub.cancel(run, MIRA)

    stage.files.write = overtaken
    with pytest.raises(IllegalMove):
        stage.allow(approval)
    assert stage.hub.content(f"audit://{run}/{approval}")["applyStatus"] == "applied"
    assert stage.hub.view(run)["state"] == "Cancelled"


def test_a_command_whose_end_nobody_saw_is_not_said_to_have_run(stage):
    run = stage.run("Build")
    stage.ask(run, "shell", command="make docs")
    begun(stage, run)
    stage.restart()
    assert told(stage, run, "run.apply.completed")[0]["applyStatus"] == "unknown"
    assert told(stage, run, "run.tool.result")[0]["isError"] is True


def test_another_try_is_another_run_of_the_same_task(stage):
    run = stage.run("Build")
    with pytest.raises(CommandRejected, match="failed or was cancelled"):
        stage.hub.again(run)
    stage.hub.cancel(run, MIRA)
    again = stage.hub.again(run)["runId"]
    assert again != run
    assert stage.hub.view(again)["task"] == stage.hub.view(run)["task"]
    assert stage.hub.view(run)["state"] == "Cancelled"


def test_thin_evidence_is_said_to_be_thin(stage):
    silent, lost, whole = stage.run("Say nothing"), stage.run("Lose a result"), stage.run("Say all")
    stage.hub.complete(silent, "Done.")
    stage.hub.decide(stage.ask(lost, "shell", command="make"), "approved", JON)
    stage.hub.complete(lost, "Done.")
    stage.say(whole, "Done.")
    stage.hub.complete(whole, "Done.")
    views = [stage.hub.view(run) for run in (silent, lost, whole)]
    assert [view["degraded"] for view in views] == [True, True, False]
    assert "no message, tool, file or artifact" in views[0]["degradedReason"]
    assert "shell" in views[1]["degradedReason"]


def test_a_timeline_goes_on_where_it_was(stage):
    run = stage.run("Talk")
    seen = stage.hub.events(run)
    stage.say(run, "More.")
    assert [line["sequence"] for line in stage.hub.events(run, after=len(seen))] == [len(seen) + 1, len(seen) + 2]


def test_nobody_runs_anything_that_is_not_there(stage):
    with pytest.raises(CommandRejected, match="no such run"):
        stage.hub.plan("run_9")
    with pytest.raises(CommandRejected, match="no such Edge"):
        stage.hub.create({}, Wish("edge_nowhere", "cli"))
    with pytest.raises(CommandRejected, match="has not started"):
        stage.hub.report(stage.run("Early", "Created"), "run.message.delta", {})
    with pytest.raises(CommandRejected, match="has not started"):
        stage.hub.propose(stage.run("Early", "Planned"), {"docs/faq.md": "x"}, "Too early")
    with pytest.raises(CommandRejected, match="allowlisted"):
        stage.hub.propose(stage.run("Astray"), {"src/x.py": "x"}, "Elsewhere")
