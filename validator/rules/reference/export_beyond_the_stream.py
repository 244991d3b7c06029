"""An export covers or names something that the stream does not know.

Why: an export that knows more than the events was made from other facts, and cannot be checked against them.
Trips: evidence.changed as of a sequence that was not reached.  Near miss: it covers the sequence before its own.
Fix: Export from the same facts as the read models, up to a sequence that was given out, for subjects that were told.
"""

from validator.protocol.honest import known
from validator.rules import finding, rule, seen
from validator.rules._words import one
from validator.rules.terminal._work import number, told, unsure

SUBJECTS = {
    "turn_id": "turn",
    "task_id": "task",
    "run_id": "attempt",
    "tool_call_id": "tool_call",
    "process_id": "process",
    "subagent_id": "subagent",
    "job_id": "job",
    "action_id": "action",
}
EXPORTS = ("export_evidence", "export_replay", "export_review")


@rule(
    "REF003",
    "export-beyond-the-stream",
    clauses={"agent-runtime": "EVI-8"},
    on=("evidence.changed", "record:result"),
)
def check(step, world, context):
    if step.kind == "result":
        body = step.line.get("result")
        if step.line.get("command") not in EXPORTS or not isinstance(body, dict):
            return
        covered, reached, place = number(known(body.get("as_of_sequence"))), world.order.highest, "/result"
    else:
        covered, place = number(told(step, "as_of_sequence")), "/payload"
        reached = step.place.sequence if step.place else None
        yield from _scope(step, world)
    if covered is None or reached is None:
        return
    yield seen()
    if covered > reached:
        expected, pointer = "nothing later than the stream had reached", f"{place}/as_of_sequence"
        witness = () if step.kind == "event" else (world.last_line - 1,)
        yield finding(step, expected, "a later sequence", pointer=pointer, witness=witness, key="sequence")


def _scope(step, world):
    scope = told(step, "scope")
    if not isinstance(scope, dict) or unsure(world, step):
        return
    for name, machine in SUBJECTS.items():
        value = known(scope.get(name))
        if not isinstance(value, str):
            continue
        yield seen()
        if value not in world.subjects(machine):
            expected, pointer = f"{one(machine)} that the stream knows", f"/payload/scope/{name}"
            yield finding(step, expected, "one that was never told", pointer=pointer, key=name)
