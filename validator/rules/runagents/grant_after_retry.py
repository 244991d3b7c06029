"""The grant of an action was logged after the call it permits.

Why: the log has to show that the call was approved before it was made; this one shows the opposite.
Trips: the action's record says APPROVED, TOOL_CALLED for it, then APPROVED.
Near miss: the run's record says RUNNING, then APPROVAL_GRANTED is logged, then the call.
Fix: Write the grant to the log before the call is retried.
"""

from validator.rules import finding, rule, seen
from validator.rules.runagents._facts import Actions, said_of_action, told


@rule("RAG024", "grant-after-retry", clauses={"runagents": "RA-54"}, on="APPROVED", needs=(Actions,))
def check(step, world, context):
    said = said_of_action(step)
    action = world.ledger(Actions).known.get(said.get("action"))
    # A call that came before the action was approved at all is refused by the state table.
    if action is None or any(refusal.subject == said["action"] for refusal in step.refusals):
        return
    yield seen()
    if action.granted == step.number and action.retried and action.approved and action.approved < action.retried:
        yield finding(
            step,
            "the grant before the retried call",
            "the call stands before it",
            entity=("blocked_action", said["action"]),
            state=world.state("blocked_action", said["action"]),
            witness=(*told(world, said["action"]), action.retried),
            key="late grant",
        )
