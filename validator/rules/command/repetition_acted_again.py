"""A repeated command had a second effect, or got another answer than the first.

Why: callers repeat a command because they do not know whether it arrived; that must be safe.
Trips: create_task is sent twice with one idempotency_key, and the second answer names another task.
Near miss: the second answer names the same task and the same events.
Fix: Remember key and answer for as long as what was created is kept, across restarts, and give the answer again.
"""

from validator.rules import END, Finding, rule, seen
from validator.rules.command._commands import Commands
from validator.rules.command._sent import DONE


@rule(
    "CMD009",
    "repetition-acted-again",
    clauses={"agent-runtime": ("CTL-5", "CTL-58", "CTL-64", "CTL-80")},
    on=END,
    needs=(Commands,),
)
def check(step, world, context):
    commands = world.ledger(Commands)
    for sent in commands.sent.values():
        first, clause = sent.repeats, "CTL-5"
        if first and any(first.line < line < sent.line for line in commands.restarts):
            clause = "CTL-58"
        if first is None and sent.chosen:
            first = sent.chosen
            clause = "CTL-64" if sent.name == "submit_turn" else "CTL-80"
        if first is None or first.outcome not in DONE or sent.outcome is None:
            continue
        yield seen(clause)
        found = _second(first, sent, commands, clause)
        if found:
            actual, pointer, lines = found
            yield Finding(
                sent.answered,
                "the answer of the first, and no second effect",
                actual,
                pointer=pointer,
                clause=clause,
                entity=("command", sent.key),
                witness=(first.line, first.answered, sent.line, *lines),
                key=f"{sent.name} {actual}",
            )


def _second(first, sent, commands, clause):
    """How a repetition departs from its first, with the lines that show it."""
    restarts = tuple(line for line in commands.restarts if first.line < line < sent.line)
    for name, value in first.result.items():
        if name.endswith("_id") and isinstance(sent.result.get(name), str) and sent.result[name] != value:
            return "another id", f"/result/{name}", restarts
    for index, key in enumerate(sent.listed):
        line = commands.event(key)[0]
        if line > sent.line and key not in first.listed:
            return "an event of its own", f"/result/event_ids/{index}", (*restarts, line)
    if clause not in {"CTL-64", "CTL-80"} and sent.outcome == "rejected":
        return "rejected", "/result/outcome", restarts
    return None
