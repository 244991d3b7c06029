"""A command that could not be carried out was answered as if it had been.

Why: the caller is told that something happened to a subject that is over, or to a question that was another one.
Trips: respond_action for an action that is resolved is accepted with another decision.
Near miss: it is rejected.
Fix: Answer no_op where the work is already done, and rejected where it cannot be done.
"""

from validator.rules import finding, rule, seen
from validator.rules.command._commands import Commands, history
from validator.rules.command._sent import SUBJECTS
from validator.rules.governance._questions import Questions
from validator.rules.governance._said import shown

ANSWERS = {"allow": "approved", "deny": "denied"}
OVER = {"completed", "failed", "terminated"}
TURN_OVER = {"completed", "failed", "cancelled", "timed_out"}


@rule(
    "CMD011",
    "impossible-command-accepted",
    clauses={
        "agent-runtime": (
            "CTL-72",
            "CTL-73",
            "CTL-11",
            "CTL-28",
            "CTL-35",
            "CTL-38",
            "CTL-44",
            "CTL-46",
            "CTL-56",
            "CTL-78",
        )
    },
    on="record:result",
    needs=(Commands, Questions),
)
def check(step, world, context):
    sent = world.ledger(Commands).current
    if sent is None or sent.outcome in {None, "unavailable"} or sent.repeats or sent.clashes:
        return  # a key with other content is refused for that alone (CMD010)
    for clause, allowed, why, lines in _demands(sent, world):
        yield seen(clause)
        if sent.outcome not in allowed and not (sent.outcome == "rejected" and _may_be_rejected(sent, world)):
            yield finding(
                step,
                " or ".join(sorted(allowed)),
                f"{shown(sent.outcome)} although {why}",
                pointer="/result/outcome",
                clause=clause,
                entity=("command", sent.key),
                state=sent.state,
                witness=(sent.line, *lines),
                key=f"{sent.name} {why}",
            )
            return


def _may_be_rejected(sent, world):
    """True for a request that does not fit its schema, or may look for its subject where it is not."""
    if sent.definition is not None and world.protocol.store.errors(sent.definition.request, sent.request):
        return True
    name, machine = SUBJECTS[sent.name]
    subject = world.subjects(machine).get(sent.subject or "")
    where = {owner: key for owner, key in sent.scope.items() if owner != name}
    if subject is None or subject.faded:
        return bool(where)
    return any(subject.scope.get(owner, key) != key for owner, key in where.items())


def _demands(sent, world):
    """Clause, allowed outcomes, reason and witness of everything that forbids to accept a command."""
    maker = _MAKERS.get(sent.name)
    return maker(sent, world) if maker else ()


def _respond(sent, world):
    question = world.ledger(Questions).all.get(str(sent.request.get("action_id")))
    digest = sent.request.get("payload_hash")
    if question and question.digest and isinstance(digest, str) and digest != question.digest:
        yield "CTL-73", {"rejected"}, "the digest is not the one asked about", (question.line,)
        return
    if question and question.digest and isinstance(digest, str):
        yield "CTL-73", {sent.outcome}, "", ()
    if sent.state in {None, "pending", "offered"}:
        return
    decision = str(sent.request.get("decision"))
    same = ANSWERS.get(decision, decision) == sent.state
    # What was asked about may be forgotten; then nobody can say that the digest is the one asked about.
    allowed = {"rejected"} if not same else {"no_op", "rejected"} if question is None and digest else {"no_op"}
    yield "CTL-72", allowed, "the action is resolved", history(world, sent)


def _over(clause, states, allowed, machine):
    def make(sent, world):
        if sent.state in states:
            yield clause, allowed, f"the {machine} is {sent.state}", history(world, sent)
        elif sent.state is not None:
            yield clause, {sent.outcome}, "", ()

    return make


def _decided(sent, world):
    for name in ("tool_call_id", "process_id", "action_id", "peer_task_id"):
        key = sent.request.get(name)
        permission = world.subjects("permission").get(key) if isinstance(key, str) else None
        if permission is None:
            continue
        before = [line for line in permission.history if line < sent.line]
        decided = permission.state in {"allowed", "denied", "timed_out", "cancelled", "sandboxed"}
        if decided and permission.history[-1] < sent.line:
            yield "CTL-44", {"no_op", "rejected"}, f"the permission is {permission.state}", before
        else:
            yield "CTL-44", {sent.outcome}, "", ()
        return


def _acknowledged(sent, world):
    sequence = sent.request.get("sequence")
    if not isinstance(sequence, int) or sent.highest is None or world.unproved(sent) is not None:
        return
    if sequence > sent.highest:
        yield "CTL-78", {"rejected"}, "the sequence was never emitted", (sent.highest_line,)
    else:
        yield "CTL-78", {sent.outcome}, "", ()


_MAKERS = {
    "respond_action": _respond,
    "resolve_permission": _decided,
    "ack_events": _acknowledged,
    "interrupt_turn": _over("CTL-11", TURN_OVER, {"no_op"}, "turn"),
    "remove_queued_turn": _over("CTL-28", {"started"}, {"rejected"}, "queue"),
    "send_subagent_input": _over("CTL-35", {"completed", "failed", "cancelled", "closed"}, {"rejected"}, "subagent"),
    "close_subagent": _over("CTL-38", {"closed"}, {"no_op"}, "subagent"),
    "terminate_process": _over("CTL-46", OVER, {"no_op"}, "process"),
    "cancel_task": _over("CTL-56", {"cancelled"}, {"no_op"}, "task"),
    "cancel_job": _over("CTL-56", {"cancelled"}, {"no_op"}, "job"),
}
