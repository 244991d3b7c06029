"""An answer and the events of its command say different things.

Why: the caller reads the answer and everybody else the stream; they end up with two truths.
Trips: submit_turn is answered accepted, and turn.submitted says queued.
Near miss: it is answered queued, and turn.submitted says queued.
Fix: Derive the answer from the events that were written.
"""

from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import finding, rule, seen
from validator.rules.command._commands import Commands
from validator.rules.command._sent import REFUSALS, Effect, Sent, may_be
from validator.rules.governance._said import shown

ANSWERS = {"allow": "approved", "allowed": "approved", "deny": "denied"}
OUTCOMES = {
    "submit_turn": "turn.submitted",
    "respond_action": "action.resolved",
    "resolve_permission": "permission.resolved",
}


class Outcomes:
    """For commands that promise a word, the event that carries it."""

    hears = ("record:command", "record:result", *sorted(set(OUTCOMES.values())))

    def __init__(self, world: World):
        self.world = world
        self.waiting: dict[str, list[Sent]] = {}
        self.met: dict[str, Effect] = {}
        self.pairs: list[tuple[Sent, Effect]] = []
        """Commands and effects that the current step joins."""

    def apply(self, step: Step) -> None:
        self.pairs = []
        current = self.world.ledger(Commands).current
        if step.kind == "command" and current and current.name in OUTCOMES:
            self.waiting.setdefault(OUTCOMES[current.name], []).append(current)
        elif step.kind == "result" and current and current.key in self.met:
            self.pairs = [(current, self.met.pop(current.key))]
        elif step.kind == "event" and self.waiting.get(step.type or ""):
            payload = step.line.get("payload")
            effect = Effect(
                step.number, step.type or "", None, step.scope, payload if isinstance(payload, dict) else {}
            )
            for sent in list(self.waiting[effect.type]):
                if _named(sent, effect) and may_be(sent, effect):
                    self.waiting[effect.type].remove(sent)
                    self._join(sent, effect)

    def _join(self, sent: Sent, effect: Effect) -> None:
        if sent.outcome is None:
            self.met[sent.key] = effect
        if sent.name != "submit_turn" or sent.outcome is not None:
            self.pairs.append((sent, effect))


def _named(sent: Sent, effect: Effect) -> bool:
    """True when an event names what the command is about; a guess is not enough here."""
    names = {"submit_turn": ("turn_id",), "respond_action": ("action_id",)}.get(sent.name)
    names = names or ("tool_call_id", "process_id", "action_id", "peer_task_id")
    found = [(sent.request.get(name) or sent.result.get(name), effect.scope.get(name)) for name in names]
    return any(wanted is not None and wanted == value for wanted, value in found)


@rule(
    "CMD014",
    "answer-contradicts-stream",
    clauses={"agent-runtime": ("CTL-10", "CTL-27", "CTL-44")},
    on=(*OUTCOMES.values(), "record:result"),
    needs=(Outcomes, Commands),
)
def check(step, world, context):
    for sent, effect in world.ledger(Outcomes).pairs:
        if sent.outcome in REFUSALS | {"no_op"} or sent.repeats:
            continue
        clause = sent.definition.clause
        if sent.name == "submit_turn":
            said, wanted = effect.payload.get("status", "accepted"), sent.outcome
            pointer = "/result/outcome" if step.kind == "result" else "/payload/status"
        elif step.kind == "result":
            continue  # the event was judged when it came
        else:
            words = (str(effect.payload.get("decision")), str(sent.request.get("decision")))
            said, wanted = (ANSWERS.get(word, word) for word in words)
            pointer = "/payload/decision"
        yield seen(clause)
        if said != wanted:
            yield finding(
                step,
                "the same word in answer or command, and event",
                f"{shown(wanted)} there, {shown(said)} in {effect.type}",
                pointer=pointer,
                clause=clause,
                entity=("command", sent.key),
                witness=(sent.line, effect.line, *((sent.answered,) if sent.answered else ())),
                key=sent.name,
            )
