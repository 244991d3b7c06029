"""Two lines about one action give different payload hashes.

Why: an operator approved one request; if the hash changes, something else was executed under that approval.
Trips: APPROVAL_REQUIRED and APPROVED with one hash, then TOOL_CALLED for the action with another.
Near miss: the same hash once with and once without the prefix sha256:.
Fix: Hash the request when it is blocked, compare at the decision and at the retry, and refuse what differs.
"""

from validator.rules import finding, rule, seen
from validator.rules.runagents._facts import Actions, said_of_action, told

ON = ("APPROVAL_REQUIRED", "APPROVED", "REJECTED", "RESUMED", "TOOL_*", "record:snapshot")


@rule("RAG005", "payload-hash-differs", clauses={"runagents": ("RA-87", "RA-88")}, on=ON, needs=(Actions,))
def check(step, world, context):
    said = said_of_action(step)
    if "hash" not in said:
        return
    first, line = world.ledger(Actions).known[said["action"]].first["hash"]
    if line == step.number:
        return
    # A call that was made, or a replay that is reported, carried the changed payload through.
    executed = step.type in {"TOOL_CALLED", "TOOL_RESPONSE"} or _replayed(step)
    clause = "RA-88" if executed else "RA-87"
    yield seen(clause)
    if said["hash"] != first:
        yield finding(
            step,
            "the hash that was given first for the action",
            "another hash",
            pointer="/payload_hash" if step.kind == "event" else "/snapshot/payload_hash",
            clause=clause,
            entity=("blocked_action", said["action"]),
            state=world.state("blocked_action", said["action"]),
            witness=(line, *told(world, said["action"])),
            key=str(step.type),
        )


def _replayed(step):
    return step.type == "blocked_action" and step.line["snapshot"].get("status") == "EXECUTED"
