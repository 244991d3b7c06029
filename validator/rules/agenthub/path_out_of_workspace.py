"""A path for review leads out of the workspace.

Why: a client resolves it against the workspace and shows, or links to, a file that nobody put up for review.
Trips: a diff of ../secrets.md.  Near miss: a diff of docs/../faq.md, which stays inside.
Fix: Write paths relative to the workspace, without steps that climb above it.
"""

from validator.protocol.honest import known
from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import climbs, entity, payload

_EVENTS = (
    "run.approval.requested",
    "run.artifact.ready",
    "run.completed",
    "run.diff.ready",
    "run.patch.proposed",
    "run.preview.ready",
    "run.apply.started",
    "run.apply.completed",
)


@rule("AHB031", "path-out-of-workspace", clauses={"agenthub": "AH-97"}, on=_EVENTS)
def check(step, world, context):
    for pointer, path in _paths(payload(step)):
        yield seen()
        if climbs(path):
            expected, actual = "a path inside the workspace", "the path leads out of it"
            yield finding(step, expected, actual, pointer=f"/payload{pointer}", entity=entity(step))


def _paths(told):
    """Every path of a payload that is relative by contract, with its place."""
    if isinstance(told.get("path"), str):
        yield "/path", told["path"]
    files = known(told.get("affectedFiles"))
    for index, file in enumerate(files if isinstance(files, list) else ()):
        yield f"/affectedFiles/{index}", file
    listed = known(told.get("artifacts"))
    for index, entry in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(entry, dict) and isinstance(entry.get("path"), str):
            yield f"/artifacts/{index}/path", entry["path"]
    workspace = told.get("workspace")
    if isinstance(workspace, dict) and isinstance(workspace.get("directory"), str):
        yield "/workspace/directory", workspace["directory"]
