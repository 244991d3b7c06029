"""The log of one run uses words of both published vocabularies.

Why: a consumer written for one page does not know the words of the other, and misses what they tell.
Trips: RUN_CREATED, then TOOL_CALL in the same run.  Near miss: two runs, each in its own vocabulary.
Fix: Emit the words of the operations page or those of the API throughout a run.
"""

from validator.replay.readmodels.runagents import mixture, vocabulary_of
from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen


class Words:
    """The first line of each run for each vocabulary."""

    forgets = ("first",)

    def __init__(self, world):
        self._words = vocabulary_of(world.protocol)
        self.first = {}

    def apply(self, step):
        side = self.side(step)
        if side in {"operations", "api"}:
            self.first.setdefault(word(step.line, "run_id"), {}).setdefault(side, step.number)

    def side(self, step):
        return self._words.get(word(step.line, "type") or "") if step.kind == "event" else None


@rule("RAG004", "mixed-vocabulary", clauses={"runagents": "RA-12"}, on="*", needs=(Words,))
def check(step, world, context):
    ledger = world.ledger(Words)
    side, run = ledger.side(step), word(step.line, "run_id")
    if side not in {"operations", "api"} or run is None:
        return
    yield seen()
    first = ledger.first[run]
    if mixture(set(first)) == "mixed" and first[side] == step.number:
        other = next(line for word, line in first.items() if word != side)
        expected = "a word of the vocabulary the run began in"
        yield finding(
            step, expected, f"a word of the {side} vocabulary", pointer="/type", entity=("run", run), witness=(other,)
        )
