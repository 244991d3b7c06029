"""A secret was read in a run whose policy denies it.

Why: the policy is what the owner of the secret relies on; an access in spite of it leaks the secret to the runtime.
Trips: a get_secret call comes back under a policy that denies secret_access.
Near miss: the call comes back as an error.
Fix: Deny the call, and report it as an error of the tool or as a run that failed with permission_denied.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import Runs, entity, history, moved, performed, policy


@rule("AHB032", "denied-secret-read", clauses={"agenthub": "AH-86"}, on="run.tool.result", needs=(Runs,))
def check(step, world, context):
    run = world.ledger(Runs).of(step)
    call = run.answered
    # Without a word of the policy, a flow on the server may own the secret; the events do not show it.
    if call is None or call.kind != "secret_access" or moved(step) is None or policy(run, call.kind) != "deny":
        return
    yield seen()
    if performed(step):
        witness = (*history(world, step), call.line, run.told["plan"])
        yield finding(step, "the access is denied", "the tool came back", entity=entity(step), witness=witness)
