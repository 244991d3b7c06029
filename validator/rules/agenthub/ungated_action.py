"""A gated action was performed although nobody was asked.

Why: writing, running, reaching out and releasing are what reviewers exist for; an action without an approval has no
reviewer.
Trips: a shell tool comes back in a run without any approval.
Near miss: a network tool in a run whose policy allows network; a command that commits, under the approval of a commit.
Fix: Emit run.approval.requested for the action and wait for its approval; only network may be allowed by policy
instead.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import Runs, entity, gate_of, history, moved, performed, policy, whole


@rule(
    "AHB015",
    "ungated-action",
    clauses={"agenthub": ("AH-82", "AH-83", "AH-84", "AH-85")},
    on="run.tool.result",
    needs=(Runs,),
)
def check(step, world, context):
    runs = world.ledger(Runs)
    run = runs.of(step)
    call = run.answered
    gate = gate_of(world, call.kind if call else None)
    if gate is None or gate["values"]["gate"] != "ask" or not performed(step):
        return
    if moved(step) is None or not whole(world, step):
        return
    if gate["values"].get("unless") == "policy_allows":
        named = policy(run, call.kind)
        if named is None:
            return
        if named == "allow":
            yield seen(gate["clause"])
            return
    yield seen(gate["clause"])
    if not runs.covering(step.scope["run_id"], gate, call):
        yield finding(
            step,
            f"an approval for {call.kind}",
            "performed without asking",
            clause=gate["clause"],
            entity=entity(step),
            witness=(*history(world, step), call.line, *([run.told["plan"]] if "plan" in run.told else [])),
            key=call.kind,
        )
