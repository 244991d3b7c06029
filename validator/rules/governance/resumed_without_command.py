"""An action was answered, and no command gave the answer.

Why: a yes that nobody sent through the control plane is a yes that the runtime, or somebody beside it, made up.
Trips: a capture with commands in which action.resolved approves an action that no respond_action was sent for.
Near miss: respond_action for the action, then action.resolved.
Fix: Resolve actions only through respond_action or resolve_permission; name a policy or hook in decision_source.
"""

from validator.records import dataclass
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import END, Finding, rule, seen
from validator.rules.command._commands import Commands
from validator.rules.command._sent import DONE, REFUSALS, Sent
from validator.rules.governance._questions import Question, Questions
from validator.rules.governance._said import lost_since, said, shown

PEOPLE = {None, "human", "user", "person"}
ANSWERING = {"respond_action", "resolve_permission"}


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of a person: its line, where it was asked for, and the commands above it that can have given it."""

    line: int
    asked: int
    decision: str | None
    by: list[Sent]


class Answers:
    """Answers of people, by action, that no command has given for certain; not where it may have been lost."""

    hears = ("action.resolved",)
    forgets = ("alone",)

    def __init__(self, world: World):
        self._world = world
        self.alone: dict[str, Answer] = {}
        """Given while no command had been seen: whether commands are recorded at all is not known yet."""
        self.given: dict[str, Answer] = {}
        self.shown = False
        """A command has given some answer."""

    def apply(self, step: Step) -> None:
        if step.type != "action.resolved" or step.kind != "event":
            return
        moved = [move for move in step.moves if move.machine == "action" and move.source != move.target]
        if not moved or said(step.line, "decision") in {"timed_out", "cancelled"}:
            return
        asked = self._world.subjects("action")[moved[0].subject].history[0]
        if said(step.line, "decision_source") not in PEOPLE or lost_since(self._world, asked, step):
            return
        commands = self._world.ledger(Commands)
        question = self._world.ledger(Questions).all[moved[0].subject]
        by = [sent for sent in commands.sent.values() if _may_answer(sent, question)]
        kept = self.given if commands.sent else self.alone
        kept[question.key] = Answer(step.number, question.line, said(step.line, "decision"), by)
        self._settle()

    def _settle(self) -> None:
        """Lets go of answers whose command was accepted."""
        for key in [key for key, answer in self.given.items() if any(sent.outcome in DONE for sent in answer.by)]:
            del self.given[key]
            self.shown = True


def _may_answer(sent: Sent, question: Question) -> bool:
    names = (question.key, question.call, question.process)
    wanted = [sent.request.get(name) for name in ("action_id", "tool_call_id", "process_id")]
    return sent.name in ANSWERING and any(name in wanted for name in names if name)


@rule(
    "GOV001",
    "resumed-without-command",
    clauses={"agent-runtime": "ACT-5"},
    on=END,
    needs=(Answers, Commands, Questions),
)
def check(step, world, context):
    commands, answers = world.ledger(Commands), world.ledger(Answers)
    if not commands.sent:
        return
    if answers.shown:
        yield seen()
    for key, answer in {**answers.alone, **answers.given}.items():
        yield seen()
        if all(sent.outcome in REFUSALS for sent in answer.by):
            yield Finding(
                answer.line,
                "a respond_action or resolve_permission for the action that was not rejected",
                "no such command stands above the answer",
                entity=("action", key),
                state="pending",
                witness=(answer.asked, *_shown(commands)),
                key=shown(answer.decision),
            )


def _shown(commands):
    """A command that shows that commands are recorded; one that could be the answer comes with its rejection."""
    sent = next(iter(commands.sent.values()))
    return (sent.line, sent.answered) if sent.answered else (sent.line,)
