"""Pieces of the work: calls, processes, actions, tasks, children and jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from validator.replay.readmodels.agent_runtime import task_board
from validator.replay.readmodels.agent_runtime.artifacts import Artifacts
from validator.replay.readmodels.agent_runtime.environment import Processes
from validator.replay.readmodels.agent_runtime.facts import Facts
from validator.replay.readmodels.agent_runtime.hooks import Hooks
from validator.replay.readmodels.agent_runtime.permissions import Actions
from validator.replay.readmodels.agent_runtime.scope import NOWHERE, SESSION
from validator.replay.readmodels.agent_runtime.subagents import Jobs, Subagents
from validator.replay.readmodels.agent_runtime.tasks import Tasks
from validator.replay.readmodels.agent_runtime.tools import Calls
from validator.replay.readmodels.agent_runtime.turns import Turns
from validator.replay.readmodels.agent_runtime.watch.piece import IN_SESSION, SHELL, THREAD, Look, Piece, on
from validator.replay.readmodels.agent_runtime.watch.touch import ROLLED_BACK, Touch

CALLS = on(ROLLED_BACK, "hook", moves=("tool_call", "turn", "hook"), carries=("tool_call_id",))
PROCESSES = on(ROLLED_BACK, moves=("process", "turn"), carries=("process_id",))
ACTIONS = on(moves=("action",), carries=("action_id",))
TASKS = on("artifact.changed", moves=("task", "attempt"), carries=("task_id",))
CHILDREN = on(moves=("subagent",), carries=("subagent_id",))
JOBS = on(moves=("job", "job_item"), carries=("job_id",))
SUMMARY = ("subagent_job_summary",)


def _calls_touched(touch: Touch) -> Iterable[str]:
    calls, runs = touch.facts.of(Calls), touch.facts.of(Hooks)
    yield from touch.subjects("tool_call", "tool_call_id")
    yield from (call for turn in touch.arranged for call in calls.of_turn.get(turn, ()))
    yield from (call for run in touch.subjects("hook", "hook_run_id") for call in runs.calls_of.get(run, ()))


def _call(facts: Facts, key: str) -> Look:
    return facts.of(Calls).record(key), facts.of(Calls).scopes(key, facts.of(Turns))


def _processes_touched(touch: Touch) -> Iterable[str]:
    yield from touch.subjects("process", "process_id")
    yield from (key for turn in touch.arranged for key in touch.facts.of(Processes).of_turn.get(turn, ()))


def _process(facts: Facts, key: str) -> Look:
    return facts.of(Processes).record(key), facts.of(Processes).scopes(key, facts.of(Turns))


def _failed_process(facts: Facts, key: str) -> Look:
    failed = facts.state("process", key) == "failed"
    return None, facts.scopes("process", "process_id", key) if failed else NOWHERE


def _actions_touched(touch: Touch) -> Iterable[str]:
    return touch.subjects("action", "action_id")


def _action(questions: bool) -> Callable[[Facts, str], Look]:
    return lambda facts, key: (facts.of(Actions).pending(key), facts.of(Actions).scopes(key, questions))


def _tasks_touched(touch: Touch) -> Iterable[str]:
    tasks = touch.facts.of(Tasks)
    found = touch.subjects("task", "task_id")
    found |= {task: None for run in touch.subjects("attempt", "run_id") for task in tasks.tasks_of.get(run, ())}
    held = (touch.facts.of(Artifacts).tasks_of(key) for key in touch.carried("artifact_id"))
    found |= dict.fromkeys(task for keys in held for task in keys)
    return [key for key in found if key in tasks.tasks and touch.facts.state("task", key)]


def _counted(facts: Facts, key: str) -> Look:
    status = str(facts.state("task", key))
    told = SESSION in facts.scopes("task", "task_id", key)
    return (task_board.LIST_OF[status], status in task_board.OVER), IN_SESSION if told else NOWHERE


def _children_touched(touch: Touch) -> Iterable[str]:
    return touch.subjects("subagent", "subagent_id")


def _jobs_touched(touch: Touch) -> Iterable[str]:
    jobs = touch.facts.of(Jobs)
    found = touch.subjects("job", "job_id")
    found |= {job: None for item in touch.subjects("job_item", "job_item_id") for job in jobs.jobs_of.get(item, ())}
    return [key for key in found if key in jobs.jobs]


def _items_touched(touch: Touch) -> Iterable[tuple[str, str]]:
    jobs = touch.facts.of(Jobs)
    named = touch.subjects("job_item", "job_item_id")
    yield from ((job, item) for item in named for job in jobs.jobs_of.get(item, ()))
    if touch.type == "job.created":
        yield from ((job, item) for job in _jobs_touched(touch) for item in jobs.jobs[job].items)


WORK = (
    Piece(THREAD, CALLS, _calls_touched, _call, "tool_call_id"),
    Piece(THREAD, PROCESSES, _processes_touched, _process, "process_id"),
    Piece(THREAD, PROCESSES, _processes_touched, _failed_process, "process_id"),
    Piece(
        ("execution_environment_snapshot",),
        PROCESSES,
        lambda touch: touch.subjects("process", "process_id"),
        lambda facts, key: (facts.of(Processes).record(key), facts.of(Processes).active_scopes(key)),
        "process_id",
    ),
    Piece(THREAD, ACTIONS, _actions_touched, _action(questions=True), "action_id"),
    Piece(("permission_sandbox_summary",), ACTIONS, _actions_touched, _action(questions=False), "action_id"),
    Piece(
        (*THREAD, "task_snapshot"),
        TASKS,
        _tasks_touched,
        lambda facts, key: (facts.of(Tasks).body(key), facts.scopes("task", "task_id", key)),
        "task_id",
        changed=lambda facts, key, time: facts.of(Tasks).note_change(key, time),
    ),
    Piece(SHELL, TASKS, _tasks_touched, _counted, counted=True),
    Piece(
        SUMMARY,
        CHILDREN,
        _children_touched,
        lambda facts, key: (facts.of(Subagents).record(key), facts.of(Subagents).scopes(key)),
        "subagent_id",
    ),
    Piece(
        SHELL + THREAD,
        CHILDREN,
        _children_touched,
        lambda facts, key: (None, facts.of(Subagents).scopes(key)),
        "subagent_id",
    ),
    Piece(
        SUMMARY,
        JOBS,
        _jobs_touched,
        lambda facts, key: (facts.of(Jobs).head(key), facts.of(Jobs).scopes(key)),
        "job_id",
    ),
    Piece(
        SUMMARY,
        JOBS,
        _items_touched,
        lambda facts, key: (facts.of(Jobs).item(*key), facts.of(Jobs).scopes(key[0])),
        part=True,
    ),
    Piece(THREAD, JOBS, _jobs_touched, lambda facts, key: (None, facts.of(Jobs).scopes(key)), "job_id"),
)
