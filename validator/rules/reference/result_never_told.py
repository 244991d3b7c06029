"""A completion or a compaction names an artifact or evidence that nothing told of, or that was deleted.

Why: a deliverable that exists only in the sentence that declares it delivered cannot be opened by anybody.
Trips: task.completed names an artifact, and no artifact.changed does.  Near miss: artifact.changed came before.
Fix: Tell artifacts and evidence by their own events before they are named, and leave out what was deleted.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._results import Results
from validator.rules.terminal._work import unsure, words

FIELDS = {
    "artifact_ids": ("ART-6", "artifact"),
    "preserved_artifact_ids": ("ART-6", "artifact"),
    "evidence_ids": ("EVI-7", "evidence"),
}


@rule(
    "REF004",
    "result-never-told",
    clauses={"agent-runtime": ("ART-6", "ART-8", "EVI-7")},
    on=("turn.completed", "task.completed", "context.compaction.completed"),
    needs=(Results,),
)
def check(step, world, context):
    results = world.ledger(Results)
    for field, (clause, kind) in FIELDS.items():
        for index, key in enumerate(words(step, field)):
            about = {"pointer": f"/payload/{field}/{index}", "entity": (kind, key)}
            if key in results.known[kind]:
                yield seen(clause)
            elif not unsure(world, step):
                expected, actual = f"{kind} that was told before", "it was never told"
                yield finding(step, expected, actual, clause=clause, **about)
                continue
            if kind == "artifact" and field == "artifact_ids" and key in results.known[kind]:
                yield seen("ART-8")
                if key in results.deleted:
                    expected, actual = "a deliverable that still exists", "it was told as deleted"
                    witness = (results.deleted[key],)
                    yield finding(step, expected, actual, clause="ART-8", witness=witness, **about)
