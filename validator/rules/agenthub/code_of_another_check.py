"""A run failed with the code of a check that passed, while another check had failed.

Why: the code tells the user what to mend, and sends them to the part that works.
Trips: the allowlist check failed, and the code is runtime_unavailable.
Near miss: the code is workspace_outside_allowlist.
Fix: Fail with the code of the check that failed.
"""

from validator.protocol.honest import known
from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import Runs, entity, history, moved, payload, word

_CODES = {
    "runtime_unavailable": ("runtimeAvailability", "AH-111"),
    "workspace_outside_allowlist": ("workspaceAllowlist", "AH-112"),
}


@rule(
    "AHB023",
    "code-of-another-check",
    clauses={"agenthub": ("AH-111", "AH-112")},
    on="run.failed",
    needs=(Runs,),
)
def check(step, world, context):
    run, code = world.ledger(Runs).of(step), word(payload(step), "code")
    move = moved(step)
    if code not in _CODES or run.checks is None or move is None or move.source != "Preparing":
        return
    status = {name: outcome.get("status") for name, outcome in run.checks.items() if isinstance(known(outcome), dict)}
    failed = [(other, clause) for other, (name, clause) in _CODES.items() if status.get(name) == "failed"]
    if not failed:
        return
    yield seen(_CODES[code][1])
    other, clause = failed[0]
    if status.get(_CODES[code][0]) == "passed" and other != code:
        yield finding(
            step,
            other,
            f"{code}, whose check passed",
            pointer="/payload/code",
            clause=clause,
            entity=entity(step),
            state=move.source,
            witness=(*history(world, step), run.told["checks"]),
            key=code,
        )
