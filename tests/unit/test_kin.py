"""Members, siblings and open counts are found without looking at the subjects of others."""

from tests.unit.test_fold import event
from validator.protocol.protocol import load_protocol
from validator.replay.fold import Fold
from validator.replay.kin import Kin


def _visits(monkeypatch, fold, line):
    seen, find = [], Kin.of
    monkeypatch.setattr(Kin, "of", lambda self, *place: seen.extend(found := find(self, *place)) or found)
    fold.apply(line)
    monkeypatch.undo()
    return len(seen)


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
