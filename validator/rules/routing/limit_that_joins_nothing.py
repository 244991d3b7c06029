"""A limit spoke, and nothing says which turn or request it met, or nothing else tells of the one it names.

Why: whoever wonders why a turn is slow or blocked cannot find the limit that did it.
Trips: rate_limit.hit with a session and nothing else.  Near miss: the same event with the model request it met.
Fix: Carry the turn, the model request or the request in every limit event, as the other events name it.
"""

from validator.protocol.honest import known
from validator.rules import END, Finding, finding, rule, seen
from validator.rules.command._commands import is_prefix
from validator.rules.terminal._work import body, unsure

LIMITS = ("rate_limit.hit", "quota.low", "quota.blocked")
SUBJECTS = {"turn_id": "turn", "model_request_id": "model_request"}


class Unjoined:
    """Limit events all of whose ids name something that nothing told before, with their ids."""

    hears = LIMITS

    def __init__(self, world):
        self._world = world
        self.events = {}
        """Line to the subjects it names and its scope."""

    def apply(self, step):
        if step.kind != "event" or step.type not in LIMITS or "request_id" in step.scope:
            return
        payload = body(step)
        inner = known(payload.get("model_request_id"))
        if isinstance(known(payload.get("request_ref")), str):
            return
        named = [(machine, step.scope[name]) for name, machine in SUBJECTS.items() if name in step.scope]
        named += [("model_request", inner)] if isinstance(inner, str) else []
        if named and not self.told(named):
            self.events[step.number] = (tuple(named), step.scope)

    def told(self, named):
        return any(key in self._world.subjects(machine) for machine, key in named)


@rule(
    "RTE007",
    "limit-that-joins-nothing",
    clauses={"agent-runtime": "LIM-8"},
    on=(*LIMITS, END),
    needs=(Unjoined,),
)
def check(step, world, context):
    if step is None:
        yield from _unknown(world, context)
        return
    payload = body(step)
    yield seen()
    if any(name in step.scope for name in (*SUBJECTS, "request_id")):
        return
    inner = (known(payload.get(name)) for name in ("model_request_id", "request_ref"))
    if not any(isinstance(value, str) for value in inner):
        yield finding(step, "a turn, a model request or a request", "none of them")


def _unknown(world, context):
    """What a limit names may be told after it, and in a prefix after the end."""
    unjoined = world.ledger(Unjoined)
    for line, (named, scope) in unjoined.events.items():
        if unjoined.told(named) or unsure(world, scope) or is_prefix(world, context):
            continue
        expected, actual = "a turn or request that the stream knows", "one that was never told"
        yield Finding(line, expected, actual, entity=named[0], key="never told")
