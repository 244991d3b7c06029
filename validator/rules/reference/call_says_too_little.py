"""A call does not say what policy decided about it, who approved it, or what kind of act it is.

Why: a reviewer asks who allowed it and what it could do; a call that cannot answer is not much better than no record.
Trips: tool.started without policy, and no permission.evaluated names it.  Near miss: permission.evaluated does.
Fix: State `policy` and the three flags in tool.started, and `approval_action_id` where a person approved it.
"""

from validator.replay.faded import Lines
from validator.rules import END, Finding, finding, rule, seen
from validator.rules._catalogues import FLAGS, Catalogues, flag
from validator.rules.terminal._work import body, told

_FLAGS = frozenset(FLAGS)


class Decided:
    """Calls whose policy is not on record yet, and calls that a person approved before they began."""

    hears = ("action.required", "action.resolved", "permission.evaluated", "permission.resolved", "tool.started")
    forgets = ("evaluated", "approved", "_asked")

    def __init__(self, world):
        self.silent = {}
        self.evaluated = Lines()
        self.approved = {}
        self._asked = {}

    def apply(self, step):
        call = step.scope.get("tool_call_id")
        if step.type == "tool.started":
            if call is not None and not step.refusals and "policy" not in body(step) and call not in self.evaluated:
                self.silent[call] = (step.number, step.scope)
        elif step.type in ("permission.evaluated", "permission.resolved"):
            if call is not None:
                self.evaluated[call] = step.number
                self.silent.pop(call, None)
        elif step.type == "action.required" and "action_id" in step.scope and call is not None:
            self._asked[step.scope["action_id"]] = (call, step.number)
        elif step.type == "action.resolved" and told(step, "decision") in ("approved", "allow", "modified"):
            asked = self._asked.pop(step.scope.get("action_id", ""), None)
            if asked is not None and told(step, "decision_source") in (None, "user"):
                self.approved[asked[0]] = (asked[1], step.number)


def answered(step, world, context):
    """The key of a call that nobody was asked about and that has all its flags: whether it is looked at."""
    catalogues, decided = world.ledger(Catalogues), world.ledger(Decided)
    if step.refusals:
        return False
    if step.scope.get("tool_call_id", "") in decided.approved or _missing(step, catalogues):
        return None
    return True


def _missing(step, catalogues):
    """The flags that neither a call nor its tool has, unless the catalogue does not list tools."""
    if body(step).keys() >= _FLAGS:
        return []
    payload, found = body(step), catalogues.of(step)
    if found is not None and found.tools is None:
        return []
    listed = found.tools.get(str(told(step, "tool_name"))) if found is not None else None
    return [name for name in FLAGS if name not in payload and flag(listed, name) is None]


@rule(
    "REF017",
    "call-says-too-little",
    clauses={"agent-runtime": ("TOOL-25", "TOOL-26", "TOOL-28")},
    on=("tool.started", END),
    needs=(Catalogues, Decided),
    quiet=answered,
)
def check(step, world, context):
    decided = world.ledger(Decided)
    if step is None:
        for call, (line, scope) in decided.silent.items():
            if world.lost(scope) is None:
                expected, actual = "what policy decided about the call", "nothing was told"
                about = {"clause": "TOOL-25", "pointer": "/payload", "entity": ("tool_call", call)}
                yield Finding(line, expected, actual, **about)
        return
    if step.refusals:
        return
    call = step.scope.get("tool_call_id", "")
    yield seen("TOOL-25")
    if call in decided.approved:
        yield seen("TOOL-26")
        if told(step, "approval_action_id") is None:
            witness = decided.approved[call]
            expected, actual = "the action that approved it", "no approval_action_id"
            yield finding(step, expected, actual, clause="TOOL-26", pointer="/payload", witness=witness)
    missing = _missing(step, world.ledger(Catalogues))
    yield seen("TOOL-28")
    if missing:
        expected, actual, key = ", ".join(FLAGS), f"no {', '.join(missing)}", " ".join(missing)
        yield finding(step, expected, actual, clause="TOOL-28", pointer="/payload", key=key)
