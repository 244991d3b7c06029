"""What forbids to accept a command: its subject is over, or the question it answers was another one."""

from validator.rules.command._commands import history
from validator.rules.governance._questions import Questions

_ANSWERS = {"allow": "approved", "deny": "denied"}
_OVER = {"completed", "failed", "terminated"}
_TURN_OVER = {"completed", "failed", "cancelled", "timed_out"}


def is_impossible(sent, world):
    """True for a command that was answered otherwise than it could be."""
    return any(sent.outcome not in allowed for _, allowed, _, _ in demands(sent, world))


def demands(sent, world):
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
    same = _ANSWERS.get(decision, decision) == sent.state
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
    "interrupt_turn": _over("CTL-11", _TURN_OVER, {"no_op"}, "turn"),
    "remove_queued_turn": _over("CTL-28", {"started"}, {"rejected"}, "queue"),
    "send_subagent_input": _over("CTL-35", {"completed", "failed", "cancelled", "closed"}, {"rejected"}, "subagent"),
    "close_subagent": _over("CTL-38", {"closed"}, {"no_op"}, "subagent"),
    "terminate_process": _over("CTL-46", _OVER, {"no_op"}, "process"),
    "cancel_task": _over("CTL-56", {"cancelled"}, {"no_op"}, "task"),
    "cancel_job": _over("CTL-56", {"cancelled"}, {"no_op"}, "job"),
}
