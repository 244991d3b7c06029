"""Reasoning was told as part of the model's output.

Why: what a model thinks aloud is not its answer, can contradict it, and may not be shown.
Trips: model.delta with a part of the type reasoning.  Near miss: the same words as reasoning.delta.
Fix: Tell reasoning by reasoning.delta or reasoning.summary, and keep it out of model events.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import told

LANE = ("reasoning", "thinking", "redacted_thinking", "reasoning_text", "reasoning_summary")


@rule("RTE013", "reasoning-in-the-answer", clauses={"agent-runtime": "REA-1"}, on=("model.delta", "reasoning.*"))
def check(step, world, context):
    if step.type != "model.delta":
        yield seen()
        return
    part = told(step, "part")
    if not isinstance(part, dict):
        return
    yield seen()
    for name in ("type", "kind"):
        if part.get(name) in LANE:
            yield finding(step, "reasoning in its own events", "a part of the output", pointer=f"/payload/part/{name}")
            return
