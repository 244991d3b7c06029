"""A status in words says that work has ended which has not.

Why: a line that says done over a turn that waits for permission sends people away from the question.
Trips: run.status with phase completed while the turn runs.  Near miss: the same words after turn.completed.
Fix: Write the end by the subject's own event first, and let the words follow it.
"""

from validator.rules import finding, rule, seen
from validator.rules._words import one
from validator.rules.terminal._work import lines, told

PHASES = {
    "completed": "completed",
    "complete": "completed",
    "done": "completed",
    "finished": "completed",
    "failed": "failed",
    "cancelled": "cancelled",
}
PLACES = {"run.status": ("RUN-5", "phase"), "channel.message": ("CHAN-16", "status")}
SUBJECTS = {"run_id": "attempt", "turn_id": "turn", "task_id": "task"}


@rule("UNK008", "status-contradicts-subject", clauses={"agent-runtime": ("RUN-5", "CHAN-16")}, on=tuple(PLACES))
def check(step, world, context):
    clause, name = PLACES[step.type]
    phase = told(step, name) or step.line.get(name)
    end = PHASES.get(phase.lower()) if isinstance(phase, str) else None
    found = [world.subjects(machine).get(step.scope.get(key, "")) for key, machine in SUBJECTS.items()]
    subjects = [subject for subject in found if subject is not None]
    if end is None or not subjects or any(subject.doubted for subject in subjects):
        return
    yield seen(clause)
    if all(world.protocol.machines[subject.machine].is_open(subject.state) for subject in subjects):
        subject = subjects[0]
        yield finding(
            step,
            f"a {name} that fits {one(subject.machine)} that is {subject.state}",
            end,
            pointer=f"/payload/{name}" if told(step, name) else f"/{name}",
            clause=clause,
            entity=(subject.machine, subject.key),
            state=subject.state,
            witness=lines(*subjects, world.subjects("channel").get(step.scope.get("channel_id", ""))),
            key=end,
        )
