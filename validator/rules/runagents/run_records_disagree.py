"""Two records of one run name another agent, user, conversation or time of creation.

Why: these facts are fixed when a run is created; a consumer that sees two values cannot tell whose run it audits.
Trips: a record with agent_id refund-agent, then one of the same run with agent_id payout-agent.
Near miss: a later record with another status and a conversation_id that the first one did not give.
Fix: Copy agent, user, conversation and creation time unchanged into every record of a run.
"""

from validator.protocol.honest import known
from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen

FIXED = ("agent_id", "user_id", "conversation_id", "created_at")


class Origins:
    """What the records of each run first said about its origin."""

    forgets = ("first",)

    def __init__(self, world):
        self.first = {}

    def apply(self, step):
        if step.kind == "run" and isinstance(step.line.get("id"), str):
            facts = self.first.setdefault(step.line["id"], {})
            for name in FIXED:
                if isinstance(known(step.line.get(name)), str):
                    facts.setdefault(name, (step.line[name], step.number))


@rule("RAG001", "run-records-disagree", clauses={"runagents": "RA-4"}, on="record:run", needs=(Origins,))
def check(step, world, context):
    run = word(step.line, "id")
    for name, (value, line) in world.ledger(Origins).first.get(run, {}).items():
        if line == step.number:
            continue
        yield seen()
        if isinstance(known(step.line.get(name)), str) and step.line[name] != value:
            yield finding(
                step,
                f"the {name} of the first record",
                f"another {name}",
                pointer=f"/{name}",
                entity=("run", run),
                witness=(line,),
                key=name,
            )
