"""An approval was asked for an action that the gates allow or deny outright.

Why: a question whose answer is fixed trains reviewers to say yes.
Trips: run.approval.requested for file_read.  Near miss: run.approval.requested for patch_apply.
Fix: Do what the gate says without asking: allow and record, or deny and report.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import Runs, entity, payload, policy, word


@rule("AHB018", "needless-question", clauses={"agenthub": "AH-87"}, on="run.approval.requested", needs=(Runs,))
def check(step, world, context):
    kind = word(payload(step), "actionKind")
    rows = [row for row in world.protocol.tables["gates"]["rows"] if kind in row["values"]["actions"]]
    # A profile may narrow the kinds of action; the schema then says so.
    if not rows or any(error.pointer == "/payload/actionKind" for error in context.errors):
        return
    yield seen()
    run = world.ledger(Runs).of(step)
    gates = sorted({row["values"]["gate"] for row in rows})
    named = policy(run, kind) or "default"
    witness = ()
    if named == "deny" or (named == "allow" and any(row["values"].get("unless") == "policy_allows" for row in rows)):
        gates, witness = [named], (run.told["plan"],)
    elif named == "ask" and "allow" in gates:
        gates = ["ask"]
    if "ask" not in gates:
        yield finding(
            step,
            f"no question: the gate of {kind} is {' or '.join(gates)}",
            "an approval is asked for",
            pointer="/payload/actionKind",
            entity=entity(step),
            witness=witness,
            key=str(kind),
        )
