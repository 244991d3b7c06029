"""A call runs in another environment than its turn, and nothing says why.

Why: a directory or sandbox that changes for one call is where work ends up that nobody looks for.
Trips: the turn works in one directory, a call in another, and the call's execution_environment has no override_reason.
Near miss: the call's execution_environment says why.
Fix: Give override_reason in the environment of the call.
"""

from validator.protocol.honest import known
from validator.rules import finding, rule, seen

FIELDS = ("workspace_id", "cwd", "workspace_roots", "shell", "os", "arch", "env_ref", "network_profile")


class Turns:
    """The environment that events of a turn, and not of one of its calls, told: fields, and the lines of them."""

    given = ("execution_environment",)
    forgets = ("told",)

    def __init__(self, world):
        self.told = {}

    def alike(self, step):
        return False

    def apply(self, step):
        said = step.line.get("execution_environment")
        turn = step.scope.get("turn_id") if isinstance(said, dict) else None
        if step.kind == "event" and turn and "tool_call_id" not in step.scope:
            for name in FIELDS:
                if known(said.get(name)) is not None:
                    self.told.setdefault(turn, {})[name] = (said[name], step.number)


@rule("SNP023", "override-unexplained", clauses={"agent-runtime": "RM-51"}, on="*", needs=(Turns,), given=Turns.given)
def check(step, world, context):
    said = step.line.get("execution_environment")
    if not isinstance(said, dict) or "tool_call_id" not in step.scope:
        return
    own = world.ledger(Turns).told.get(step.scope.get("turn_id", ""))
    if not own:
        return
    other = [name for name in own if known(said.get(name)) is not None and said[name] != own[name][0]]
    if not other:
        return
    yield seen()
    if "override_reason" not in said:
        yield finding(
            step,
            "override_reason",
            "nothing",
            pointer="/execution_environment/override_reason",
            entity=("tool_call", step.scope["tool_call_id"]),
            witness=(own[other[0]][1],),
            key=other[0],
        )
