"""Members, siblings and open counts are found without looking at the subjects of others."""

from tests.unit.test_fold import event
from validator.protocol.protocol import load_protocol
from validator.replay.fold import Fold
from validator.replay.kin import Kin


def _visits(monkeypatch, fold, line):
    seen, find = [], Kin.of

    def noted(self, *place):
        found = find(self, *place)
        seen.extend(len(group) for _, group in found)
        return found

    monkeypatch.setattr(Kin, "of", noted)
    fold.apply(line)
    monkeypatch.undo()
    return sum(seen)


def _jobs(count):
    fold = Fold(load_protocol("agent-runtime"))
    for job in range(count):
        for kind, ids in (("job.created", {}), ("job.started", {}), ("job.item.started", {"job_item_id": f"i{job}"})):
            fold.apply(event(kind, {}, job_id=f"j{job}", **ids))
    return fold


def test_a_cancelled_job_visits_its_own_items_alone(monkeypatch):
    cancelled = event("job.cancelled", {}, job_id="j0")
    visits = {count: _visits(monkeypatch, _jobs(count), cancelled) for count in (2, 40)}
    assert visits[2] == visits[40] > 0


def test_a_completed_turn_visits_the_open_turns_of_its_thread_alone(monkeypatch):
    def fold(count):
        made = Fold(load_protocol("agent-runtime"))
        made.apply(event("thread.started", {}, thread_id="h"))
        for turn in range(count):
            made.apply(event("turn.submitted", {}, turn_id=f"t{turn}", thread_id="h"))
            made.apply(event("turn.started", {}, turn_id=f"t{turn}", thread_id="h"))
            if turn < count - 2:
                made.apply(event("turn.completed", {}, turn_id=f"t{turn}", thread_id="h"))
        return made

    visits = [
        _visits(monkeypatch, fold(count), event("turn.completed", {}, turn_id=f"t{count - 1}", thread_id="h"))
        for count in (3, 40)
    ]
    assert visits[0] == visits[1] > 0


def test_a_faded_subject_keeps_its_state_and_the_line_that_led_there(core):
    fold = Fold(core)
    for number, kind in enumerate(("turn.submitted", "turn.started", "turn.completed"), 1):
        fold.apply(event(kind, {}, turn_id="t", thread_id="h"), number)
    fold.fade(100, set())
    turn = fold.subjects["turn"].get("t")
    assert (turn.state, turn.history, turn.faded, len(fold.subjects["turn"])) == ("completed", [3], True, 0)
    refused = fold.apply(event("turn.started", {}, turn_id="t", thread_id="h"), 101).refusals
    assert [(entry.machine, entry.state) for entry in refused] == [("turn", "completed")]
    assert "u" not in fold.subjects["turn"]


def test_open_work_and_what_holds_it_never_fade(core):
    fold = Fold(core)
    fold.apply(event("thread.started", {}, thread_id="h"), 1)
    fold.apply(event("turn.submitted", {}, turn_id="t", thread_id="h"), 2)
    known, gone = fold.fade(100, set())
    assert ({"t", "h"} <= known, gone) == (True, set())
    assert not fold.subjects["thread"]["h"].faded


def test_a_fade_looks_once_at_what_open_work_was_seen_with(core):
    class Scope(dict):
        asked = 0

        def values(self):
            Scope.asked += 1
            return super().values()

    fold = Fold(core)
    for number in range(40):
        fold.apply(event("turn.submitted", {}, turn_id=f"t{number}", thread_id=f"h{number}"), number + 1)
    for subject in fold.open_work():
        subject.scope = Scope(subject.scope)
    known, gone = fold.fade(100, set())
    assert ({"t0", "h0", "t39", "h39"} <= known, gone, Scope.asked) == (True, set(), 40)


def _record(number, status):
    told = {"record": "run", "runId": f"r{number}", "threadId": "t", "streamId": f"run:r{number}", "status": status}
    return {**told, "forkFromMessageId": "m", "createdAt": "2026-05-08T09:00:00Z", "finishedAt": None}


def _committed(count):
    fold = Fold(load_protocol("agent-threads"))
    for number in range(count):
        fold.apply(_record(number, "streaming"), number)
        fold.apply(_record(number, "committed"), number)
    return fold


def test_a_commit_takes_one_row_for_all_siblings_that_stay_superseded():
    for count in (3, 40):
        fold = _committed(count)
        fold.apply(_record(count, "streaming"))
        step = fold.apply(_record(count, "committed"))
        assert [(move.subject, move.target) for move in step.moves] == [
            (f"r{count}", "committed"),
            (f"r{count - 1}", "superseded"),
        ]
        assert [(move.subject, move.target, move.row.clause) for move in step.stays] == [("r0", "superseded", "AT-76")]


def test_what_another_run_does_is_no_news_of_those_that_stay_as_they_are():
    fold = Fold(load_protocol("agent-threads"))
    for number, line in enumerate((_record(0, "streaming"), _record(1, "streaming")), 1):
        fold.apply(line, number)
    fold.lose(())
    step = fold.apply(_record(1, "committed"), 3)
    run = fold.subjects["run"]["r0"]
    assert [(move.subject, move.row.clause) for move in step.stays] == [("r0", "AT-75")]
    assert (run.state, run.doubted, run.heard) == ("streaming", True, 1)


def _blocked(action, run="r"):
    return {"type": "APPROVAL_REQUIRED", "event_id": action, "run_id": run, "seq": 1, "data": {"action_id": action}}


def test_actions_that_wait_refuse_another_one_together():
    fold = Fold(load_protocol("runagents"))
    steps = [fold.apply(_blocked(f"a{number}"), number) for number in range(40)]
    (refusal,) = steps[-1].refusals
    assert (refusal.subject, refusal.clause) == ("a0", "RA-63")
    assert set(refusal.beside) == {f"a{number}" for number in range(40)}
    assert fold.apply(_blocked("b", "other")).refusals == []


def test_of_those_that_a_loss_puts_in_doubt_nobody_says_what_became_of_them():
    fold = Fold(load_protocol("runagents"))
    fold.apply(_blocked("a"), 1)
    fold.lose(())
    assert fold.open_in("blocked_action", "blocked", "run_id", "r") is None
    step = fold.apply(_blocked("b"), 3)
    action = fold.subjects["blocked_action"]["a"]
    assert (step.refusals, action.state, action.doubted) == ([], "blocked", True)
    assert fold.open_in("blocked_action", "blocked", "run_id", "r").key == "b"
