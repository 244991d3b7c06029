"""An event that cannot end a subject carries a record of it that says it has ended.

Why: a reader who takes the record at its word shows work as done that its owner never declared done.
Trips: tool.result beside a task record with status completed.  Near miss: the same record beside task.completed.
Fix: State in a record what the subject's own events made of it; let the owner declare the end by its own event first.
"""

from validator.protocol.honest import known
from validator.rules import finding, rule, seen
from validator.rules.terminal._work import lines

RECORDS = {
    "task": ("task", ("task_id",)),
    "task_attempt": ("attempt", ("run_id", "attempt_id")),
    "job": ("job", ("job_id",)),
    "job_item": ("job_item", ("job_item_id",)),
}
CLAUSES = (
    ("task.attempt.", "ATT-16"),
    ("task.delegated", "ORC-5"),
    ("task.dependency.", "ORC-5"),
    ("task.profile.", "RTE-17"),
    ("job.item.", "JOB-20"),
    ("job.", "ORC-10"),
    ("tool.catalog.", "DONE-6"),
    ("tool.", "TOOL-19"),
    ("model.", "MOD-7"),
    ("process.", "PROC-21"),
    ("subagent.output", "SUB-23"),
    ("subagent.", "SUB-14"),
    ("artifact.", "ART-5"),
    ("evidence.", "EVI-11"),
    ("run.status", "RUN-3"),
    ("reasoning.", "REA-2"),
    ("item.", "MOD-21"),
    ("output.", "OUT-12"),
    ("context.resolved", "CTX-7"),
    ("context.compaction.", "CTX-16"),
    ("routing.", "RTE-17"),
    ("cost.", "LIM-7"),
    ("quota.low", "LIM-9"),
    ("rate_limit.", "LIM-9"),
    ("limit.", "LIM-15"),
    ("history.rollback.", "HIST-17"),
    ("history.reconstructed", "HIST-8"),
    ("session.updated", "SES-2"),
    ("channel.disconnected", "CHAN-7"),
    ("channel.message", "CHAN-16"),
    ("channel.peer_task.", "CHAN-28"),
    ("snapshot.", "SNAP-13"),
    ("sandbox.", "SBX-9"),
)


def _clause(step, world, machine):
    if step.type not in world.protocol.events:
        return "ENV-34"
    if step.type.startswith("job.item.") and machine == "task":
        return "ORC-10"
    return next((clause for prefix, clause in CLAUSES if step.type.startswith(prefix)), "DONE-6")


@rule(
    "UNK010",
    "ended-by-a-bystander",
    clauses={"agent-runtime": tuple(dict.fromkeys(("DONE-6", *(clause for _, clause in CLAUSES), "ENV-34")))},
    on="*",
    given=tuple(RECORDS),
)
def check(step, world, context):
    for name, (machine, keys) in RECORDS.items():
        record = step.line.get(name)
        if not isinstance(record, dict):
            continue
        key = next((value for field in keys if isinstance(value := known(record.get(field)), str)), None)
        subject, status = world.subjects(machine).get(key or ""), record.get("status")
        if subject is None or subject.doubted or not isinstance(status, str):
            continue
        clause = _clause(step, world, machine)
        yield seen(clause)
        table = world.protocol.machines[machine]
        if status not in table.states or not table.is_terminal(status) or status == subject.state:
            continue
        if subject.state == "archived" and status == "completed":
            continue  # it was completed before it was archived
        yield finding(
            step,
            f"a record that shows the {machine} as {subject.state}",
            status,
            clause=clause,
            pointer=f"/{name}/status",
            entity=(machine, subject.key),
            state=subject.state,
            witness=lines(subject),
            key=f"{step.type} {status}",
        )
