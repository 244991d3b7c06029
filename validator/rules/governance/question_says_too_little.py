"""A question or its answer leaves out what a reviewer needs, or the answer is not one of those offered.

Why: who decided what, out of which choices and for which scope, is the whole point of the record.
Trips: action.resolved approves, and the question offered answers without that one.
Near miss: the decision is timed_out, which nobody has to offer.
Fix: List decisions and scope in the question, say who decided, and refer to the payload that a decision changed.
"""

from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import finding, rule, seen
from validator.rules.governance._said import held, said, shown, stated

SAME = {"allow": "approved", "deny": "denied", "allowed": "approved"}
APPROVALS = {"tool_permission", "tool_confirmation", "approval", "consent"}
"""Types of questions that are answered by yes or no; a free answer has neither choices nor a scope."""


class Offers:
    """The answers that open questions offer, and the shape they ask for."""

    hears = ("action.required", "action.resolved")

    def __init__(self, world: World):
        self.open: dict[str, tuple[int, object, object]] = {}
        self.answered: tuple[int, object, object] | None = None

    def apply(self, step: Step) -> None:
        self.answered = None
        if step.kind != "event" or step.type not in {"action.required", "action.resolved"}:
            return
        key = step.scope.get("action_id", "")
        if step.type == "action.required":
            self.open[key] = (step.number, held(step.line, "decisions"), held(step.line, "input_schema"))
        else:
            self.answered = self.open.pop(key, None)


@rule(
    "GOV029",
    "question-says-too-little",
    clauses={"agent-runtime": ("ACT-7", "ACT-8", "ACT-13", "ACT-18", "ACT-19")},
    on=("action.required", "action.resolved"),
    needs=(Offers,),
)
def check(step, world, context):
    if step.refusals:
        return
    if step.type == "action.required":
        if said(step.line, "action_type") in APPROVALS:
            yield from _judge(step, "ACT-7", (), "decisions", "scope")
        return
    found = world.ledger(Offers).answered
    asked = (found[0],) if found else ()
    word = said(step.line, "decision")
    if word not in {"timed_out", "cancelled"}:
        yield seen("ACT-18")
        if all(stated(step.line, name) is None for name in ("decided_by", "decision_source")):
            yield finding(step, "who decided", "no decided_by", pointer="/payload", clause="ACT-18", witness=asked)
    if word == "modified":
        yield from _judge(step, "ACT-13", asked, "modified_input_ref")
    if found:
        yield from _offered(step, word, found)


def _offered(step, word, found):
    line, offered, shape = found
    if isinstance(offered, list) and offered and word not in {"timed_out", "cancelled"}:
        choices = {SAME.get(entry, entry) for entry in offered if isinstance(entry, str)}
        answer = held(step.line, "answer")
        free = word == "answered" and answer is not None
        yield seen("ACT-8")
        if SAME.get(word, word) not in choices and not free:
            yield finding(
                step,
                "one of the answers offered",
                shown(word),
                pointer="/payload/decision",
                clause="ACT-8",
                witness=(line,),
            )
    answer = held(step.line, "answer")
    if isinstance(shape, dict) and isinstance(answer, dict) and isinstance(shape.get("required"), list):
        yield seen("ACT-19")
        missing = [name for name in shape["required"] if isinstance(name, str) and name not in answer]
        if missing:
            yield finding(
                step,
                "an answer of the shape that was asked for",
                f"{len(missing)} required fields are missing",
                pointer="/payload/answer",
                clause="ACT-19",
                witness=(line,),
            )


def _judge(step, clause, witness, *names):
    yield seen(clause)
    missing = [name for name in names if stated(step.line, name) is None]
    if missing:
        yield finding(
            step,
            ", ".join(names),
            f"no {', '.join(missing)}",
            pointer="/payload",
            clause=clause,
            witness=witness,
            key=" ".join(missing),
        )
