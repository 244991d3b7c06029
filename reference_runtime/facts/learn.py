"""One event, taken in: order, mentions, moves, facts, and which read models it changed."""

from __future__ import annotations

from typing import Any

from reference_runtime.facts import (
    boundaries,
    channels,
    context,
    evidence,
    governance,
    jobs,
    order,
    queue,
    routing,
    sessions,
    subagents,
    tasks,
    tools,
    turns,
)
from reference_runtime.facts.scope import attend, mention
from reference_runtime.facts.tables import Drive, Move
from reference_runtime.facts.unit import Unit
from reference_runtime.projections import touch

_FAMILIES = {
    "thread": (sessions.thread,),
    "turn": (turns.turn, queue.submitted),
    "task": (tasks.task,),
    "orchestration": (tasks.edge,),
    "attempt": (tasks.attempt,),
    "run": (turns.status,),
    "tool_catalog": (governance.catalog,),
    "tool": (tools.call,),
    "action": (tools.action,),
    "queue": (queue.changed,),
    "context": (context.resolved,),
    "compaction": (context.compaction, boundaries.boundary),
    "artifact": (evidence.artifact,),
    "evidence": (evidence.evidence,),
    "subagent": (subagents.subagent,),
    "subagent_output": (subagents.output,),
    "limit": (routing.limit,),
    "snapshot": (order.repaired, queue.recovered),
    "runtime": (sessions.incident,),
    "permission": (governance.permission,),
    "sandbox": (governance.sandbox,),
    "hook": (governance.hook,),
    "policy": (governance.policy,),
    "process": (tools.process,),
    "routing": (routing.routing,),
    "cost": (routing.cost,),
    "channel": (channels.channel,),
    "peer_task": (channels.peer_task,),
    "job": (jobs.job,),
    "job_item": (jobs.item,),
    "output": (evidence.output,),
    "history": (boundaries.boundary, boundaries.window, order.reconstructed, queue.recovered),
    "rollback": (boundaries.rollback, boundaries.boundary),
    "session": (sessions.session,),
}


def learn(unit: Unit, event: dict[str, Any]) -> list[Move]:
    """Changes a unit by one event; raises IllegalMove when a table refuses it."""
    attend(unit, event)
    order.place(unit, event)
    mention(unit)
    moves = Drive(unit, event).run()
    _ends(event, moves)
    sessions.envelope(unit, event)
    if "channel_id" in event:
        channels.heard(unit, event)
    if "step_id" in event:
        turns.step(unit, event)
    jobs.count(unit, moves)
    for fact in _FAMILIES.get(unit.protocol.family_of.get(event["type"], ""), ()):
        fact(unit, event, moves)
    touch(unit, event)
    unit.events.append(event)
    return moves


def _ends(event: dict[str, Any], moves: list[Move]) -> None:
    """When, and in which order, work ended; work that goes on again has not ended."""
    for move in moves:
        if move.source == move.target:
            continue
        kinds = move.machine.states
        was_over, is_over = kinds.get(move.source) == "terminal", kinds[move.target] == "terminal"
        if is_over and not was_over:
            move.record.data["ended_at"] = event["timestamp"]
        elif was_over and not is_over:
            move.record.data.pop("ended_at", None)
        if move.machine.name == "thread" and move.row.driver.kind == "move":
            move.record.data.pop("status_reason", None)
