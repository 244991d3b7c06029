"""An approval was used for something other than what was asked.

Why: a reviewer allowed one patch or one command; whatever else is done with that consent was never reviewed.
Trips: the approval was asked for patch p1 and p2 is applied under it.  Near miss: p1 is applied under it.
Fix: Ask for each action by itself, and apply or run only what the request named.
"""

from itertools import chain

from validator.protocol.honest import known
from validator.replay.readmodels.words import mark
from validator.rules import finding, rule, seen
from validator.rules.agenthub._asked import is_any, spelled
from validator.rules.agenthub._runs import Runs, decided, entity, gate_of, history, moved, payload, performed, whole

_WRITES = {"file_write", "patch_apply"}


@rule(
    "AHB014",
    "consent-for-another-action",
    clauses={"agenthub": "AH-79"},
    on=("run.apply.started", "run.apply.completed", "run.tool.result"),
    needs=(Runs,),
)
def check(step, world, context):
    if moved(step) is None:
        return
    if step.type == "run.tool.result":
        yield from _commands(step, world)
        return
    approval = world.ledger(Runs).approvals.get(step.scope.get("approval_id", ""))
    if approval is None or world.state("approval", approval.approval_id) != "approved":
        return
    if approval.run_id != step.scope.get("run_id"):
        return
    yield seen()
    before = world.ledger(Runs).of(step).applying if step.type == "run.apply.completed" else None
    for pointer, actual in _strange(approval, payload(step), before or {}):
        yield finding(
            step,
            "what the approval was asked for",
            actual,
            pointer=pointer,
            entity=entity(step),
            witness=(*history(world, step), *decided(world, approval)),
            key=actual,
        )


def _strange(approval, told, before):
    """What an application does beyond the request it rests on, and did not tell before."""
    patch, asked = known(told.get("patchId")), known(approval.request.get("patchId"))
    patch = None if patch == before.get("patchId") else patch
    known_before = _entries(known(before.get("affectedFiles")) or ())
    if patch and approval.kind not in _WRITES:
        yield "/payload/patchId", f"a patch under an approval for {approval.kind}"
    elif patch and asked and patch != asked:
        yield "/payload/patchId", "another patch"
    files, allowed = known(told.get("affectedFiles")), known(approval.request.get("affectedFiles"))
    if isinstance(files, list) and isinstance(allowed, list):
        allowed = _entries(allowed)
        for index, file in enumerate(files):
            if mark(file) not in allowed and mark(file) not in known_before:
                yield f"/payload/affectedFiles/{index}", "another file"


def _entries(files):
    """The entries of a list, to look them up."""
    return set(map(mark, files)) if isinstance(files, list) else files


def _commands(step, world):
    """A shell command has to be one that was shown to a reviewer; masked previews cannot be compared."""
    runs = world.ledger(Runs)
    call = runs.of(step).answered
    command = spelled(call.command) if call and call.kind == "shell" else None
    if not command or not performed(step) or not whole(world, step):
        return
    asked = runs.covering(step.scope["run_id"], gate_of(world, "shell"), call)
    if not is_any(asked, "approved") or any(group.is_unclear for group in asked):
        return
    yield seen()
    if not any(_is_shown(command, group.previews) for group in asked):
        yield finding(
            step,
            "a command that an approved request previewed",
            "another command",
            entity=entity(step),
            witness=chain(history(world, step), [call.line], _decided(world, asked)),
            key="another command",
        )


def _is_shown(command, previews):
    """True when a command is part of what was shown, or the other way round."""
    return previews.contain(command) or next(previews.within(command), None) is not None


def _decided(world, asked):
    approved = (approval for group in asked for approval in group.by_state.get("approved", {}).values())
    return (line for approval in approved for line in decided(world, approval))
