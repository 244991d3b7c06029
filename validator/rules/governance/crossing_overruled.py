"""A question that crossed a channel was decided here against what came back, or without anything coming back.

Why: the side that decides is recorded for a reason; a lost peer has not agreed.
Trips: the channel is lost while a question is under way, and the local action is approved by nobody.
Near miss: the answer returns as allowed, and the local action is approved.
Fix: Resolve the local action or permission with the returned decision; after a loss leave it open, or time it out.
"""

from validator.rules import finding, rule, seen
from validator.rules.governance._bridges import Bridges
from validator.rules.governance._calm import unopposed
from validator.rules.governance._decisions import target_of
from validator.rules.governance._questions import GRANTS
from validator.rules.governance._said import permits, said, shown
from validator.rules.governance._work import RUNS, Work, runs


@rule(
    "GOV019",
    "crossing-overruled",
    clauses={"agent-runtime": ("CHAN-25", "CHAN-23", "CHAN-24")},
    on=("action.resolved", "permission.resolved", *RUNS),
    needs=(Bridges, Work),
    quiet=unopposed,
)
def check(step, world, context):
    bridges = world.ledger(Bridges)
    if step.type in RUNS:
        yield from _served(step, world, bridges)
        return
    key = step.scope.get("action_id") if step.type == "action.resolved" else target_of(step)
    word = permits(step.line, "decision")
    for bridge in bridges.about.get(key or "", ()):
        if bridge.answered is not None:
            yield seen("CHAN-25")
            if (word in GRANTS) != bridge.granted:
                lines = (bridge.line, bridge.answered)
                yield _finding(
                    step, "CHAN-25", f"the decision that came back: {shown(bridge.answer)}", shown(word), lines
                )
            return
        if bridge.lost is not None and bridge.side == "remote":
            yield seen("CHAN-23")
            if word in GRANTS and not _decider(step.line):
                actual = f"{word} by nobody after the channel was lost"
                yield _finding(step, "CHAN-23", "open, timed out or cancelled", actual, (bridge.line, bridge.lost))
            return


def _decider(line):
    return any(said(line, name) is not None for name in ("decided_by", "actor", "decision_source", "command_id"))


def _served(step, world, bridges):
    target = world.ledger(Work).of(step)
    if target is None or target.channel is None or target.ran != step.number or not runs(step):
        return
    crossed = [
        bridge for key in target.ids for bridge in bridges.about.get(key, ()) if bridge.granted and bridge.scoped
    ]
    if not crossed:
        return
    yield seen("CHAN-24")
    if all(bridge.channel != target.channel for bridge in crossed):
        lines = (target.line, *(line for bridge in crossed for line in (bridge.line, bridge.answered)))
        yield _finding(step, "CHAN-24", "a decision that holds for this channel", "one that holds for another", lines)


def _finding(step, clause, expected, actual, witness):
    return finding(step, expected, actual, pointer="", clause=clause, witness=tuple(witness))
