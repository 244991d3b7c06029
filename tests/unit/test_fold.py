"""The fold finds subjects and lets the tables decide."""

import pytest

from validator.protocol.protocol import load_protocol
from validator.replay import fold as folds
from validator.replay import world
from validator.replay.fold import Fold


def event(kind, payload=None, **ids):
    return {"type": kind, "event_id": "e", "timestamp": "2026-05-08T09:00:00Z", "payload": payload or {}, **ids}


def play(protocol, *lines):
    fold = Fold(protocol)
    return fold, [fold.apply(line) for line in lines]


def test_an_action_pauses_its_turn_and_the_turn_blocks_its_thread(core):
    fold, steps = play(
        core,
        event("thread.started", thread_id="h"),
        event("turn.submitted", turn_id="t", thread_id="h"),
        event("turn.started", turn_id="t"),
        event("action.required", {"action_type": "approval"}, action_id="a", turn_id="t"),
    )
    assert [(move.machine, move.target) for move in steps[-1].moves] == [
        ("action", "pending"),
        ("turn", "waiting_permission"),
        ("thread", "blocked"),
    ]
    assert {subject.machine for subject in fold.open_work()} == {"action", "turn"}


def test_an_answer_frees_the_turn_although_it_names_only_the_action(core):
    fold, steps = play(
        core,
        event("turn.submitted", turn_id="t"),
        event("turn.started", turn_id="t"),
        event("action.required", {"action_type": "approval"}, action_id="a", turn_id="t"),
        event("action.resolved", {"decision": "approved"}, action_id="a"),
    )
    assert fold.subjects["turn"]["t"].state == "running"
    assert not any(step.refusals for step in steps)


def test_an_offered_question_holds_nothing_up(core):
    fold, steps = play(
        core,
        event("turn.submitted", turn_id="t"),
        event("turn.started", turn_id="t"),
        event("action.required", {"action_type": "approval", "blocking": False}, action_id="soft", turn_id="t"),
        event("action.required", {"action_type": "approval"}, action_id="hard", turn_id="t"),
        event("action.resolved", {"decision": "approved"}, action_id="hard"),
        event("turn.completed", turn_id="t"),
        event("action.resolved", {"decision": "cancelled"}, action_id="soft"),
    )
    assert fold.subjects["turn"]["t"].state == "completed"
    assert not any(step.refusals for step in steps)


def test_a_denied_call_is_not_revived_by_a_later_approval(core):
    fold, steps = play(
        core,
        event("tool.started", {"tool_name": "shell"}, tool_call_id="c"),
        event("action.required", {"action_type": "approval"}, action_id="a", tool_call_id="c"),
        event("action.required", {"action_type": "approval"}, action_id="b", tool_call_id="c"),
        event("action.resolved", {"decision": "denied"}, action_id="a"),
        event("action.resolved", {"decision": "approved"}, action_id="b"),
        event("tool.result", tool_call_id="c"),
    )
    assert fold.subjects["tool_call"]["c"].state == "refused"
    assert [(r.machine, r.state, r.clause) for r in steps[-1].refusals] == [("tool_call", "refused", "TOOL-7")]


def test_a_second_end_is_refused_and_changes_nothing(core):
    fold, steps = play(
        core,
        event("task.created", {"objective": "x"}, task_id="k"),
        event("task.started", task_id="k"),
        event("task.completed", task_id="k"),
        event("task.failed", {"reason": "late"}, task_id="k"),
    )
    assert fold.subjects["task"]["k"].state == "completed"
    assert [refusal.clause for refusal in steps[-1].refusals] == ["TASK-18"]


def test_an_own_event_about_a_subject_never_seen_is_refused_and_a_foreign_one_is_not(core):
    _, steps = play(
        core,
        event("turn.completed", turn_id="t"),
        event("tool.started", {"tool_name": "x"}, tool_call_id="c", turn_id="t"),
    )
    assert [refusal.state for refusal in steps[0].refusals] == ["none"]
    assert steps[1].refusals == []


def test_an_unknown_type_and_a_line_without_one_move_nothing(core):
    _, steps = play(core, event("acme.turn.completed", turn_id="t"), {"payload": {}}, {"record": "restart"})
    assert [(step.moves, step.refusals) for step in steps] == [([], [])] * 3


def test_one_line_moves_every_item_it_lists(core):
    fold, _ = play(core, event("job.created", {"items": [{"job_item_id": "a"}, {"job_item_id": "b"}]}, job_id="j"))
    assert {key: item.state for key, item in fold.subjects["job_item"].items()} == {"a": "pending", "b": "pending"}


def test_cancelling_a_job_cancels_what_is_open_and_keeps_what_is_done(core):
    fold, steps = play(
        core,
        event("job.created", {"items": [{"job_item_id": "a"}, {"job_item_id": "b"}]}, job_id="j"),
        event("job.started", job_id="j"),
        event("job.item.started", job_id="j", job_item_id="a"),
        event("job.item.completed", job_id="j", job_item_id="a"),
        event("job.cancelled", job_id="j"),
    )
    assert {key: item.state for key, item in fold.subjects["job_item"].items()} == {"a": "completed", "b": "cancelled"}
    assert steps[-1].refusals == []


def test_an_open_item_holds_its_job_up_even_under_the_same_id(core):
    fold, steps = play(
        core,
        event("job.created", {"items": [{"job_item_id": "j"}]}, job_id="j"),
        event("job.started", job_id="j"),
        event("job.completed", job_id="j"),
    )
    assert fold.subjects["job"]["j"].state == "running"
    assert [refusal.machine for refusal in steps[-1].refusals] == ["job"]


def test_a_turn_without_request_ids_has_one_request_after_another(core):
    lines = [event("model.requested", turn_id="t"), event("model.completed", turn_id="t")] * 2
    _, steps = play(core, *lines)
    assert not any(step.refusals for step in steps)
    keyed = [event("model.requested", model_request_id="m"), event("model.completed", model_request_id="m")] * 2
    _, steps = play(core, *keyed)
    assert [bool(step.refusals) for step in steps] == [False, False, True, True]


@pytest.mark.parametrize(("fork", "expected"), [("m1", "superseded"), (None, "committed")])
def test_a_newer_commit_supersedes_only_at_the_same_fork(fork, expected):
    protocol = load_protocol("agent-threads")

    def record(run, status):
        return {"record": "run", "runId": run, "threadId": "h", "forkFromMessageId": fork, "status": status}

    lines = [record(run, status) for run in ("r1", "r2") for status in ("created", "streaming", "committed")]
    fold, steps = play(protocol, *lines)
    assert fold.subjects["run"]["r1"].state == expected
    assert not any(step.refusals for step in steps)


OVER = {
    "task": [event("task.created", {"objective": "x"}, task_id="k"), event("task.cancelled", task_id="k")],
    "job_item": [
        event("job.created", {"items": [{"job_item_id": "k"}]}, job_id="j"),
        event("job.cancelled", job_id="j"),
    ],
}


@pytest.mark.parametrize("machine", OVER)
def test_what_is_over_is_kept_whole_between_two_fadings(machine, core, monkeypatch):
    monkeypatch.setattr(world, "RECENT", 10)
    seen, kept = world.World(core), []
    for number, line in enumerate([*OVER[machine], *[event("acme.note")] * 18], 1):
        seen.apply({**line, "event_id": f"e{number}"}, number)
        kept.append("k" in list(seen.subjects(machine)))
    assert kept == [True] * 19 + [False]


def test_what_has_faded_proves_nothing_about_a_line_that_names_it(core, monkeypatch):
    monkeypatch.setattr(world, "RECENT", 10)
    seen = world.World(core)
    for number, line in enumerate([*OVER["task"], *[event("acme.note")] * 18], 1):
        seen.apply({**line, "event_id": f"e{number}"}, number)
    assert (seen.unproved({"task_id": "k"}), seen.unproved({"task_id": "other"})) == (20, None)


class Remembered:
    """A ledger that remembers two sessions from the start, and later a third that nothing else tells of."""

    forgets = ("sessions",)

    def __init__(self, world):
        self.sessions = dict.fromkeys(("heard of", "over"), 0)

    def apply(self, step):
        if step.number == 25:
            self.sessions["newest"] = 0


def test_a_session_that_is_still_heard_of_does_not_fade(core, monkeypatch):
    monkeypatch.setattr(world, "RECENT", 10)
    seen = world.World(core, [Remembered])
    for number in range(1, 31):
        line = event("acme.note", session_id="over" if number == 1 else "heard of")
        seen.apply({**line, "event_id": f"e{number}", "sequence": max(1, number - 1)}, number)
    assert list(seen.ledger(Remembered).sessions) == ["heard of", "newest"]
    seen.apply(event("acme.note", session_id="heard of", event_id="e31", sequence=30), 40)
    assert list(seen.ledger(Remembered).sessions) == ["heard of"]


def test_a_subject_that_faded_is_whole_again_once_it_moves(core):
    fold, _ = play(
        core,
        event("task.created", {"objective": "o"}, task_id="k"),
        event("task.cancelled", task_id="k"),
    )
    fold._forget(fold.subjects["task"]["k"])
    assert fold.apply(event("task.archived", task_id="k"), 3).moves[0].target == "archived"
    assert fold.subjects["task"]["k"].state == "archived"
    assert fold.apply(event("task.completed", task_id="k"), 4).refusals[0].state == "archived"


def test_drivers_beyond_what_is_remembered_move_all_the_same(core, monkeypatch):
    told = [
        event("task.created", {"objective": "o"}, task_id="k"),
        event("acme.note", session_id="s"),
        event("task.started", task_id="k"),
        event("task.completed", task_id="k"),
    ]
    usual, _ = play(core, *told)
    assert len(usual._heard) == 4
    monkeypatch.setattr(folds, "_MOST", 1)
    fold, _ = play(core, *told)
    assert len(fold._heard) == 1
    assert fold.subjects["task"]["k"].state == usual.subjects["task"]["k"].state == "completed"
