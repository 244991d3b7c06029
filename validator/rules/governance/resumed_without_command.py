"""An action was answered, and no command gave the answer.

Why: a yes that nobody sent through the control plane is a yes that the runtime, or somebody beside it, made up.
Trips: a capture with commands in which action.resolved approves an action that no respond_action was sent for.
Near miss: respond_action for the action, then action.resolved.
Fix: Resolve actions only through respond_action or resolve_permission; name a policy or hook in decision_source.
"""

from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import END, Finding, rule, seen
from validator.rules.command._commands import REFUSALS, Commands
from validator.rules.governance._facts import Questions, lost_since, said, shown

PEOPLE = {None, "human", "user", "person"}


class Answers:
    """Answers of people that await a command which was not rejected, by action; not where it may have been lost."""

    hears = ("action.resolved",)
    forgets = ("given",)

    def __init__(self, world: World):
        self._world = world
        self.given: dict[str, int] = {}

    def apply(self, step: Step) -> None:
        if step.type != "action.resolved" or step.kind != "event":
            return
        moved = [move for move in step.moves if move.machine == "action" and move.source != move.target]
        if not moved or said(step.line, "decision") in {"timed_out", "cancelled"}:
            return
        asked = self._world.subjects("action")[moved[0].subject].history[0]
        if said(step.line, "decision_source") in PEOPLE and not lost_since(self._world, asked, step):
            self.given[moved[0].subject] = step.number


@rule(
    "GOV001",
    "resumed-without-command",
    clauses={"agent-runtime": "ACT-5"},
    on=END,
    needs=(Answers, Commands, Questions),
)
def check(step, world, context):
    commands, questions = world.ledger(Commands), world.ledger(Questions)
    if not commands.sent:
        return
    by_target = _by_target(commands)
    for key, line in world.ledger(Answers).given.items():
        question = questions.all.get(key)
        if question is None:
            continue
        yield seen()
        if not any(sent.line < line for sent in _for(question, by_target)):
            yield Finding(
                line,
                "a respond_action or resolve_permission for the action that was not rejected",
                "no such command stands above the answer",
                entity=("action", key),
                state="pending",
                witness=(question.line, *_shown(commands)),
                key=shown(question.decision),
            )


def _shown(commands):
    """A command that shows that commands are recorded; one that could be the answer comes with its rejection."""
    sent = next(iter(commands.sent.values()))
    return (sent.line, sent.answered) if sent.answered else (sent.line,)


def _by_target(commands):
    """Commands that can answer an action and were not rejected, by every id they name."""
    found = {}
    for sent in commands.sent.values():
        if sent.name in {"respond_action", "resolve_permission"} and sent.outcome not in REFUSALS:
            for name in ("action_id", "tool_call_id", "process_id"):
                if isinstance(sent.request.get(name), str):
                    found.setdefault(sent.request[name], []).append(sent)
    return found


def _for(question, by_target):
    names = (question.key, question.call, question.process)
    return (sent for name in names if name for sent in by_target.get(name, ()))
