"""A request that produced text is said to have used no tokens.

Why: a zero that was never counted is added up like a real one, and the bill says otherwise.
Trips: model.delta with text, then usage with output_tokens 0.  Near miss: output_tokens is an honest value.
Fix: State an honest value for every count that the provider does not report.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import told, word


class Spoken:
    """Open model requests that text has arrived for, with the line of the first."""

    hears = ("model.delta", "model.requested")
    forgets = ("requests",)
    heeds_last = False

    def __init__(self, world):
        self.requests = {}

    def key(self, step):
        scope = step.scope
        own = scope.get("model_request_id") or word(step, "model_request_id")
        return own or scope.get("request_id") or scope.get("turn_id")

    def apply(self, step):
        if step.type == "model.delta" and (told(step, "delta") or told(step, "text")):
            self.requests.setdefault(self.key(step), step.number)
        elif step.type == "model.requested":
            self.requests.pop(self.key(step), None)


@rule(
    "UNK006",
    "uncounted-zero",
    clauses={"agent-runtime": "HON-31"},
    on=("model.completed", "cost.recorded"),
    needs=(Spoken,),
)
def check(step, world, context):
    spoken, usage = world.ledger(Spoken), told(step, "usage")
    line = spoken.requests.get(spoken.key(step))
    if line is None or not isinstance(usage, dict):
        return
    yield seen()
    for name in ("output_tokens", "total_tokens"):
        if usage.get(name) == 0 and usage.get(name) is not False:
            yield finding(
                step,
                "a count, or an honest value where none is reported",
                "zero for a request that produced text",
                pointer=f"/payload/usage/{name}",
                entity=("model_request", str(spoken.key(step))),
                witness=_request(world, spoken.key(step), line),
            )


def _request(world, key, line):
    subject = world.subjects("model_request").get(key)
    return (*(subject.history if subject else ()), line)
