"""A file outside the allowlisted workspace was read.

Why: the allowlist is the promise which files an agent sees; a read beyond it discloses what nobody put at its
disposal.
Trips: run.file.read of src/main.py under a policy that admits docs.
Near miss: a read of docs/faq.md under the same policy.
Fix: Deny the read; fail with permission_denied or workspace_outside_allowlist when the run cannot do without it.
"""

from validator.protocol.honest import known
from validator.rules import finding, rule, seen
from validator.rules.agenthub._paths import Paths
from validator.rules.agenthub._runs import Runs, absolute, climbs, entity, history, moved, payload, performed


@rule(
    "AHB016",
    "read-outside-workspace",
    clauses={"agenthub": "AH-81"},
    on=("run.file.read", "run.tool.result"),
    needs=(Runs,),
)
def check(step, world, context):
    run = world.ledger(Runs).of(step)
    if step.type == "run.tool.result":
        yield from _tool(step, world, run.answered)
        return
    path = payload(step).get("path")
    if not isinstance(path, str) or absolute(path):
        return
    admitted = _allowlist(run)
    if climbs(path):
        actual, witness = "the path leads out of the workspace", ()
    elif admitted is None or moved(step) is None:
        return
    elif admitted.lead_to(_steps(path)):
        yield seen()
        return
    else:
        actual, witness = "no entry of the allowlist covers the path", (*history(world, step), run.told["plan"])
    pointer = "/payload/path"
    expected = "a path inside the allowlisted workspace"
    yield finding(step, expected, actual, pointer=pointer, entity=entity(step), witness=witness, key=actual)


def _tool(step, world, call):
    """A tool that read a file beyond the workspace came back instead of being denied."""
    if call is None or call.kind != "file_read" or call.path is None:
        return
    yield seen()
    if climbs(call.path) and performed(step):
        expected, actual = "the read is denied", "the path leads out of the workspace"
        witness = (*history(world, step), call.line)
        yield finding(step, expected, actual, entity=entity(step), witness=witness, key="tool")


def _allowlist(run):
    """The admitted paths, or None when they are not told or hold patterns."""
    if not run.allowlist:
        told = known((run.plan or {}).get("workspacePolicy"))
        entries = known(told.get("allowlist")) if isinstance(told, dict) else None
        is_plain = isinstance(entries, list) and all(map(_is_plain, entries))
        run.allowlist = (Paths(map(_steps, entries)) if is_plain else None,)
    return run.allowlist[0]


def _is_plain(entry):
    return isinstance(entry, str) and set("*?[").isdisjoint(entry)


def _steps(path):
    return [part for part in path.split("/") if part not in {"", "."}]
