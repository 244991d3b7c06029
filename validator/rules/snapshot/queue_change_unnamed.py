"""A queue.changed does not name the turns it was done to.

Why: a list of what remains does not say what went; a reader cannot tell a started turn from a removed one.
Trips: queue.changed with the operation removed and the remaining queue, and no id.
Near miss: queue.changed with the operation removed and the queued_turn_id.
Fix: Fill queued_turn_id or queued_turn_ids for added, promoted, started, removed and cleared.
"""

from validator.rules import finding, rule, seen

OPERATIONS = ("added", "promoted", "started", "removed", "cleared")


@rule("SNP020", "queue-change-unnamed", clauses={"agent-runtime": "QUE-7"}, on="queue.changed")
def check(step, world, context):
    payload = step.line.get("payload")
    body = payload if isinstance(payload, dict) else {}
    if body.get("operation") not in OPERATIONS:
        return
    yield seen()
    if not body.get("queued_turn_id") and not body.get("queued_turn_ids"):
        place = "/payload/queued_turn_ids" if "queued_turn_ids" in body else "/payload/queued_turn_id"
        yield finding(step, "the turns it was done to", "none", pointer=place, key=body["operation"])
