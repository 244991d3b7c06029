"""Something began or was fed while the question that concerns it was unanswered.

Why: an answer that comes after the act decides nothing.
Trips: an action about a process is required, and the process starts before the action is resolved.
Near miss: the action is approved, then the process starts.
Fix: Hold back the process, or the attempt, until action.resolved; a call that was refused starts nothing.
"""

from validator.rules import finding, rule, seen
from validator.rules.governance._calm import unopposed
from validator.rules.governance._questions import Questions
from validator.rules.governance._work import Work

STARTS = ("process.started", "process.input", "task.started", "task.attempt.started")


@rule(
    "GOV002",
    "work-before-answer",
    clauses={"agent-runtime": ("ACT-4", "TOOL-4")},
    on=STARTS,
    needs=(Questions, Work),
    quiet=unopposed,
)
def check(step, world, context):
    questions = world.ledger(Questions)
    name = "task_id" if step.type.startswith("task.") else "process_id"
    asked = questions.naming.get(step.scope.get(name, ""), ())
    for question in asked:
        yield seen("ACT-4")
        if world.state("action", question.key) == "pending":
            yield _finding(step, "ACT-4", ("action", question.key), "pending", (question.line,))
            return
    call = world.subjects("tool_call").get(step.scope.get("tool_call_id", ""))
    if step.type != "process.started" or call is None or call.key not in questions.naming:
        return
    clause = "TOOL-4" if call.state == "refused" else "ACT-4"
    yield seen(clause)
    if call.state in {"waiting_permission", "refused"} and not call.doubted:
        lines = (*call.history, *(question.line for question in questions.naming[call.key]))
        yield _finding(step, clause, ("tool_call", call.key), call.state, lines)


def _finding(step, clause, entity, state, witness):
    return finding(
        step,
        "no work that the answer could forbid",
        f"{step.type} while the {entity[0]} is {state}",
        clause=clause,
        entity=entity,
        state=state,
        witness=witness,
    )
