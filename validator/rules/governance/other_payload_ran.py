"""What was approved and what is to run differ.

Why: a person looked at one payload and said yes to that; another edition of it was never approved.
Trips: an action is approved for one digest, and the call it names is started with another.
Near miss: the decision modified the payload, and the call has the digest of the change.
Fix: Bind the approval to the digest of the payload, and ask again whenever the payload changes.
"""

from validator.rules import finding, rule, seen
from validator.rules.governance._calm import unopposed
from validator.rules.governance._questions import Questions
from validator.rules.governance._said import held, said
from validator.rules.governance._work import Work


@rule(
    "GOV015",
    "other-payload-ran",
    clauses={"agent-runtime": ("ACT-10", "ACT-11", "ACT-12")},
    on=("action.resolved", "tool.started", "process.started", "tool.args"),
    needs=(Questions, Work),
    quiet=unopposed,
)
def check(step, world, context):
    if step.refusals:
        return
    questions, work = world.ledger(Questions), world.ledger(Work)
    if step.type == "action.resolved":
        question = questions.all.get(step.scope.get("action_id", ""))
        if question and question.answered:
            yield from _answer(step, question)
            if question.granted and question.answered == step.number:
                target = work.processes.get(question.process or "") or work.calls.get(question.call or "")
                if target and target.line < step.number:
                    yield from _digest(step, target, question, "")
        return
    target = work.of(step)
    if target is None:
        return
    if step.type == "tool.args":
        yield from _change(step, target, questions)
        return
    named = questions.all.get(target.action or "")
    about = [named] if named and named.granted and not (named.call or named.process) else []
    for question in (*questions.granted_for(target.key), *about):
        yield from _digest(step, target, question, "/payload/payload_hash")


def _answer(step, question):
    digest = said(step.line, "payload_hash")
    if question.decision == "modified" or question.digest is None or digest is None:
        return
    first = question.answered == step.number
    yield seen("ACT-11")
    if digest != question.digest:
        yield finding(
            step,
            "the payload_hash of the question",
            "another digest",
            pointer="/payload/payload_hash",
            clause="ACT-11",
            entity=("action", question.key),
            state="pending" if first else question.decision,
            witness=(question.line, question.answered),
        )


def _digest(step, target, question, pointer):
    """Compares only like with like: a process has the digest of its command, a call that of its arguments.

    A question that names neither speaks of the call that names it.
    """
    named = question.process if target.kind == "process" else question.call
    if named != target.key and (question.call or question.process):
        return
    if target.digest is None or question.approved_digest is None:
        return
    yield seen("ACT-10")
    if target.digest != question.approved_digest:
        yield finding(
            step,
            "the digest that was approved",
            f"the {target.kind} has another digest",
            pointer=pointer,
            clause="ACT-10",
            entity=(target.kind, target.key),
            witness=(question.line, question.answered, target.line),
        )


def _change(step, target, questions):
    granted = [question for question in questions.granted_for(target.key) if question.decision != "modified"]
    pending = any(question.answered is None for question in questions.naming.get(target.key, ()))
    if not granted or pending or any(q.decision == "modified" for q in questions.naming[target.key]):
        return
    before = _arguments_before(target, step)
    for name in ("safe_args", "args_ref"):
        now = held(step.line, name)
        if now is None or before.get(name) is None:
            continue
        yield seen("ACT-12")
        if now != before[name]:
            yield finding(
                step,
                "the arguments that were approved",
                "other arguments after the approval",
                pointer=f"/payload/{name}",
                clause="ACT-12",
                entity=("tool_call", target.key),
                witness=(target.line, granted[-1].line, granted[-1].answered),
            )
            return


def _arguments_before(target, step):
    return (target.earlier if target.earlier_line == step.number else None) or {}
